package fakeapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/internal/responsewriter"
)

// WithRequestTimeout sets how long a request may take unless it is long-running, as
// --request-timeout of kube-apiserver does. The default is a minute. The query parameter timeout of
// a request shortens it. A request that takes longer gets 504 (EX-08). The delays of fault rules do
// not count.
func WithRequestTimeout(d time.Duration) Option {
	return durationOption("WithRequestTimeout", d, func(o *options) { o.requestTimeout = d })
}

// withTimeout responds with a 504 to a request that takes longer than its query parameter timeout
// or WithRequestTimeout allows (EX-08). On a server with admission functions the default is a
// minute; without them no request takes that long. Long-running requests have no limit.
func (s *Server) withTimeout(next http.Handler) http.Handler {
	longest := cmp.Or(s.opts.requestTimeout, requestinfo.RequestTimeout)
	byDefault := s.opts.requestTimeout
	if len(s.opts.reviewers) > 0 {
		byDefault = longest
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := requestinfo.FromRequest(r)
		timeout := min(info.Timeout, longest)
		if timeout == 0 && !info.IsLongRunning() {
			timeout = byDefault
		}
		switch {
		case info.TimeoutErr != nil:
			s.refuse(w, r, apierrors.NewBadRequest("invalid timeout specified in the request URL - "+info.TimeoutErr.Error()))
		case timeout == 0:
			next.ServeHTTP(w, r)
		default:
			s.serveWithTimeout(w, r, next, timeout)
		}
	})
}

// serveWithTimeout holds the response of next back until it is complete or the timeout is over. The
// context of the request ends with the timeout.
func (s *Server) serveWithTimeout(w http.ResponseWriter, r *http.Request, next http.Handler, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	buffer := responsewriter.NewBuffer(w.Header())
	done := make(chan any, 1) // receives the panic of next, or nil
	go func() {
		defer func() { done <- recover() }()
		next.ServeHTTP(buffer, r.WithContext(ctx))
	}()
	select {
	case reason := <-done:
		if reason != nil {
			panic(reason)
		}
		if deadline, _ := ctx.Deadline(); time.Now().Before(deadline) {
			buffer.SendTo(w)
			return
		} // the timer has not fired yet, but the timeout is over
	case <-ctx.Done():
	}
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the connection or the server is closed
	}
	s.recordTermination(r, http.StatusGatewayTimeout)
	handlers.WriteTimeout(w)
}
