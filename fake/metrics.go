package fakeapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/internal/responsewriter"
)

// withMetrics counts requests by what their clients get. Responses of fault rules count as those of
// the server.
func (s *Server) withMetrics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := requestinfo.FromRequest(r)
		labels, ok := s.metricLabels(r, info)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		inFlight := s.metrics.InFlight(labels, info.IsLongRunning(), info.IsReadOnly())
		inFlight.Inc()
		recorder, ok := w.(responsewriter.Recorder) // that of the timeline
		if !ok {
			recorder = &responsewriter.Status{ResponseWriter: w}
		}
		completed := false
		start := time.Now()
		defer func() {
			inFlight.Dec()
			if code := responseCode(recorder, r, completed); code != 0 {
				s.metrics.RecordRequest(labels, code, time.Since(start))
			} else {
				s.metrics.RecordAbort(labels)
			}
		}()
		next.ServeHTTP(recorder, r)
		completed = true
	})
}

// responseCode returns the status code to count, or 0 for a response that is not complete.
// completed is false if the handler panicked.
func responseCode(recorder responsewriter.Recorder, r *http.Request, completed bool) int {
	code, hijacked := recorder.StatusCode(), recorder.Hijacked()
	switch {
	case code != 0 && code != http.StatusOK:
		return code
	case !completed || hijacked && r.Header.Get("Upgrade") == "":
		return 0
	case hijacked:
		return http.StatusSwitchingProtocols
	}
	return http.StatusOK
}

// metricLabels returns the labels of a request. ok is false for resources and paths that are not
// served.
func (s *Server) metricLabels(r *http.Request, info *requestinfo.RequestInfo) (l metrics.Labels, ok bool) {
	switch {
	case info.IsResourceRequest():
		res := s.types.Table().LookupServed(info.Group, info.Version, info.Resource)
		if res == nil || info.Subresource != "" && res.Subresource(info.Subresource) == nil {
			return l, false
		}
		return metrics.ResourceLabels(r, *info), true
	case info.Prefix != "":
		return metrics.PathLabels(r, "/"+info.Prefix), true
	}
	path := info.Path
	if strings.HasPrefix(path, "/openapi/") {
		path = "/openapi/"
	}
	return metrics.PathLabels(r, path), isHealthPath(path) ||
		slices.Contains([]string{"/", "/metrics", "/openapi/", "/version", "/version/"}, path)
}

// recordTermination counts a request that the server ended to protect itself.
func (s *Server) recordTermination(r *http.Request, code int) {
	if l, ok := s.metricLabels(r, requestinfo.FromRequest(r)); ok {
		s.metrics.RecordTermination(l, code)
	}
}

// countObjects returns the number of stored objects by resource.
func (s *Server) countObjects() map[schema.GroupResource]int {
	view := s.store.View()
	counts := make(map[schema.GroupResource]int)
	for _, res := range s.types.Table().Stored() {
		counts[res.StorageResource] = view.Count(codec.Key(res, "", ""))
	}
	return counts
}
