package fakeapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/auditlog"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/requestinfo"
)

// WithAuditLog writes the audit log to w: an Event of audit.k8s.io/v1 as one line of JSON for each
// stage of a request that the policy selects, as kube-apiserver does with --audit-policy-file and
// --audit-log-path. As there, a nil policy selects nothing, and the decision of the authorizer and
// what webhooks, policies and the plugin PodSecurity report are annotations of the events.
//
//	policy := &auditv1.Policy{Rules: []auditv1.PolicyRule{{Level: auditv1.LevelMetadata}}}
//	srv := fakeapi.Start(t, fakeapi.WithAuditLog(policy, file))
//
// Each event is one call of Write; calls do not overlap. The last event of a request is written
// when its handler ends, which may be after the client has the response. Errors of w are logged.
// After Close nothing is written. A replica writes to the same log; a fork does not.
//
// Times are those of the server's clock; see SkewClock. The log has what bodies and
// URLs have, also secrets, at the levels Request and RequestResponse. It does not have requests
// that fault rules or WithLimits answer, those of the control API, and the writes of controllers
// and of the server to a Secret whose token is used, which are requests in a cluster.
//
// The option is an error for a policy that kube-apiserver refuses. Document:
// tasks/debug/debug-cluster/audit.
func WithAuditLog(policy *auditv1.Policy, w io.Writer) Option {
	return func(o *options) error {
		if w == nil {
			return errors.New("fakeapi: WithAuditLog needs a writer")
		}
		if policy == nil {
			return nil
		}
		config, err := auditlog.NewConfig(policy, w)
		if err != nil {
			return fmt.Errorf("fakeapi: audit policy: %w", err)
		}
		o.audit = config
		return nil
	}
}

// setUpAudit creates the audit log, if there is one.
func (s *Server) setUpAudit() {
	if s.opts.audit != nil {
		s.audit = auditlog.New(s.opts.audit, s.api.Now)
	}
}

// withAuditInit adds the audit event to the context of the request. Its ID is the header Audit-Id
// of the response.
func (s *Server) withAuditInit(next http.Handler) http.Handler {
	if s.audit == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, s.audit.WithAuditInit(r, w.Header().Get("Audit-Id"), requestinfo.FromRequest(r).Verb == requestinfo.Watch))
	})
}

// withAudit logs the stages of requests.
func (s *Server) withAudit(next http.Handler) http.Handler {
	if s.audit == nil {
		return next
	}
	return s.audit.WithAudit(next, func(r *http.Request) (authorizer.Attributes, bool) {
		return authz.AttributesOf(authn.UserFrom(r.Context()), r), requestinfo.FromRequest(r).IsLongRunning()
	})
}

// refuse answers a request before it is authenticated, and logs it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err *apierrors.StatusError) {
	var failed http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handlers.WriteError(w, r, err) })
	if s.audit != nil {
		failed = s.audit.WithFailedRequestAudit(failed, func(r *http.Request) (authorizer.Attributes, bool) {
			a := authz.AttributesOf(authn.AnonymousUser(), r)
			a.User = nil
			return a, false
		})
	}
	failed.ServeHTTP(w, r)
}

// withAllowedAudit adds to the audit events that requests are allowed, without an authorizer.
func (s *Server) withAllowedAudit(next http.Handler) http.Handler {
	if s.audit == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auditDecision(r, "allow", "")
		next.ServeHTTP(w, r)
	})
}

// auditDecision adds the decision of the authorizer to the audit event of a request. A rule of
// package faults may forbid what the authorizer allows.
func auditDecision(r *http.Request, decision, reason string) {
	if faults.IsForbidden(r.Context()) {
		decision, reason = "forbid", ""
	}
	audit.AddAuditAnnotations(r.Context(), "authorization.k8s.io/decision", decision, "authorization.k8s.io/reason", reason)
}
