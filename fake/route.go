package fakeapi

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"

	"k8s.io/kube-aggregator/pkg/apis/apiregistration"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/openapi"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
)

// route calls the handler of the path.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	info := requestinfo.FromRequest(r)
	if service := s.remoteAPIService(info); service != nil {
		s.forward(w, r, service)
		return
	}
	switch {
	case info.Prefix != "" && s.isServed(info):
		if info.IsResourceRequest() {
			s.api.Serve(w, r, *info)
			return
		}
		s.serveDiscovery(w, r, info)
	case info.Prefix == "api" || info.Prefix == "apis" && info.Group != "" && s.types.Table().HasGroup(info.Group) && !s.types.Table().IsCustomGroup(info.Group):
		// Unknown paths below a served group get a Status.
		handlers.WriteError(w, r, status.PathNotFound())
	default:
		s.serveOther(w, r)
	}
}

// withCommonHeaders sets the headers of every response.
func (s *Server) withCommonHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.setCommonHeaders(w, r)
		next.ServeHTTP(w, r)
	})
}

func (s *Server) setCommonHeaders(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = noCache
	w.Header()["Audit-Id"] = []string{auditID(r)} // AU-06
	s.setDate(w)
}

// noCache is the Cache-Control header of every response (HT-01). It must not be changed.
var noCache = []string{"no-cache, private"}

// auditID returns the Audit-ID of the request, or a new one.
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

// isServed reports whether the path is in a served group and version, or is one of the discovery
// paths above them.
func (s *Server) isServed(info *requestinfo.RequestInfo) bool {
	switch {
	case info.Prefix == "apis" && info.Group == "" && info.Version == "":
		return !info.IsResourceRequest()
	case info.Version == "":
		return info.Prefix == "api" || s.types.Table().HasGroup(info.Group) || s.aggregator.HasGroup(info.Group)
	}
	return (info.Prefix == "apis") == (info.Group != "") && s.types.Table().HasVersion(info.Group, info.Version)
}

// serveOther serves the paths outside of the API groups.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/" || path == "/index.html":
		s.serveIndex(w, r)
	case strings.TrimRight(path, "/") == "/version":
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
	case isOpenIDPath(path):
		s.serveOpenID(w, r)
	default:
		http.NotFound(w, r) // plain text, as a real server's outermost mux (PV-16)
	}
}

// serveDiscovery serves /api, /apis and the paths between them and a resource.
func (s *Server) serveDiscovery(w http.ResponseWriter, r *http.Request, info *requestinfo.RequestInfo) {
	plain := negotiate.Document
	if s.isUnroutedDiscovery(info) {
		plain = negotiate.Unrouted
	}
	switch {
	case strings.HasPrefix(info.Path, "/apis//"), isBelowDiscovery(info) && plain == negotiate.Unrouted: // HT-12
		http.NotFound(w, r)
		return
	case isBelowDiscovery(info):
		handlers.WriteError(w, r, status.PathNotFound())
		return
	case r.Method != http.MethodGet && plain == negotiate.Document:
		handlers.WriteError(w, r, status.MethodNotAllowed())
		return
	}
	conditions := s.groups.conditions(info)
	if conditions.writeUnavailable(w, r, info) {
		return
	}
	negotiated := negotiate.ResponseOutput
	if info.Version == "" && info.Group == "" && info.Path != "/apis/" && s.aggregatedDiscovery.Load() {
		negotiated = negotiate.DiscoveryOutput
	}
	out, err := negotiated(r, plain)
	if err != nil {
		handlers.WriteError(w, r, err)
		return
	}
	s.writeDiscovery(w, r, out, conditions)
}

// isUnroutedDiscovery reports whether a real server serves a path of discovery before its router,
// which would check the method: /apis and the groups with its aggregator, but for the group of
// APIServices, and the versions of custom resources.
func (s *Server) isUnroutedDiscovery(info *requestinfo.RequestInfo) bool {
	if info.Version != "" {
		return s.types.Table().IsCustomGroup(info.Group)
	}
	return info.Prefix == "apis" && info.Group != apiregistration.GroupName
}

// isBelowDiscovery reports whether a path that is not one of a resource is below that of its
// version, because it has empty segments.
func isBelowDiscovery(info *requestinfo.RequestInfo) bool {
	segments := 1
	for _, s := range []string{info.Group, info.Version} {
		if s != "" {
			segments++
		}
	}
	return strings.Count(strings.TrimRight(info.Path, "/"), "/") > segments
}
