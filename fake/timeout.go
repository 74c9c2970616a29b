package fakeapi

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/internal/requestinfo"
)

// requestTimeout is how long a request that is not long-running may take.
const requestTimeout = time.Minute

// timeoutParam is the time that a request asks for with its timeout parameter, up to a
// minute; 0 if it asks for none, and for those that are long-running, whose parameter
// nobody reads (PV-25, EX-08).
func timeoutParam(r *http.Request) (time.Duration, error) {
	if !strings.Contains(r.URL.RawQuery, "timeout=") || isLongRunningRequest(r) {
		return 0, nil
	}
	text := r.URL.Query().Get("timeout")
	if text == "" {
		return 0, nil
	}
	timeout, err := time.ParseDuration(text)
	if err != nil {
		return 0, apierrors.NewBadRequest("invalid timeout specified in the request URL - " + err.Error())
	}
	return max(0, min(timeout, requestTimeout)), nil
}

// isLongRunningRequest reports whether a request is one of those that no limit of time or number
// is for: watches, and what goes on between a client and a container.
func isLongRunningRequest(r *http.Request) bool {
	return isLongRunning(requestinfo.Parse(r.Method, r.URL.Path, r.URL.Query()))
}

func isLongRunning(t requestinfo.RequestInfo) bool {
	switch t.Subresource {
	case "attach", "exec", "log", "portforward", "proxy":
		return true
	}
	return t.Verb == requestinfo.Watch
}

// withTimeout gives next a time, after which the answer is a 504 (EX-08), whatever comes of
// the request; its context has ended then. The answer is held back until it is complete.
func (s *Server) withTimeout(timeout time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		buffered := &bufferedResponse{header: w.Header().Clone()}
		done := make(chan any, 1) // what next panicked with, or nil
		go func() {
			defer func() { done <- recover() }()
			next.ServeHTTP(buffered, r.WithContext(ctx))
		}()
		select {
		case cause := <-done:
			if cause != nil {
				panic(cause)
			}
			if end, _ := ctx.Deadline(); time.Now().Before(end) {
				buffered.flush(w)
				return
			} // the timer is late: the time is over all the same
		case <-ctx.Done():
		}
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the client is gone, or the server
		}
		s.recordTermination(r, http.StatusGatewayTimeout)
		handlers.WriteTimeout(w)
	})
}

// bufferedResponse is an answer that nobody has got yet.
type bufferedResponse struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *bufferedResponse) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *bufferedResponse) WriteHeader(code int) {
	if a.code == 0 && code >= http.StatusOK {
		a.code = code
	}
}

// Write implements http.ResponseWriter.
func (a *bufferedResponse) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// flush lets the answer go.
func (a *bufferedResponse) flush(w http.ResponseWriter) {
	clear(w.Header())
	maps.Copy(w.Header(), a.header)
	if a.code != 0 {
		w.WriteHeader(a.code)
	}
	_, _ = w.Write(a.body.Bytes())
}
