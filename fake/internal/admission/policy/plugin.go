package policy

import (
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"example.com/fakeapi/fake/internal/admission"
)

// isExcluded reports whether no policy applies to a write: policies and bindings themselves, which
// could otherwise not be corrected, and reviews of tokens and of access.
func isExcluded(attrs *admission.Attributes) bool {
	gr := attrs.GroupResource()
	if gr.Group != admissionregistrationv1.GroupName {
		return attrs.IsVirtual()
	}
	switch gr.Resource {
	case "validatingadmissionpolicies", "validatingadmissionpolicybindings",
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings":
		return true
	}
	return false
}

// newMatcher returns what decides whether the match constraints of a policy or a binding select a
// write.
func newMatcher(d admission.Dynamic) *matching.Matcher {
	return matching.NewMatcher(admission.NewNamespaceLister(d.Policies), admission.NewNamespaceClient(d.Policies))
}

// newCompiler returns the compiler for a policy with these variables. Policies without variables
// share one, because it takes milliseconds to make the environments of a compiler.
func newCompiler(variables []admissionregistrationv1.Variable) (*cel.CompositedCompiler, error) {
	if len(variables) == 0 {
		return compilerWithoutVariables()
	}
	return newCompositedCompiler()
}

var compilerWithoutVariables = sync.OnceValues(newCompositedCompiler)

func newCompositedCompiler() (*cel.CompositedCompiler, error) {
	return cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
}

// compileVariables compiles the variables of a policy, for the expressions that are compiled after
// them.
func compileVariables(compiler *cel.CompositedCompiler, variables []admissionregistrationv1.Variable, declared cel.OptionalVariableDeclarations) {
	expressions := make([]cel.NamedExpressionAccessor, 0, len(variables))
	for _, v := range variables {
		expressions = append(expressions, &validating.Variable{Name: v.Name, Expression: v.Expression})
	}
	compiler.CompileAndStoreVariables(expressions, declared, environment.StoredExpressions)
}

// compileMatchConditions returns the compiled matchConditions of a policy, nil if it has none.
func compileMatchConditions(
	compiler *cel.CompositedCompiler, policy string, conditions []admissionregistrationv1.MatchCondition,
	failurePolicy *admissionregistrationv1.FailurePolicyType, declared cel.OptionalVariableDeclarations,
) matchconditions.Matcher {
	if len(conditions) == 0 {
		return nil
	}
	expressions := make([]cel.ExpressionAccessor, 0, len(conditions))
	for i := range conditions {
		expressions = append(expressions, (*matchconditions.MatchCondition)(&conditions[i]))
	}
	evaluator := compiler.CompileCondition(expressions, declared, environment.StoredExpressions)
	return matchconditions.NewMatcher(evaluator, failurePolicy, "policy", "validate", policy)
}
