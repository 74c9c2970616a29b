package fakeapi

import (
	"encoding/json"
	"net/http"
	goruntime "runtime"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"example.com/fakeapi/fake/internal/auditlog"
	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/status"
)

// writeDiscovery writes a discovery document in the negotiated form.
func (s *Server) writeDiscovery(w http.ResponseWriter, r *http.Request, out negotiate.Output, conditions groupConditions) {
	doc, ok := s.discoveryDocument(r, out.Form == negotiate.Aggregated)
	if !ok {
		handlers.WriteError(w, r, status.PathNotFound())
		return
	}
	if conditions != nil {
		doc = doc.Filter(conditions.hidden, conditions.stale)
	}
	if out.Form == negotiate.Aggregated {
		w.Header()["Cache-Control"] = []string{"public"}
		w.Header().Set("Vary", "Accept")
		w.Header().Set("ETag", doc.ETag)
		if r.Header.Get("If-None-Match") == doc.ETag { // DI-07
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	body := doc.JSON
	if out.Media != negotiate.JSON || out.Pretty {
		var err error
		if body, err = encode.EncodeDocument(out, doc.Object); err != nil {
			handlers.WriteError(w, r, err)
			return
		}
	}
	if err := auditlog.LogResponseObject(r.Context(), func() ([]byte, error) { return doc.JSON, nil }); err != nil {
		handlers.WriteError(w, r, err)
		return
	}
	contentType := negotiate.ContentType(out.Media, false)
	if out.Form == negotiate.Aggregated {
		contentType += ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// serveIndex lists the served paths (PV-20).
func (s *Server) serveIndex(w http.ResponseWriter, r *http.Request) {
	paths := []string{"/api", "/apis", "/apis/", "/metrics", "/version", "/openapi/v2", "/openapi/v3", "/openapi/v3/"}
	for _, endpoint := range []string{"healthz", "livez", "readyz"} {
		paths = append(paths, "/"+endpoint)
		for _, check := range healthChecks(endpoint) {
			paths = append(paths, "/"+endpoint+"/"+check)
		}
	}
	for _, g := range s.types.Table().Groups() {
		root := "/api"
		if g.Name != "" {
			root = "/apis/" + g.Name
			paths = append(paths, root)
		}
		for _, v := range g.Versions {
			paths = append(paths, root+"/"+v)
		}
	}
	for _, v := range s.aggregator.Versions(r.Context(), false) {
		paths = append(paths, "/apis/"+v.Group, "/apis/"+v.Group+"/"+v.Version)
	}
	slices.Sort(paths)
	writeJSON(w, r, map[string][]string{"paths": slices.Compact(paths)})
}

// gitVersion is the emulated release.
const gitVersion = "v1.37.2"

// serveVersion returns the emulated release (DI-13), in JSON only.
func (s *Server) serveVersion(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		handlers.WriteError(w, r, status.MethodNotAllowed())
		return
	}
	if !negotiate.Accepts(r, runtime.ContentTypeJSON) {
		handlers.WriteError(w, r, status.NoAcceptableMediaType(runtime.ContentTypeJSON))
		return
	}
	writeJSON(w, r, version.Info{
		Major: "1", Minor: "37",
		EmulationMajor: "1", EmulationMinor: "37",
		MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
		GitVersion: gitVersion, GitCommit: "fakeapi", GitTreeState: "clean",
		BuildDate: "1970-01-01T00:00:00Z",
		GoVersion: goruntime.Version(), Compiler: goruntime.Compiler,
		Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
	})
}

// writeJSON writes a document that exists in JSON only, with the indentation of a real server.
func writeJSON(w http.ResponseWriter, r *http.Request, doc any) {
	body, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		handlers.WriteError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_, _ = w.Write(body)
}
