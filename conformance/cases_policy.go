package conformance

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docValidatingPolicies = "kubernetes.io, Validating Admission Policy"
	docMutatingPolicies   = "kubernetes.io, Mutating Admission Policy"
)

// policyCases returns the cases about bindings, actions and responses of validating policies (AP-01
// to AP-15).
func policyCases() []Case {
	must := policyRules(validatingPolicy, Must, docValidatingPolicies)
	should := policyRules(validatingPolicy, Should, docValidatingPolicies)
	return []Case{
		must("AP-01", "a create, update, patch or apply that violates a validation is denied", "the cluster stays within the policy", checkPolicyDenials),
		must("AP-01/custom", "policies apply to custom resources", "the cluster stays within the policy", checkPolicyOfCustomResources),
		must("AP-02", "a policy without a binding does nothing", "a policy can be prepared before it is used", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.data.k != '1'"))
			binding := q.bindings[0]
			if err := a.check(ctx, these(q.unbound()), send(a.try("x", "k", "1"), code(201))); err != nil {
				return err
			}
			if err := a.change(ctx, q.kind, post(policyBindingsPath(q.kind), binding)); err != nil {
				return err
			}
			return a.s.expect(ctx, a.try("x", "k", "1"), a.denied("x", "a", "failed expression: object.data.k != '1'").check)
		}),
		must("AP-03", "a binding of a policy that does not exist does nothing until the policy is created", "both may be created in any order", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.data.k != '1'"))
			if err := a.change(ctx, q.kind, post(policyBindingsPath(q.kind), q.bindings[0])); err != nil {
				return err
			}
			if err := a.s.expect(ctx, a.try("x", "k", "1"), code(201)); err != nil {
				return err
			}
			if err := a.change(ctx, q.kind, post(policiesPath(q.kind), q.body())); err != nil {
				return err
			}
			return a.s.expect(ctx, a.try("x", "k", "1"), a.denied("x", "a", "failed expression: object.data.k != '1'").check)
		}),
		must("AP-04", "every binding of a policy applies it on its own", "a policy has several scopes", checkSeveralBindings),
		must("AP-05", "a policy whose binding is deleted does nothing", "a policy can be switched off", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.data.k != '1'"))
			return a.checkDeletion(ctx, q, q.bindingPath())
		}),
		must("AP-05/policy", "a policy that is deleted does nothing", "a policy can be removed", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.data.k != '1'"))
			return a.checkDeletion(ctx, q, q.path())
		}),
		must("AP-06", "an update of a policy becomes effective", "a policy can be corrected", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.data.k != '1'"))
			if err := a.check(ctx, these(q), send(a.try("x", "k", "1"), code(422))); err != nil {
				return err
			}
			patch := object{"spec": object{"validations": []object{valid("object.data.k != '2'")}}}
			if err := a.change(ctx, q.kind, mergePatch(q.path(), patch)); err != nil {
				return err
			}
			return a.s.expectAll(ctx,
				send(a.try("x", "k", "1"), code(201)),
				send(a.try("x", "k", "2"), a.denied("x", "a", "failed expression: object.data.k != '2'").check),
			)
		}),
		must("AP-06/binding", "an update of a binding becomes effective", "a policy can be tried with Warn and then be enforced", func(ctx context.Context, a *admission) error {
			q := a.validating("a", invalid("'no'")).actions("Warn")
			if err := a.check(ctx, these(q), send(a.try("x"), code(201), warningsAre(a.warning("a", "no")))); err != nil {
				return err
			}
			if err := a.change(ctx, q.kind, mergePatch(q.bindingPath(), object{"spec": object{"validationActions": []string{"Deny"}}})); err != nil {
				return err
			}
			return a.s.expect(ctx, a.try("x"), a.denied("x", "a", "no").check, warningsAre())
		}),
		should("AP-07", "only the first validation that fails is reported", "the response is that of other servers", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("true"), invalid("'first'"), invalid("'second'"))
			return a.check(ctx, these(q), send(a.try("x"), a.denied("x", "a", "first").check))
		}),
		must("AP-08", "with Warn a violation is a warning, one for each validation", "warnings show violations before a policy is enforced", func(ctx context.Context, a *admission) error {
			q := a.validating("a", invalid("'one'"), valid("true"), invalid("'two'")).actions("Warn")
			return a.check(ctx, these(q), send(a.create("x"), code(201), warningsAre(a.warning("a", "one"), a.warning("a", "two"))),
				send(get(a.item("x")), code(200)))
		}),
		must("AP-08/audit", "with Warn and Audit a violation is a warning", "both are wanted", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.validating("a", invalid("'no'")).actions("Warn", "Audit")), send(a.try("x"), code(201), warningsAre(a.warning("a", "no"))))
		}),
		must("AP-09", "with Audit a violation does not change the response", "a policy is evaluated without disturbing users", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.validating("a", invalid("'no'")).actions("Audit"), a.validating("b", valid("object.data.k != '1'"))),
				send(a.try("x", "k", "0"), code(201), warningsAre()),
				send(a.try("x", "k", "1"), a.denied("x", "b", "failed expression: object.data.k != '1'").check))
		}),
		must("AP-09/deny", "with Deny and Audit a violation is denied", "both are wanted", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.validating("a", invalid("'no'")).actions("Deny", "Audit")), send(a.try("x"), a.denied("x", "a", "no").check, warningsAre()))
		}),
		must("AP-10", "the message of a validation is reported; without one the expression is", "the user can find the error", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.validating("a", valid("object.data.k != '1'").with("message", "must not be 1"), valid("object.data.k != '2'"))),
				send(a.try("x", "k", "1"), a.denied("x", "a", "must not be 1").check),
				send(a.try("x", "k", "2"), a.denied("x", "a", "failed expression: object.data.k != '2'").check))
		}),
		must("AP-11", "messageExpression is used instead of message", "messages contain values", func(ctx context.Context, a *admission) error {
			v := invalid("object.metadata.name + ' has ' + object.data.k + ', not ' + variables.want").with("message", "plain")
			return a.check(ctx, these(a.validating("a", v).with("variables", []object{variable("want", "'2'")})),
				send(a.try("x", "k", "1"), a.denied("x", "a", "x has 1, not 2").check),
				send(a.try("y", "k", "3"), a.denied("y", "a", "y has 3, not 2").check))
		}),
		must("AP-12", "a messageExpression that fails is ignored", "the denial does not depend on it", func(ctx context.Context, a *admission) error {
			failing := "'no ' + object.data.missing"
			return a.check(ctx, these(a.validating("a", invalid(failing).with("message", "plain").with("expression", "object.data.k != '1'"), invalid(failing))),
				send(a.try("x", "k", "1"), a.denied("x", "a", "plain").check),
				send(a.try("x", "k", "2"), a.denied("x", "a", "failed expression: false").check))
		}),
		must("AP-12/empty", "a messageExpression whose value is empty, blank or has line breaks is ignored", "the message is one line of text",
			func(ctx context.Context, a *admission) error {
				v := invalid("string(object.data.message)").with("message", "plain")
				return a.check(ctx, these(a.validating("a", v)),
					send(a.try("x", "message", ""), a.denied("x", "a", "plain").check),
					send(a.try("x", "message", "  "), a.denied("x", "a", "plain").check),
					send(a.try("x", "message", "a\nb"), a.denied("x", "a", "plain").check),
					send(a.try("x", "message", "a b"), a.denied("x", "a", "a b").check))
			}),
		must("AP-13", "the reason of a validation is that of the response, with its code; the default is Invalid", "clients act on codes", func(ctx context.Context, a *admission) error {
			of := func(k, reason string) object {
				return valid("object.data.k != '"+k+"'").with("message", "no").with("reason", reason)
			}
			want := a.denied("x", "a", "no")
			return a.check(ctx, these(a.validating("a", of("1", "Forbidden"), of("2", "Invalid"), of("3", "RequestEntityTooLarge"), valid("object.data.k != '4'").with("message", "no"))),
				send(a.try("x", "k", "1"), want.withReason(http.StatusForbidden, metav1.StatusReasonForbidden).check),
				send(a.try("x", "k", "2"), want.check),
				send(a.try("x", "k", "3"), want.withReason(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge).check),
				send(a.try("x", "k", "4"), want.check))
		}),
		must("AP-14", "all policies apply to a request", "policies are independent", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.validating("a", valid("object.data.k != '1'")), a.validating("b", valid("object.data.k != '2'")), a.validating("w", invalid("'warned'")).actions("Warn")),
				send(a.try("x", "k", "0"), code(201), warningsAre(a.warning("w", "warned"))),
				send(a.try("x", "k", "1"), a.denied("x", "a", "failed expression: object.data.k != '1'").check, warningsAre(a.warning("w", "warned"))),
				send(a.try("x", "k", "2"), a.denied("x", "b", "failed expression: object.data.k != '2'").check))
		}),
		must("AP-15", "a policy may have audit annotations instead of validations", "the audit log is not part of the response", func(ctx context.Context, a *admission) error {
			q := a.validating("a").with("auditAnnotations", []object{{"key": "k", "valueExpression": "'the value is ' + object.data.k"}})
			delete(q.spec, "validations")
			failed := a.denied("x", "a", "expression ''the value is ' + object.data.k' resulted in error: no such key: k")
			return a.check(ctx, these(q),
				send(a.try("x", "k", "1"), code(201), warningsAre()),
				send(a.try("x", "other", "1"), failed.check))
		}),
	}
}

