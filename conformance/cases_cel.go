package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docCELRules = docCRDs + ", Validation rules"

// celRuleCases returns the cases about validation rules in CEL (CD-12).
func celRuleCases() []Case {
	about := func(id, title, why string, spec object, check perCaseCheck) Case {
		return onCRDPerCase(Case{ID: id, Level: Should, Title: title, Why: why, Source: docCELRules}, object{"spec": spec}, check)
	}
	rule := func(rule, message string) object { return object{"rule": rule, "message": message} }
	invalid := metav1.CauseTypeFieldValueInvalid
	rejected := func(c collection, causes ...metav1.StatusCause) expectation {
		return c.invalidField("a", causes...).check
	}
	return []Case{
		about("CD-12", "an object that violates a rule is rejected with the message of the rule", "the user can find the error",
			objectSchema(object{"least": typeSchema("integer"), "most": typeSchema("integer")}).withRules(rule("self.least <= self.most", "least must not be above most"), object{"rule": "self.least != 7"}),
			checkBrokenRules),
		about("CD-12/message", "messageExpression is used for the message; message is used if it fails", "messages contain values", objectSchema(object{
			"word": typeSchema("string").with("maxLength", 9).withRules(object{"rule": "self != 'x'", "messageExpression": "'no ' + self", "message": "wrong"}),
			"list": arraySchema(typeSchema("integer")).with("maxItems", 5).withRules(object{"rule": "size(self) < 2", "messageExpression": "['a'][size(self)]", "message": "too long"}),
		}), func(ctx context.Context, d crdPerCase, c collection) error {
			return d.s.expectAll(ctx,
				send(c.dryRunCreate(c.withSpec("a", object{"word": "x"})), rejected(c, cause(invalid, "spec.word", `Invalid value: "x": no x`))),
				send(c.dryRunCreate(c.withSpec("a", object{"list": []int{1, 2}})), rejected(c, cause(invalid, "spec.list", ": too long"))),
			)
		}),
		about("CD-12/reason", "a rule may set the reason and the field path of its cause", "the cause leads to the invalid field", objectSchema(object{"least": typeSchema("integer"), "most": typeSchema("integer")}).withRules(
			object{"rule": "!has(self.least) || self.least < 5", "reason": "FieldValueForbidden", "fieldPath": ".least"},
			object{"rule": "!has(self.most) || self.most < 5", "reason": "FieldValueDuplicate", "fieldPath": ".most", "message": "twice"},
			object{"rule": "has(self.least)", "reason": "FieldValueRequired", "fieldPath": ".least"},
		), func(ctx context.Context, d crdPerCase, c collection) error {
			return d.s.expectAll(ctx,
				send(c.dryRunCreate(c.withSpec("a", object{"least": 5, "most": 6})), rejected(c,
					cause(metav1.CauseTypeForbidden, "spec.least", "failed rule: !has(self.least) || self.least < 5"),
					cause(metav1.CauseTypeFieldValueDuplicate, "spec.most", "Duplicate value"))),
				send(c.dryRunCreate(c.withSpec("a", object{})), rejected(c, cause(metav1.CauseTypeFieldValueRequired, "spec.least", "failed rule: has(self.least)"))),
			)
		}),
		about("CD-12/items", "a rule of an item reports the path of the item", "the user can find the error", objectSchema(object{
			"list": arraySchema(objectSchema(object{"size": typeSchema("integer")}).withRules(rule("self.size > 0", "too small"))).with("maxItems", 9),
			"map":  mapSchema(typeSchema("string").with("maxLength", 9).withRules(rule("self != 'x'", "no x"))).with("maxProperties", 9),
		}), func(ctx context.Context, d crdPerCase, c collection) error {
			return d.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{"list": []object{{"size": 1}, {"size": 0}}, "map": object{"k": "x"}})),
				rejected(c, cause(invalid, "spec.list[1]", "too small"), cause(invalid, "spec.map[k]", "no x")))
		}),
		about("CD-12/transition", "a rule that uses oldSelf applies to updates only", "it makes fields immutable",
			objectSchema(object{"fixed": typeSchema("string").withRules(rule("self == oldSelf", "fixed is immutable")), "size": typeSchema("integer")}),
			func(ctx context.Context, d crdPerCase, c collection) error {
				return d.s.expectAll(ctx,
					send(post(c.path(), c.withSpec("a", object{"size": 1})), code(201)),
					send(mergePatch(c.item("a"), object{"spec": object{"fixed": "x"}}), code(200)),
					send(mergePatch(c.item("a"), object{"spec": object{"size": 2}}), code(200)),
					send(mergePatch(c.item("a"), object{"spec": object{"fixed": "y"}}), rejected(c, cause(invalid, "spec.fixed", "fixed is immutable"))),
					send(mergePatch(c.item("a"), object{"spec": object{"fixed": nil}}), code(200)),
				)
			}),
		about("CD-12/optional", "with optionalOldSelf, a rule also applies to new values", "a field may be restricted from its creation on",
			objectSchema(object{"fixed": typeSchema("string").withRules(rule("oldSelf.hasValue() || self == 'new'", "must begin as new").with("optionalOldSelf", true))}),
			func(ctx context.Context, d crdPerCase, c collection) error {
				return d.s.expectAll(ctx,
					send(post(c.path(), c.withSpec("a", object{"fixed": "old"})), rejected(c, cause(invalid, "spec.fixed", "must begin as new"))),
					send(post(c.path(), c.withSpec("a", object{"fixed": "new"})), code(201)),
					send(mergePatch(c.item("a"), object{"spec": object{"fixed": "old"}}), code(200)),
				)
			}),
		onCRDPerCase(Case{
			ID: "CD-12/root", Level: Should, Title: "a rule at the root can use the name, and the status at its subresource", Why: "names may have a meaning for the owner of the schema", Source: docCELRules,
		}, object{"status": objectSchema(object{"phase": typeSchema("string")}), "spec": anySchema()}, checkRootRules),
		about("CD-12/first", "rules are evaluated only if the object matches the schema", "a rule may rely on the types", objectSchema(object{"size": typeSchema("integer").with("maximum", 5), "n": typeSchema("integer")}).
			withRules(rule("self.n > 0", "too small")), func(ctx context.Context, d crdPerCase, c collection) error {
			return d.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{"size": "x", "n": 0})), rejected(c, cause(metav1.CauseTypeTypeInvalid, "spec.size", "must be of type integer"),
				cause(invalid, "<nil>", "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")))
		}),
		about("CD-12/library", "rules can use the CEL libraries of Kubernetes", "existing rules use them", objectSchema(object{"s": typeSchema("string"), "q": typeSchema("string")}).withRules(
			rule("!has(self.s) || isURL(self.s) && url(self.s).getHostname() == 'example.com'", "not ours"), rule("!has(self.q) || quantity(self.q).isLessThan(quantity('1Gi'))", "too much"),
		), func(ctx context.Context, d crdPerCase, c collection) error {
			return d.s.expectAll(ctx,
				send(c.dryRunCreate(c.withSpec("a", object{"s": "https://example.com/x", "q": "512Mi"})), code(201)),
				send(c.dryRunCreate(c.withSpec("a", object{"s": "https://example.org/x", "q": "2Gi"})), rejected(c, cause(invalid, "spec", "not ours"), cause(invalid, "spec", "too much"))),
			)
		}),
		about("CD-12/error", "a rule whose evaluation fails rejects the object, with the error", "the owner of the schema can find the error", objectSchema(object{"size": typeSchema("integer")}).withRules(rule("self.size > 0", "too small")),
			func(ctx context.Context, d crdPerCase, c collection) error {
				return d.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{})), rejected(c, cause(invalid, "spec", "no such key: size evaluating rule: too small")))
			}),
		withCRDPerCase(Case{
			ID: "CD-12/compile", Level: Should, Title: "a CRD with a rule that does not compile is rejected", Why: "the owner of the schema can find the error", Source: docCELRules,
		}, object{}, checkRuleCompilation),
		withCRDPerCase(Case{
			ID: "CD-12/cost", Level: Should, Title: "a CRD with a rule that may be too expensive is rejected", Why: "evaluating an object must not block the server", Source: docCELRules,
		}, object{"list": arraySchema(arraySchema(typeSchema("string"))).withRules(object{"rule": "self.all(x, self.all(y, x == y))"})}, func(ctx context.Context, d crdPerCase) error {
			return d.create(ctx, code(422), hasCause(cause(metav1.CauseTypeForbidden, "spec.validation.openAPIV3Schema.properties[list].x-kubernetes-validations[0].rule", "estimated rule cost exceeds budget")))
		}),
	}
}

