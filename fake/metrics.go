package fakeapi

import (
	"bufio"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/internal/requestinfo"
)

// withMetrics counts every request that next serves, by what its client gets: faults count
// as if they were the server's.
func (s *Server) withMetrics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var query url.Values
		if strings.Contains(r.URL.RawQuery, "watch") {
			query = r.URL.Query()
		}
		t := requestinfo.Parse(r.Method, r.URL.Path, query)
		l, ok := s.metricLabels(r, t)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		running := s.metrics.InFlight(l, isLongRunning(t), isReadOnly(r))
		running.Inc()
		m := &metricsWriter{ResponseWriter: w, request: r}
		begin := time.Now()
		defer func() {
			running.Dec()
			if code := m.statusCode(); code != 0 {
				s.metrics.RecordRequest(l, code, time.Since(begin))
			} else {
				s.metrics.RecordAbort(l)
			}
		}()
		next.ServeHTTP(m, r)
		m.finished = true
	})
}

// metricLabels are what a request is counted by; counted is false for what is not served.
func (s *Server) metricLabels(r *http.Request, t requestinfo.RequestInfo) (l metrics.Labels, ok bool) {
	switch {
	case t.IsResourceRequest():
		res := s.types.Table().Lookup(t.Group, t.Version, t.Resource)
		if res == nil || t.Subresource != "" && res.Subresource(t.Subresource) == nil {
			return l, false
		}
		return metrics.ResourceLabels(r, t), true
	case t.Prefix != "":
		return metrics.PathLabels(r, "/"+t.Prefix), true
	}
	path := r.URL.Path
	if known := "/openapi/"; strings.HasPrefix(path, known) {
		path = known
	}
	return metrics.PathLabels(r, path), isHealthPath(path) ||
		slices.Contains([]string{"/", "/metrics", "/openapi/", "/version", "/version/"}, path)
}

// recordTermination counts a request that the server has ended in self-defense.
func (s *Server) recordTermination(r *http.Request, code int) {
	if l, ok := s.metricLabels(r, requestinfo.Parse(r.Method, r.URL.Path, r.URL.Query())); ok {
		s.metrics.RecordTermination(l, code)
	}
}

// countObjects counts what is in the store.
func (s *Server) countObjects() map[schema.GroupResource]int {
	view := s.store.View()
	counts := make(map[schema.GroupResource]int)
	for _, res := range s.types.Table().Stored() {
		counts[res.StorageResource] = view.Count(codec.Key(res, "", ""))
	}
	return counts
}

// metricsWriter sees the code of an answer.
type metricsWriter struct {
	http.ResponseWriter
	request            *http.Request
	code               int
	hijacked, finished bool
}

// Unwrap is for http.ResponseController.
func (m *metricsWriter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (m *metricsWriter) WriteHeader(code int) {
	if m.code == 0 && code >= http.StatusOK {
		m.code = code
	}
	m.ResponseWriter.WriteHeader(code)
}

// Hijack is for http.ResponseController: what follows is no answer of HTTP.
func (m *metricsWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(m.ResponseWriter).Hijack()
	m.hijacked = m.hijacked || err == nil
	return conn, buffered, err
}

// statusCode is the code, 0 if there was no whole answer. One that begins with its body
// has 200.
func (m *metricsWriter) statusCode() int {
	switch {
	case m.code != 0 && m.code != http.StatusOK:
		return m.code
	case !m.finished || m.hijacked && m.request.Header.Get("Upgrade") == "":
		return 0
	case m.hijacked:
		return http.StatusSwitchingProtocols
	}
	return http.StatusOK
}
