package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The health paths, each with the checks that it runs (DI-14 to DI-17). A
// server that answers at all passes them.
func healthChecks(endpoint string) []string {
	switch endpoint {
	case "healthz", "livez":
		return []string{"ping", "log", "etcd"}
	case "readyz":
		return []string{"ping", "log", "etcd", "etcd-readiness", "informer-sync"}
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

// serveHealth answers "ok", or with ?verbose a line for each check; ?exclude
// leaves checks out.
func serveHealth(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	endpoint, check := splitHealth(r.URL.Path)
	if _, verbose := r.URL.Query()["verbose"]; !verbose || check != "" {
		_, _ = fmt.Fprint(w, "ok")
		return
	}
	excluded := r.URL.Query()["exclude"]
	for _, name := range healthChecks(endpoint) {
		if slices.Contains(excluded, name) {
			_, _ = fmt.Fprintf(w, "[+]%s excluded: ok\n", name)
			continue
		}
		_, _ = fmt.Fprintf(w, "[+]%s ok\n", name)
	}
	_, _ = fmt.Fprintf(w, "%s check passed\n", endpoint)
}
