package conformance

import (
	"context"
	_ "embed"
	"sync"
	"time"
)

//go:embed policies.yaml
var policiesFile []byte

var parsedPolicies = sync.OnceValue(func() []Case { return parseBuiltinRules(policiesFile) })

// policyKindCases returns the cases about the defaults and the validation of policies and bindings
// (AP-75 to AP-81).
func policyKindCases() []Case { return parsedPolicies() }

// typeCheckingTimeout limits how long a controller may take to check the types of a policy.
const typeCheckingTimeout = 10 * time.Second

// policyStatusCases returns the cases about the status of policies (AP-82).
func policyStatusCases() []Case {
	should := policyRules(validatingPolicy, Should, docValidatingPolicies+", Type checking")
	return []Case{
		should("AP-82", "expressions that do not fit the types are reported in the status", "the author of a policy finds the error", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.data.k == '1'"), valid("object.nothing == 1")).unbound()
			const at = "status"
			return a.checkTypes(ctx, q,
				valueAt("spec.validations[1].expression", at, "typeChecking", "expressionWarnings", "0", "fieldRef"),
				textAt("undefined field 'nothing'", at, "typeChecking", "expressionWarnings", "0", "warning"),
				valueAt(nil, at, "typeChecking", "expressionWarnings", "1"))
		}),
		should("AP-82/message", "the types in a messageExpression are checked", "the author of a policy finds the error", func(ctx context.Context, a *admission) error {
			q := a.validating("a", invalid("'name ' + object.metadata.nothing")).unbound()
			return a.checkTypes(ctx, q,
				valueAt("spec.validations[0].messageExpression", "status", "typeChecking", "expressionWarnings", "0", "fieldRef"),
				textAt("undefined field 'nothing'", "status", "typeChecking", "expressionWarnings", "0", "warning"))
		}),
		should("AP-82/fine", "the status of a policy whose expressions fit the types has no warnings", "the author of a policy knows that it was checked", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.data.all(k, k.size() < 10)")).unbound()
			return a.checkTypes(ctx, q, hasField("status", "typeChecking"), valueAt(nil, "status", "typeChecking", "expressionWarnings"))
		}),
	}
}

// checkTypes checks the status of a policy after a controller has set it. It skips the case if
// there is no such controller.
func (a *admission) checkTypes(ctx context.Context, q *policy, expect ...expectation) error {
	if err := a.s.expect(ctx, post(policiesPath(q.kind), q.body()), code(201), value(nil, "status", "typeChecking")); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, typeCheckingTimeout)
	defer cancel()
	if err := a.s.waitFor(waiting, get(q.path()), code(200), value(1, "status", "observedGeneration")); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return a.s.skipf("no controller checked the types of a policy within %v", typeCheckingTimeout)
		}
		return err
	}
	return a.s.expect(ctx, get(q.path()), expect...)
}
