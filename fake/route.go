package fakeapi

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/openapi"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
)

// route hands a request to those who serve its path.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	var query url.Values
	if strings.Contains(r.URL.RawQuery, "watch") {
		query = r.URL.Query()
	}
	t := requestinfo.Parse(r.Method, r.URL.Path, query)
	r, ok := s.runFilters(w, r, t)
	if !ok {
		return
	}
	switch {
	case t.Prefix != "" && s.isServed(t):
		if t.IsResourceRequest() {
			s.api.Serve(w, r, t)
			return
		}
		s.serveDiscovery(w, r, t)
	case t.Prefix == "api" || t.Prefix == "apis" && s.types.Table().HasGroup(t.Group) && !s.types.Table().IsCustomGroup(t.Group):
		// Something below a served group that is not there: a Status.
		handlers.WriteError(w, r, status.PathNotFound())
	default:
		s.serveOther(w, r)
	}
}

// setCommonHeaders sets what every answer carries.
func (s *Server) setCommonHeaders(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = noCache
	w.Header()["Audit-Id"] = []string{auditID(r)} // AU-06
	s.setDate(w)
}

// noCache is on every answer (HT-01). Shared: nobody changes it.
var noCache = []string{"no-cache, private"}

// auditID is the client's Audit-ID, or a new one.
func auditID(r *http.Request) string {
	if id := r.Header.Get("Audit-Id"); id != "" {
		return id
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// isServed reports whether the path lies in a group and version that is served,
// or is one of the discovery paths above them.
func (s *Server) isServed(t requestinfo.RequestInfo) bool {
	switch {
	case t.Prefix == "apis" && t.Group == "" && t.Version == "":
		return !t.IsResourceRequest()
	case t.Version == "":
		return t.Prefix == "api" || s.types.Table().HasGroup(t.Group)
	}
	return (t.Prefix == "apis") == (t.Group != "") && s.types.Table().HasVersion(t.Group, t.Version)
}

// serveOther answers what is outside of the API groups.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/":
		s.serveIndex(w, r)
	case path == "/version" || path == "/version/":
		s.serveVersion(w, r)
	case path == "/openapi/v2":
		s.serveOpenAPIV2(w, r)
	case path == openapi.V3Root:
		s.serveOpenAPIIndex(w, r)
	case strings.HasPrefix(path, openapi.V3Root+"/"):
		s.serveOpenAPIV3(w, r)
	case path == "/metrics":
		s.metrics.ServeHTTP(w, r)
	case isHealthPath(path):
		s.serveHealth(w, r)
	default:
		http.NotFound(w, r) // plain text, as a real server's outermost mux (PV-16)
	}
}

// serveDiscovery answers /api, /apis and what is between them and a resource. What a
// real server serves with its aggregator, /apis and the groups, knows no methods.
func (s *Server) serveDiscovery(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) {
	plain := negotiate.Document
	if t.Prefix == "apis" && t.Version == "" {
		plain = negotiate.Unrouted
	}
	switch {
	case strings.HasSuffix(t.Path, "//"): // HT-12
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && plain == negotiate.Document:
		handlers.WriteError(w, r, status.MethodNotAllowed())
		return
	}
	views := s.groups.conditions(t)
	if views.writeUnavailable(w, r, t) {
		return
	}
	negotiated := negotiate.ResponseOutput
	if t.Version == "" && t.Group == "" && !s.aggregatedDiscoveryOff.Load() {
		negotiated = negotiate.DiscoveryOutput
	}
	out, err := negotiated(r, plain)
	if err != nil {
		handlers.WriteError(w, r, err)
		return
	}
	s.writeDiscovery(w, r, out, views)
}