func checkPolicyDenials(ctx context.Context, a *admission) error {
	want := func(name string) expectation { return a.denied(name, "a", "k must not be 1").check }
	labels := object{"metadata": object{"labels": object{"a": "b"}}}
	one := object{"data": object{"k": "1"}}
	return a.check(ctx, these(a.validating("a", valid("object.data.k != '1'").with("message", "k must not be 1"))),
		send(a.create("x", "k", "1"), want("x")),
		send(get(a.item("x")), code(404)),
		send(a.create("x", "k", "2"), code(201)),
		send(put(a.item("x"), a.object("x").withData("k", "1")), want("x")),
		send(mergePatch(a.item("x"), one), want("x")),
		send(strategicPatch(a.item("x"), one), want("x")),
		send(jsonPatch(a.item("x"), setOp("/data/k", "1")), want("x")),
		send(apply(a.item("x"), a.object("x").withData("k", "1")).withQuery("force=true"), want("x")),
		send(apply(a.item("y"), a.object("y").withData("k", "1")), want("y")),
		send(mergePatch(a.item("x"), labels), code(200), field("2", "data", "k")),
		send(put(a.item("x"), a.object("x").withData("k", "3")), code(200)),
	)
}

func checkPolicyOfCustomResources(ctx context.Context, a *admission) error {
	gadgets, err := a.s.dataCRs(ctx)
	if err != nil {
		return err
	}
	c := a.of(gadgets)
	want := a.deniedIn(c, "x", "a", "size 7 is too large").check
	q := a.validating("a", valid("object.spec.size < 5").with("messageExpression", "'size ' + string(object.spec.size) + ' is too large'")).on(ruleFor(c))
	return a.check(ctx, these(q),
		send(post(c.path(), c.withSpec("x", object{"size": 7})), want),
		send(post(c.path(), c.withSpec("x", object{"size": 4})), code(201)),
		send(mergePatch(c.item("x"), object{"spec": object{"size": 7}}), want),
		send(apply(c.item("x"), c.withSpec("x", object{"size": 7})).withQuery("force=true"), want),
		send(mergePatch(c.item("x"), object{"spec": object{"size": 3}}), code(200)),
	)
}

