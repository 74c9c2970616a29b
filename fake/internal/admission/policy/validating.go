package policy

import (
	"context"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"

	"example.com/fakeapi/fake/internal/admission"
)

type (
	validatingSource = source[*validating.Policy, *validating.PolicyBinding, validating.Validator]
	validatingKind   = kind[*validating.Policy, *validating.PolicyBinding, validating.Validator]
)

// NewValidating returns the plugin ValidatingAdmissionPolicy.
func NewValidating(d admission.Dynamic) admission.Interface {
	o := observer{d.Observe, validating.PluginName}
	matcher := generic.NewPolicyMatcher(newMatcher(d))
	return &validatingPlugin{
		observer: o, matcher: matcher,
		dispatcher: validating.NewDispatcher(d.Authorizer, bindingRecorder{matcher}),
		source: newSource(d.Policies, validatingKind{
			policies: "validatingadmissionpolicies", bindings: "validatingadmissionpolicybindings",
			newPolicy:  validating.NewValidatingAdmissionPolicyAccessor,
			newBinding: validating.NewValidatingAdmissionPolicyBindingAccessor,
			compile:    newLazyValidator,
			hooks:      o.validatingHooks,
		}),
	}
}

// validatingPlugin refuses writes, warns of them or annotates them by ValidatingAdmissionPolicies.
type validatingPlugin struct {
	observer
	matcher    generic.PolicyMatcher
	dispatcher generic.Dispatcher[validating.PolicyHook]
	source     *validatingSource
}

// Name implements admission.Interface.
func (p *validatingPlugin) Name() string { return validating.PluginName }

// Handles implements admission.Interface.
func (p *validatingPlugin) Handles(attrs *admission.Attributes) bool { return !isExcluded(attrs) }

// Validate implements admission.ValidationInterface.
func (p *validatingPlugin) Validate(ctx context.Context, attrs *admission.Attributes) error {
	hooks, err := p.source.current()
	if err != nil || len(hooks) == 0 {
		return err
	}
	a, o := attrs.Library(), attrs.ObjectInterfaces(p.source.lister.Table())
	reportConfiguration(ctx, p.observer, p.source, p.matcher, a, o, hooks)
	return p.dispatcher.Dispatch(ctx, a, o, hooks)
}

// lazyValidator is a policy that is compiled when it is evaluated first.
type lazyValidator func() validating.Validator

func newLazyValidator(policy *validating.Policy) validating.Validator {
	return lazyValidator(sync.OnceValue(func() validating.Validator { return compileValidatingPolicy(policy) }))
}

// Validate implements validating.Validator.
func (v lazyValidator) Validate(
	ctx context.Context, matched schema.GroupVersionResource, attrs *library.VersionedAttributes, params runtime.Object,
	namespace *corev1.Namespace, budget int64, authz authorizer.UnconditionalAuthorizer,
) validating.ValidateResult {
	return v().Validate(ctx, matched, attrs, params, namespace, budget, authz)
}

// CompileError implements validating.Validator.
func (v lazyValidator) CompileError() error { return v().CompileError() }

// compileValidatingPolicy returns the compiled policy.
func compileValidatingPolicy(policy *validating.Policy) validating.Validator {
	spec := &policy.Spec
	compiler, err := newCompiler(spec.Variables)
	if err != nil {
		return validating.NewValidator(nil, nil, nil, nil, spec.FailurePolicy, err)
	}
	declared := cel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	compileVariables(compiler, spec.Variables, declared)
	conditions := func(expressions []cel.ExpressionAccessor, declared cel.OptionalVariableDeclarations) cel.ConditionEvaluator {
		return compiler.CompileCondition(expressions, declared, environment.StoredExpressions)
	}
	withoutAuthorizer := declared
	withoutAuthorizer.HasAuthorizer = false
	return validating.NewValidator(
		conditions(validations(spec.Validations), declared),
		compileMatchConditions(compiler, policy.Name, spec.MatchConditions, spec.FailurePolicy, declared),
		conditions(auditAnnotations(spec.AuditAnnotations), declared),
		conditions(messageExpressions(spec.Validations), withoutAuthorizer),
		spec.FailurePolicy, nil)
}

func validations(of []admissionregistrationv1.Validation) []cel.ExpressionAccessor {
	expressions := make([]cel.ExpressionAccessor, 0, len(of))
	for _, v := range of {
		expressions = append(expressions, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
	}
	return expressions
}

// messageExpressions returns an expression for each validation, nil for one without
// messageExpression.
func messageExpressions(of []admissionregistrationv1.Validation) []cel.ExpressionAccessor {
	expressions := make([]cel.ExpressionAccessor, len(of))
	for i, v := range of {
		if v.MessageExpression != "" {
			expressions[i] = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
	}
	return expressions
}

func auditAnnotations(of []admissionregistrationv1.AuditAnnotation) []cel.ExpressionAccessor {
	expressions := make([]cel.ExpressionAccessor, 0, len(of))
	for _, a := range of {
		expressions = append(expressions, &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression})
	}
	return expressions
}