func checkBrokenRules(ctx context.Context, d crdPerCase, c collection) error {
	invalid := metav1.CauseTypeFieldValueInvalid
	broken, seven := object{"least": 2, "most": 1}, object{"least": 7, "most": 7}
	order := c.invalidField("a", cause(invalid, "spec", "Invalid value: least must not be above most")).check
	return d.s.expectAll(ctx,
		send(post(c.path(), c.withSpec("a", broken)), order),
		send(post(c.path(), c.withSpec("a", seven)), c.invalidField("a", cause(invalid, "spec", "failed rule: self.least != 7")).check),
		send(post(c.path(), c.withSpec("a", object{"least": 1, "most": 1})), code(201)),
		send(mergePatch(c.item("a"), object{"spec": object{"least": 2}}), order),
		send(apply(c.item("a"), c.withSpec("a", broken)).withQuery("force=true"), order),
	)
}

func checkRootRules(ctx context.Context, d crdPerCase, c collection) error {
	invalid := metav1.CauseTypeFieldValueInvalid
	err := d.patch(ctx, setOp("/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations", []object{
		{"rule": "self.metadata.name.startsWith('g-')", "message": "must begin with g-"},
		{"rule": "!has(self.status) || !has(self.status.phase) || self.status.phase != 'bad'", "message": "must not be bad"},
	}))
	if err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, c.dryRunCreate(c.object("a")), c.invalidField("a", cause(invalid, "<nil>", "must begin with g-")).check); err != nil {
		return err
	}
	return d.s.expectAll(ctx,
		send(post(c.path(), c.object("g-a")), code(201)),
		send(mergePatch(c.item("g-a")+"/status", object{"status": object{"phase": "bad"}}), c.invalidField("g-a", cause(invalid, "<nil>", "must not be bad")).check),
		send(mergePatch(c.item("g-a")+"/status", object{"status": object{"phase": "good"}}), code(200)),
	)
}

