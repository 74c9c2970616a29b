package fakeapi

import (
	"net/http"

	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/requestinfo"
)

// buildHandlerChain returns the handler of all requests. A request passes the filters from the last
// line to the first. Up to faults they see what the client gets. The filters below faults are in
// the order of the DefaultBuildHandlerChain of k8s.io/apiserver: authentication and authorization
// run before the resource is looked up (AU-03).
func (s *Server) buildHandlerChain() http.Handler {
	handler := http.Handler(http.HandlerFunc(s.route))
	handler = s.withStartupCheck(handler)
	handler = withForbiddenByRules(handler)
	handler = s.withAuthorization(handler)
	handler = s.withImpersonation(handler)
	handler = s.withAudit(handler)
	handler = s.withAuthentication(handler)
	handler = withPanicRecovery(handler, s.opts.logger)
	handler = s.withTimeout(handler)
	handler = s.withGoaway(handler)
	handler = s.withAuditInit(handler)
	handler = s.withCBOR(handler)
	handler = s.withCommonHeaders(handler)
	handler = s.withFaults(handler)
	handler = s.withMaxInFlight(handler)
	handler = s.withMetrics(handler)
	handler = s.withRequestLogging(handler)
	handler = s.withTimeline(handler)
	handler = s.compressor.Handler(handler)
	handler = withRequestInfo(handler)
	handler = s.withControlAPI(handler)
	handler = s.withMiddleware(handler)
	handler = withJoinedWrites(handler)
	handler = s.conns.withRequestTracking(handler)
	return handler
}

// withRequestInfo parses the URL and adds the RequestInfo to the context of the request.
func withRequestInfo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, requestinfo.WithRequestInfo(r))
	})
}

// withMiddleware adds the handlers of WithMiddleware.
func (s *Server) withMiddleware(next http.Handler) http.Handler {
	for i := len(s.opts.middleware) - 1; i >= 0; i-- {
		next = s.opts.middleware[i](next)
	}
	return next
}

// withFaults applies the fault rules.
func (s *Server) withFaults(next http.Handler) http.Handler {
	return faults.ServerHandler(&s.faults, next)
}

// withCBOR enables CBOR for the request if the feature is enabled.
func (s *Server) withCBOR(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.cbor.Load() {
			r = negotiate.WithCBOR(r)
		}
		next.ServeHTTP(w, r)
	})
}
