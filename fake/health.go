package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The health paths, each with the checks that it runs (DI-14 to DI-17). A server
// that answers at all passes them, but in its first and its last moments.
func healthChecks(endpoint string) []string {
	switch endpoint {
	case "healthz", "livez":
		return []string{"ping", "log", "etcd"}
	case "readyz":
		return []string{"ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"}
	}
	return nil
}

// splitHealth cuts a health path into its endpoint and the name of one check.
func splitHealth(path string) (endpoint, check string) {
	endpoint, check, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return endpoint, check
}

func isHealth(path string) bool {
	endpoint, check := splitHealth(path)
	checks := healthChecks(endpoint)
	return checks != nil && (check == "" || slices.Contains(checks, check))
}

// serveHealth answers "ok", or with ?verbose a line for each check; ?exclude leaves
// checks out. A check that fails makes it 500, with all lines (DI-15).
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	endpoint, check := splitHealth(r.URL.Path)
	if check != "" {
		s.serveCheck(w, endpoint, check)
		return
	}
	var lines strings.Builder
	failed := false
	excluded := r.URL.Query()["exclude"]
	for _, name := range healthChecks(endpoint) {
		switch {
		case slices.Contains(excluded, name):
			fmt.Fprintf(&lines, "[+]%s excluded: ok\n", name)
		case s.life.failing(endpoint, name) != "":
			failed = true
			fmt.Fprintf(&lines, "[-]%s failed: reason withheld\n", name)
		default:
			fmt.Fprintf(&lines, "[+]%s ok\n", name)
		}
	}
	_, verbose := r.URL.Query()["verbose"]
	switch {
	case failed:
		http.Error(w, lines.String()+endpoint+" check failed", http.StatusInternalServerError)
	case verbose:
		writeHealth(w, lines.String()+endpoint+" check passed\n")
	default:
		writeHealth(w, "ok")
	}
}

// serveCheck answers the path of one check (DI-17).
func (s *Server) serveCheck(w http.ResponseWriter, endpoint, check string) {
	if why := s.life.failing(endpoint, check); why != "" {
		http.Error(w, "internal server error: "+why, http.StatusInternalServerError)
		return
	}
	writeHealth(w, "ok")
}

func writeHealth(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = fmt.Fprint(w, text)
}