func checkSeveralBindings(ctx context.Context, a *admission) error {
	q := a.validating("a", valid("object.data.k != '1'").with("message", "no")).bind("matchResources", object{"objectSelector": object{"matchLabels": object{"to": "deny"}}})
	second := a.binding(q.kind, "b", "a", "Warn")
	second["spec"].(object)["matchResources"] = object{"objectSelector": object{"matchLabels": object{"to": "warn"}}}
	q.bindings = append(q.bindings, second)
	by := "ValidatingAdmissionPolicy '" + a.name("a") + "' with binding '" + a.name("b") + "'"
	labeled := func(to string) call {
		return a.dryRunCreate(a.object("x").withLabel("to", to).withData("k", "1"))
	}
	return a.check(ctx, these(q),
		send(labeled("deny"), a.denied("x", "a", "no").check, warningsAre()),
		send(labeled("warn"), code(201), warningsAre("Validation failed for "+by+": no")),
		send(labeled("nothing"), code(201), warningsAre()),
	)
}

// checkDeletion checks that a policy, which denies data with k=1, does nothing after the object at
// a path is deleted.
func (a *admission) checkDeletion(ctx context.Context, q *policy, path string) error {
	if err := a.check(ctx, these(q), send(a.try("x", "k", "1"), a.denied("x", "a", "failed expression: object.data.k != '1'").check)); err != nil {
		return err
	}
	if err := a.change(ctx, q.kind, del(path)); err != nil {
		return err
	}
	return a.s.expect(ctx, a.try("x", "k", "1"), code(201))
}
