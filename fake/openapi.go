package fakeapi

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/munnerz/goautoneg"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/openapi"
)

// The OpenAPI documents are served as by kube-openapi and the aggregator: an error is a status code
// without a body, and a known ETag gets 304. They are not compressed, although Vary announces it,
// because on loopback compression only takes time.

// serveOpenAPIIndex lists the documents of v3. As on a real server the list has neither a JSON
// content type nor an ETag (DI-18).
func (s *Server) serveOpenAPIIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	documents, _ := s.openAPIDocuments()
	// There is no Last-Modified. A real server sets it to the time of the request; a client that
	// asks again within a second would get 304.
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.openAPIIndex(r, documents)))
}

// serveOpenAPIV3 serves a document of v3. With its hash in the URL the response is immutable.
// Another hash is redirected to the current one (DI-18).
func (s *Server) serveOpenAPIV3(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, openapi.V3Root+"/")
	if service := s.aggregator.FindOpenAPIV3(r.Context(), name); service != nil {
		s.forward(w, r, service)
		return
	}
	documents, modTime := s.openAPIDocuments()
	doc := documents.V3(name)
	if doc == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Vary", "Accept")
	media := openAPIMedia(r, "v3")
	if media == "" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	if hash := r.URL.Query().Get("hash"); hash != "" {
		if hash != doc.Hash {
			w.Header().Set("Content-Type", media)
			w.Header().Set("ETag", strconv.Quote(doc.Hash))
			http.Redirect(w, r, openapi.V3URL(name, doc.Hash), http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", s.api.Now().UTC().AddDate(1, 0, 0).Format(time.RFC1123))
	}
	writeOpenAPI(w, r, media, doc, modTime)
}

// serveOpenAPIV2 serves the document of v2.
func (s *Server) serveOpenAPIV2(w http.ResponseWriter, r *http.Request) {
	w.Header()["Vary"] = []string{"Accept-Encoding", "Accept"}
	media := openAPIMedia(r, "v2")
	if media == "" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	documents, modTime := s.openAPIDocuments()
	writeOpenAPI(w, r, media, s.openAPIV2(r, documents), modTime)
}

// openAPIMedia returns the media type of the response, or "" if the client accepts none. That of
// protobuf has an older name, which clients still use.
func openAPIMedia(r *http.Request, version string) string {
	accept := r.Header.Get("Accept")
	if accept == "" {
		return runtime.ContentTypeJSON
	}
	protobuf := "com.github.proto-openapi.spec." + version + ".v1.0+protobuf"
	for _, clause := range goautoneg.ParseAccept(accept) {
		if clause.Type != "application" && clause.Type != "*" {
			continue
		}
		switch clause.SubType {
		case "json", "*":
			return runtime.ContentTypeJSON
		case protobuf, "com.github.proto-openapi.spec." + version + "@v1.0+protobuf":
			return "application/" + protobuf
		}
	}
	return ""
}

func writeOpenAPI(w http.ResponseWriter, r *http.Request, media string, doc *openapi.Document, modTime time.Time) {
	body := doc.JSON
	if media != runtime.ContentTypeJSON {
		body = doc.Protobuf()
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("ETag", strconv.Quote(doc.Hash))
	http.ServeContent(w, r, "", modTime, bytes.NewReader(body))
}

// openAPIState records when the current documents were first requested.
type openAPIState struct {
	mu      sync.Mutex // guards the fields below
	latest  *openapi.Documents
	modTime time.Time
	// merged is the v2 document of mergedOf with parts of other servers.
	mergedOf *openapi.Documents
	parts    []*spec.Swagger
	merged   *openapi.Document
}

// openAPIDocuments returns the current documents and the time of their first request, which is
// their Last-Modified as on a real server.
func (s *Server) openAPIDocuments() (documents *openapi.Documents, modTime time.Time) {
	documents = s.types.OpenAPI()
	t := &s.openAPI
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.latest != documents {
		t.latest, t.modTime = documents, s.api.Now()
	}
	return documents, t.modTime
}
