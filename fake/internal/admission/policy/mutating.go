package policy

import (
	"context"
	"fmt"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	library "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"example.com/fakeapi/fake/internal/admission"
)

type (
	mutatingSource = source[*mutating.Policy, *mutating.PolicyBinding, mutating.PolicyEvaluator]
	mutatingKind   = kind[*mutating.Policy, *mutating.PolicyBinding, mutating.PolicyEvaluator]
)

// NewMutating returns the plugin MutatingAdmissionPolicy.
func NewMutating(d admission.Dynamic) admission.Interface {
	o := observer{d.Observe, mutating.PluginName}
	matcher := newMatcher(d)
	return &mutatingPlugin{
		observer: o, matcher: generic.NewPolicyMatcher(matcher),
		dispatcher: mutating.NewDispatcher(d.Authorizer, matcher, typeConverters{d.Policies.Table}),
		source: newSource(d.Policies, mutatingKind{
			policies: "mutatingadmissionpolicies", bindings: "mutatingadmissionpolicybindings",
			newPolicy:  mutating.NewMutatingAdmissionPolicyAccessor,
			newBinding: mutating.NewMutatingAdmissionPolicyBindingAccessor,
			compile:    newLazyEvaluator,
			hooks:      o.mutatingHooks,
		}),
	}
}

// mutatingPlugin changes objects by MutatingAdmissionPolicies.
type mutatingPlugin struct {
	observer
	matcher    generic.PolicyMatcher
	dispatcher generic.Dispatcher[mutating.PolicyHook]
	source     *mutatingSource
}

// Name implements admission.Interface.
func (p *mutatingPlugin) Name() string { return mutating.PluginName }

// Handles implements admission.Interface. A delete has no object to change.
func (p *mutatingPlugin) Handles(attrs *admission.Attributes) bool {
	return attrs.Operation != admissionv1.Delete && !isExcluded(attrs)
}

// Admit implements admission.MutationInterface.
func (p *mutatingPlugin) Admit(ctx context.Context, attrs *admission.Attributes) error {
	hooks, err := p.source.current()
	if err != nil || len(hooks) == 0 {
		return err
	}
	a, o := attrs.Library(), attrs.ObjectInterfaces(p.source.lister.Table())
	reportConfiguration(ctx, p.observer, p.source, p.matcher, a, o, hooks)
	return p.dispatcher.Dispatch(ctx, a, o, hooks)
}

// newLazyEvaluator returns a policy that is compiled when it is evaluated first.
func newLazyEvaluator(policy *mutating.Policy) mutating.PolicyEvaluator {
	compiled := sync.OnceValue(func() mutating.PolicyEvaluator { return compileMutatingPolicy(policy) })
	lazy := mutating.PolicyEvaluator{}
	if len(policy.Spec.MatchConditions) > 0 {
		lazy.Matcher = lazyConditions(compiled)
	}
	for _, m := range policy.Spec.Mutations {
		if isJSONPatch(m) || isApplyConfiguration(m) {
			lazy.Mutators = append(lazy.Mutators, lazyPatcher{compiled, len(lazy.Mutators)})
		}
	}
	return lazy
}

func isJSONPatch(m admissionregistrationv1.Mutation) bool {
	return m.PatchType == admissionregistrationv1.PatchTypeJSONPatch && m.JSONPatch != nil
}

func isApplyConfiguration(m admissionregistrationv1.Mutation) bool {
	return m.PatchType == admissionregistrationv1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil
}

// lazyConditions are the matchConditions of a policy.
type lazyConditions func() mutating.PolicyEvaluator

// Match implements matchconditions.Matcher.
func (c lazyConditions) Match(
	ctx context.Context, attrs *library.VersionedAttributes, params runtime.Object, authz authorizer.UnconditionalAuthorizer,
) matchconditions.MatchResult {
	evaluator := c()
	if evaluator.Error != nil {
		return matchconditions.MatchResult{Error: evaluator.Error}
	}
	return evaluator.Matcher.Match(ctx, attrs, params, authz)
}

// lazyPatcher is a mutation of a policy.
type lazyPatcher struct {
	compiled func() mutating.PolicyEvaluator
	index    int
}

// Patch implements patch.Patcher. The context has the variables of the policy.
func (p lazyPatcher) Patch(ctx context.Context, request patch.Request, budget int64) (runtime.Object, error) {
	evaluator := p.compiled()
	if evaluator.Error != nil {
		return nil, evaluator.Error
	}
	return evaluator.Mutators[p.index].Patch(evaluator.CompositedCompiler.CreateContext(ctx), request, budget)
}

// compileMutatingPolicy returns the compiled policy. A mutation that is neither a JSON patch nor an
// apply configuration, which only a server without validation stores, is left out: the dispatcher
// refuses the write then.
func compileMutatingPolicy(policy *mutating.Policy) mutating.PolicyEvaluator {
	spec := &policy.Spec
	compiler, err := newCompiler(spec.Variables)
	if err != nil {
		return mutating.PolicyEvaluator{Error: &apiservercel.Error{
			Type: apiservercel.ErrorTypeInternal, Detail: fmt.Sprintf("failed to initialize CEL compiler: %v", err),
		}}
	}
	declared := cel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	compileVariables(compiler, spec.Variables, declared)
	evaluator := mutating.PolicyEvaluator{
		CompositedCompiler: compiler,
		Matcher:            compileMatchConditions(compiler, policy.Name, spec.MatchConditions, spec.FailurePolicy, declared),
	}
	declared.HasPatchTypes = true
	for _, m := range spec.Mutations {
		switch {
		case isJSONPatch(m):
			expression := &patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}
			evaluator.Mutators = append(evaluator.Mutators,
				patch.NewJSONPatcher(compiler.CompileMutatingEvaluator(expression, declared, environment.StoredExpressions)))
		case isApplyConfiguration(m):
			expression := &patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}
			evaluator.Mutators = append(evaluator.Mutators,
				patch.NewApplyConfigurationPatcher(compiler.CompileMutatingEvaluator(expression, declared, environment.StoredExpressions)))
		}
	}
	return evaluator
}