func checkRuleCompilation(ctx context.Context, d crdPerCase) error {
	const at = "spec.validation.openAPIV3Schema.x-kubernetes-validations[0]"
	invalid := metav1.CauseTypeFieldValueInvalid
	for _, one := range []struct {
		rule  object
		cause metav1.StatusCause
	}{
		{object{"rule": "self.nope > 1"}, cause(invalid, at+".rule", "undefined field 'nope'")},
		{object{"rule": "self.size"}, cause(invalid, at+".rule", "cel expression must evaluate to a bool")},
		{object{"rule": "self.size ="}, cause(invalid, at+".rule", "Syntax error")},
		{object{"rule": ""}, cause(metav1.CauseTypeFieldValueRequired, at+".rule", "rule is not specified")},
		{object{"rule": "true", "messageExpression": "1"}, cause(invalid, at+".messageExpression", "messageExpression must evaluate to a string")},
		{object{"rule": "true", "fieldPath": ".nope"}, cause(invalid, at+".fieldPath", "must be a valid path")},
	} {
		d.schema(0)["properties"] = object{"size": typeSchema("integer")}
		d.schema(0)["x-kubernetes-validations"] = []object{one.rule}
		if err := d.create(ctx, code(422), hasCause(one.cause)); err != nil {
			return err
		}
	}
	return nil
}
