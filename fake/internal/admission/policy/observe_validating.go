package policy

import (
	"context"
	"net/http"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/admission"
)

// validatingHooks returns the hook of a policy, whose evaluations are reported.
func (o observer) validatingHooks(hook validating.PolicyHook) []validating.PolicyHook {
	v := &observedValidator{hook.Evaluator, o, hook.Policy, make(map[string]*validating.PolicyBinding, len(hook.Bindings))}
	for _, b := range hook.Bindings {
		v.bindings[b.Name] = b
	}
	hook.Evaluator = v
	return []validating.PolicyHook{hook}
}

// bindingRecorder records the binding that is considered in the attributes of the write. The
// policy is evaluated for it next.
type bindingRecorder struct{ generic.PolicyMatcher }

// BindingMatches implements generic.PolicyMatcher.
func (r bindingRecorder) BindingMatches(a library.Attributes, o library.ObjectInterfaces, binding generic.BindingAccessor) (bool, error) {
	a.(*admission.LibraryAttributes).SetCurrent(binding.GetName())
	return r.PolicyMatcher.BindingMatches(a, o, binding)
}

// observedValidator reports the evaluations of a policy.
type observedValidator struct {
	validating.Validator
	observer
	policy   *validating.Policy
	bindings map[string]*validating.PolicyBinding
}

// Validate implements validating.Validator.
func (v *observedValidator) Validate(
	ctx context.Context, matched schema.GroupVersionResource, attrs *library.VersionedAttributes, params runtime.Object,
	namespace *corev1.Namespace, budget int64, authz authorizer.UnconditionalAuthorizer,
) validating.ValidateResult {
	begin := time.Now()
	result := v.Validator.Validate(ctx, matched, attrs, params, namespace, budget, authz)
	took := time.Since(begin)
	a := attrs.Attributes.(*admission.LibraryAttributes)
	binding := v.bindings[a.Current().(string)]
	for _, d := range v.decisions(result, binding.Spec.ValidationActions) {
		d.Configuration, d.Name, d.Begin = binding.Name, v.policy.Name, begin
		if d.Outcome == admission.Allowed {
			d.Duration = took
		}
		v.report(ctx, a, d)
	}
	return result
}

// decisions returns the decisions of a result: those that do not simply allow the write, or one
// that does. There are none if the matchConditions exclude the write.
func (v *observedValidator) decisions(result validating.ValidateResult, actions []admissionregistrationv1.ValidationAction) (decisions []admission.Decision) {
	for i := range result.Decisions {
		decisions = append(decisions, decisionsOf(&result.Decisions[i], actions)...)
	}
	annotations := map[string]string{}
	for _, a := range result.AuditAnnotations {
		switch a.Action {
		case validating.AuditAnnotationActionPublish:
			annotations[v.policy.Name+"/"+a.Key] = a.Value
		case validating.AuditAnnotationActionError:
			failed := validating.PolicyDecision{
				Action: validating.ActionDeny, Evaluation: validating.EvalError, Message: a.Error, Elapsed: a.Elapsed,
			}
			decisions = append(decisions, decisionsOf(&failed, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny})...)
		}
	}
	if len(decisions) == 0 && len(result.Decisions)+len(result.AuditAnnotations) > 0 {
		decisions = append(decisions, admission.Decision{Outcome: admission.Allowed, Code: http.StatusOK})
	}
	if len(decisions) > 0 && len(annotations) > 0 {
		decisions[0].AuditAnnotations = annotations
	}
	return decisions
}

// decisionsOf returns the decisions that follow from one expression, one for each action. There are
// none if the expression holds.
func decisionsOf(d *validating.PolicyDecision, actions []admissionregistrationv1.ValidationAction) (decisions []admission.Decision) {
	decision := admission.Decision{Message: d.Message, Duration: d.Elapsed, ErrorType: string(validating.ErrorType(d))}
	if d.Action == validating.ActionAdmit {
		if d.Evaluation == validating.EvalError {
			decision.Outcome = admission.Ignored
			decisions = append(decisions, decision)
		}
		return decisions
	}
	for _, action := range actions {
		decision.Code = 0
		switch action {
		case admissionregistrationv1.Warn:
			decision.Outcome = admission.Warned
		case admissionregistrationv1.Audit:
			decision.Outcome = admission.Audited
		default:
			decision.Outcome, decision.Code = admission.Denied, codeOf(d.Reason)
			if d.Evaluation == validating.EvalError {
				decision.Outcome = admission.Failed
			}
		}
		decisions = append(decisions, decision)
	}
	return decisions
}

// codeOf returns the HTTP status code of a denial.
func codeOf(reason metav1.StatusReason) int {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	default:
		return http.StatusUnprocessableEntity
	}
}
