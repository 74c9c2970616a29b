package policy

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	library "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/admission"
)

// mutatingHooks returns a hook for each binding of a policy, so that its evaluations are reported
// with the binding. One that cannot be evaluated keeps its only hook, and with it its only error.
func (o observer) mutatingHooks(hook mutating.PolicyHook) (hooks []mutating.PolicyHook) {
	if hook.ConfigurationError != nil {
		return []mutating.PolicyHook{hook}
	}
	for _, b := range hook.Bindings {
		pair := observedPair{o, hook.Policy, b}
		h := hook
		h.Bindings, h.Evaluator.Mutators = []*mutating.PolicyBinding{b}, nil
		if h.Evaluator.Matcher != nil {
			h.Evaluator.Matcher = observedConditions{h.Evaluator.Matcher, pair}
		}
		for _, p := range hook.Evaluator.Mutators {
			h.Evaluator.Mutators = append(h.Evaluator.Mutators, observedPatcher{p, pair})
		}
		hooks = append(hooks, h)
	}
	return hooks
}

// observedPair is a policy with a binding, whose evaluations are reported.
type observedPair struct {
	observer
	policy  *mutating.Policy
	binding *mutating.PolicyBinding
}

// failed returns the decision of an evaluation that failed. A status is returned to the client
// whatever the failurePolicy is.
func (p observedPair) failed(err error) admission.Decision {
	d := admission.Decision{Outcome: outcomeOfError(p.policy.Spec.FailurePolicy), Message: err.Error()}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		d.Outcome, d.Code = admission.Failed, int(status.Status().Code)
	} else if d.Outcome == admission.Failed {
		d.Code = http.StatusForbidden
	}
	return d
}

func (p observedPair) reportSince(ctx context.Context, begin time.Time, a library.Attributes, d admission.Decision) {
	d.Configuration, d.Name, d.Begin, d.Duration = p.binding.Name, p.policy.Name, begin, time.Since(begin)
	p.report(ctx, a.(*admission.LibraryAttributes), d)
}

// observedConditions reports matchConditions that fail.
type observedConditions struct {
	matchconditions.Matcher
	observedPair
}

// Match implements matchconditions.Matcher.
func (c observedConditions) Match(
	ctx context.Context, attrs *library.VersionedAttributes, params runtime.Object, authz authorizer.UnconditionalAuthorizer,
) matchconditions.MatchResult {
	begin := time.Now()
	result := c.Matcher.Match(ctx, attrs, params, authz)
	if result.Error != nil {
		c.reportSince(ctx, begin, attrs.Attributes, c.failed(result.Error))
	}
	return result
}

// observedPatcher reports the results of a mutation.
type observedPatcher struct {
	patch.Patcher
	observedPair
}

// Patch implements patch.Patcher.
func (p observedPatcher) Patch(ctx context.Context, request patch.Request, budget int64) (runtime.Object, error) {
	begin := time.Now()
	before := request.VersionedAttributes.VersionedObject.Object()
	after, err := p.Patcher.Patch(ctx, request, budget)
	d := admission.Decision{Outcome: admission.Allowed, Code: http.StatusOK}
	if err != nil {
		d = p.failed(err)
	} else if after != before {
		d.Changes = changes(before, after)
	}
	d.ErrorType = string(mutating.ErrorType(err))
	p.reportSince(ctx, begin, request.VersionedAttributes.Attributes, d)
	return after, err
}
