package policy

import (
	"context"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	library "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"

	"example.com/fakeapi/fake/internal/admission"
)

// observer reports the decisions of policies.
type observer struct {
	observe func(context.Context, admission.Decision)
	plugin  string
}

// report completes a decision about the write a and reports it.
func (o observer) report(ctx context.Context, a *admission.LibraryAttributes, d admission.Decision) {
	d.Plugin, d.Reinvoked = o.plugin, a.GetReinvocationContext().IsReinvoke()
	d.SetWrite(a.Own())
	o.observe(ctx, d)
}

// reportConfiguration reports the policies and bindings that select a write but cannot be
// evaluated, because their parameters or the kind of them do not exist. The dispatchers of the
// library refuse or ignore the write then without a call that could be observed.
func reportConfiguration[P, B runtime.Object, E any](
	ctx context.Context, o observer, s *source[P, B, E], matcher generic.PolicyMatcher,
	a *admission.LibraryAttributes, objects library.ObjectInterfaces, hooks []generic.PolicyHook[P, B, E],
) {
	for i := range hooks {
		hook := &hooks[i]
		policy := s.newPolicy(hook.Policy)
		paramKind := policy.GetParamKind()
		if paramKind == nil {
			continue
		}
		if matches, _, _, err := matcher.DefinitionMatches(a, objects, policy); !matches || err != nil {
			continue
		}
		failed := admission.Decision{Name: policy.GetName(), Begin: time.Now(), Outcome: outcomeOfError(policy.GetFailurePolicy())}
		if err := hook.ConfigurationError; err != nil {
			failed.Message = err.Error()
			o.report(ctx, a, failed)
			continue
		}
		for _, b := range hook.Bindings {
			binding := s.newBinding(b)
			if matches, err := matcher.BindingMatches(a, objects, binding); !matches || err != nil {
				continue
			}
			if _, err := generic.CollectParams(paramKind, hook.ParamInformer, hook.ParamScope, binding.GetParamRef(), a.GetNamespace(), nil, nil); err != nil {
				failed.Configuration, failed.Message = binding.GetName(), err.Error()
				o.report(ctx, a, failed)
			}
		}
	}
}

// outcomeOfError returns the outcome of an evaluation that failed.
func outcomeOfError(policy *admissionregistrationv1.FailurePolicyType) string {
	if policy != nil && *policy == admissionregistrationv1.Ignore {
		return admission.Ignored
	}
	return admission.Failed
}
