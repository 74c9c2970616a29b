package fakeapi

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// healthChecks returns the checks of a health path (DI-14 to DI-17). They pass except while the
// server starts or shuts down. A real server has more checks, most of them about the start of its
// parts.
func healthChecks(endpoint string) []string {
	switch endpoint {
	case "healthz", "livez":
		return []string{"ping", "log", "etcd"}
	case "readyz":
		return []string{"ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"}
	}
	return nil
}

// splitHealth splits a health path into the endpoint and the name of a check.
func splitHealth(path string) (endpoint, check string) {
	endpoint, check, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return endpoint, check
}

// isHealthPath reports whether path is a health path. None ends with a slash.
func isHealthPath(path string) bool {
	endpoint, check := splitHealth(path)
	checks := healthChecks(endpoint)
	return checks != nil && (path == "/"+endpoint || slices.Contains(checks, check))
}

// serveHealth returns "ok", or with ?verbose a line for each check. ?exclude leaves checks out,
// with a warning for unknown ones. If a check fails, the response is 500 with all lines (DI-15,
// DI-16). All methods are allowed.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	endpoint, check := splitHealth(r.URL.Path)
	if check != "" {
		s.serveHealthCheck(w, endpoint, check)
		return
	}
	var lines strings.Builder
	failed := false
	unknown := slices.Clone(r.URL.Query()["exclude"])
	for _, name := range healthChecks(endpoint) {
		excluded := slices.Index(unknown, name)
		switch {
		case excluded >= 0:
			unknown = slices.DeleteFunc(unknown, func(other string) bool { return other == name })
			fmt.Fprintf(&lines, "[+]%s excluded: ok\n", name)
		case s.lifecycle.healthError(endpoint, name) != "":
			failed = true
			fmt.Fprintf(&lines, "[-]%s failed: reason withheld\n", name)
		default:
			fmt.Fprintf(&lines, "[+]%s ok\n", name)
		}
	}
	if len(unknown) > 0 {
		fmt.Fprintf(&lines, "warn: some health checks cannot be excluded: no matches for %s\n", quoteNames(unknown))
	}
	if failed {
		http.Error(w, lines.String()+endpoint+" check failed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if _, verbose := r.URL.Query()["verbose"]; verbose {
		_, _ = io.WriteString(w, lines.String()+endpoint+" check passed\n")
		return
	}
	_, _ = io.WriteString(w, "ok")
}

// quoteNames returns the names in quotes, sorted and without duplicates, as a real server lists
// them.
func quoteNames(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	return strings.Join(names, ",")
}

// serveHealthCheck serves the path of one check (DI-17). It has no parameters.
func (s *Server) serveHealthCheck(w http.ResponseWriter, endpoint, check string) {
	if reason := s.lifecycle.healthError(endpoint, check); reason != "" {
		http.Error(w, "internal server error: "+reason, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok")
}
