// Package auditlog writes the audit log of an API server: a line of JSON for each stage of a
// request, as kube-apiserver does with --audit-policy-file and --audit-log-path. Policies, events
// and their encoding are those of k8s.io/apiserver/pkg/audit. The parts of this package are the
// filter of requests and the functions that handlers call with bodies.
//
// Documents: tasks/debug/debug-cluster/audit, and the types of k8s.io/apiserver/pkg/apis/audit/v1.
package auditlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/apis/audit/validation"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	auditbackend "k8s.io/apiserver/plugin/pkg/audit/log"
)

// Config is the policy and the output of an audit log. Several API servers can share one.
type Config struct {
	policy *auditinternal.Policy
	mu     sync.Mutex // guards writing to out, and Log.closed of the logs
	out    audit.Backend
}

// NewConfig returns a Config. Events are written to w, one call of Write for each. The error is
// that of an invalid policy, or of one without rules.
func NewConfig(p *auditv1.Policy, w io.Writer) (*Config, error) {
	c := &Config{policy: &auditinternal.Policy{}, out: auditbackend.NewBackend(w, auditbackend.FormatJson, auditv1.SchemeGroupVersion)}
	if err := audit.Scheme.Convert(p.DeepCopy(), c.policy, nil); err != nil {
		return nil, err
	}
	if err := validation.ValidatePolicy(c.policy).ToAggregate(); err != nil {
		return nil, err
	}
	if len(c.policy.Rules) == 0 {
		return nil, errors.New("loaded illegal policy with 0 rules")
	}
	return c, nil
}

// Log is the audit log of one API server.
type Log struct {
	config *Config
	policy audit.PolicyRuleEvaluator
	now    func() time.Time
	closed bool
}

// New returns a Log. The times of its events are those of now.
func New(config *Config, now func() time.Time) *Log {
	return &Log{config: config, policy: policy.NewPolicyRuleEvaluator(config.policy.DeepCopy()), now: now}
}

// Close ends the log. Events of requests that have not ended are dropped.
func (l *Log) Close() {
	l.config.mu.Lock()
	defer l.config.mu.Unlock()
	l.closed = true
}

// ProcessEvents implements audit.Sink.
func (l *Log) ProcessEvents(events ...*auditinternal.Event) bool {
	l.config.mu.Lock()
	defer l.config.mu.Unlock()
	if l.closed {
		return true
	}
	for _, event := range events {
		written := *event
		if written.Stage != auditinternal.StageRequestReceived {
			written.StageTimestamp = metav1.NewMicroTime(l.now())
		}
		l.config.out.ProcessEvents(&written) // logs its errors, which do not fail requests
	}
	return true
}

// requestState is what this package keeps about a request besides the AuditContext.
type requestState struct {
	received          time.Time
	omitManagedFields bool
}

type stateKey struct{}

func stateOf(ctx context.Context) *requestState {
	state, _ := ctx.Value(stateKey{}).(*requestState)
	return state
}

// WithAuditInit returns r with an AuditContext, which has the audit ID. The latency of a watch is
// not logged.
func (l *Log) WithAuditInit(r *http.Request, id string, isWatch bool) *http.Request {
	ctx := audit.WithAuditContext(r.Context())
	audit.WithAuditID(ctx, types.UID(id))
	ctx = genericrequest.WithReceivedTimestamp(ctx, l.now())
	if !isWatch {
		ctx = genericrequest.WithLatencyTrackers(ctx)
	}
	return r.WithContext(context.WithValue(ctx, stateKey{}, &requestState{received: time.Now()}))
}

// Attributes returns what the policy and the event say about a request. The user is nil if it was
// not authenticated.
type Attributes func(r *http.Request) (a authorizer.Attributes, isLongRunning bool)

// WithAudit logs the stages of the requests that next serves.
func (l *Log) WithAudit(next http.Handler, attributes Attributes) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, isLongRunning := attributes(r)
		ac := l.evaluate(r, a)
		if !ac.Enabled() {
			next.ServeHTTP(w, r)
			return
		}
		ctx := r.Context()
		ac.ProcessEventStage(ctx, auditinternal.StageRequestReceived)
		defer func() {
			if reason := recover(); reason != nil {
				ac.SetEventResponseStatus(&metav1.Status{
					Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
					Message: fmt.Sprintf("APIServer panic'd: %v", reason),
				})
				ac.ProcessEventStage(ctx, auditinternal.StagePanic)
				panic(reason)
			}
			completeEvent(ctx, ac, isLongRunning)
		}()
		next.ServeHTTP(newResponseWriter(ctx, w, isLongRunning), r)
	})
}

// completeEvent logs the last stage of a request.
func completeEvent(ctx context.Context, ac *audit.AuditContext, isLongRunning bool) {
	if ac.GetEventResponseStatus() == nil { // nothing has been written
		ac.SetEventResponseStatus(&metav1.Status{Code: http.StatusOK, Status: metav1.StatusSuccess, Message: "Connection closed early"})
		if isLongRunning {
			ac.ProcessEventStage(ctx, auditinternal.StageResponseStarted)
		}
	}
	addLatency(ctx)
	ac.ProcessEventStage(ctx, auditinternal.StageResponseComplete)
}

// latencyThreshold is the duration of a request above which its event has annotations about it.
const latencyThreshold = 500 * time.Millisecond

// addLatency annotates the event of a slow request with its duration and that of its webhooks.
func addLatency(ctx context.Context) {
	total := time.Since(stateOf(ctx).received)
	annotations := genericrequest.AuditAnnotationsFromLatencyTrackers(ctx)
	if total <= latencyThreshold || annotations == nil {
		return
	}
	annotations["apiserver.latency.k8s.io/total"] = total.String()
	audit.AddAuditAnnotationsMap(ctx, annotations)
}

// WithFailedRequestAudit logs the responses of failed, which answers requests that are refused
// before they are authenticated. They have one stage, ResponseStarted, and no user.
func (l *Log) WithFailedRequestAudit(failed http.Handler, attributes Attributes) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, _ := attributes(r)
		if l.evaluate(r, a).Enabled() {
			w = newResponseWriter(r.Context(), w, true)
		}
		failed.ServeHTTP(w, r)
	})
}

// evaluate decides by the policy how a request is logged, and begins its event.
func (l *Log) evaluate(r *http.Request, a authorizer.Attributes) *audit.AuditContext {
	ctx := r.Context()
	config := l.policy.EvaluatePolicyRule(a)
	ac := audit.AuditContextFrom(ctx)
	if err := ac.Init(config, l); err != nil { // a request passes one filter of this package
		panic(err)
	}
	stateOf(ctx).omitManagedFields = config.OmitManagedFields
	if received, ok := genericrequest.ReceivedTimestampFrom(ctx); ok && ac.Enabled() {
		audit.LogRequestMetadata(ctx, r, received, a)
	}
	return ac
}
