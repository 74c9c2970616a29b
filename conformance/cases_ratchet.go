package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docRatcheting = docCRDs + ", Validation ratcheting"

// ratchetCases returns the cases about stored values that the schema no longer allows (CD-13).
func ratchetCases() []Case {
	about := func(id, title, why string, spec object, check perCaseCheck) Case {
		return onCRDPerCase(Case{ID: id, Level: Should, Title: title, Why: why, Source: docRatcheting}, object{"spec": objectSchema(spec)}, check)
	}
	invalid := metav1.CauseTypeFieldValueInvalid
	return []Case{
		about("CD-13", "an existing value that has become invalid may stay unchanged, but not change to another invalid value", "schemas may be tightened while objects exist",
			object{"size": typeSchema("integer"), "color": typeSchema("string")}, func(ctx context.Context, d crdPerCase, c collection) error {
				err := d.tighten(ctx, c, object{"size": 9}, object{"size": 10}, setOp(propertyPath("spec/properties/size/maximum"), 5))
				if err != nil {
					return err
				}
				return d.s.expectAll(ctx,
					send(mergePatch(c.item("a"), object{"spec": object{"color": "red"}}), code(200), valueAt(object{"size": 9, "color": "red"}, "spec")),
					send(mergePatch(c.item("a"), object{"metadata": object{"labels": object{"x": "y"}}}), code(200)),
					send(mergePatch(c.item("a"), object{"spec": object{"size": 8}}), c.invalidField("a", cause(invalid, "spec.size", "should be less than or equal to 5")).check),
					send(mergePatch(c.item("a"), object{"spec": object{"size": 5}}), code(200)),
					send(mergePatch(c.item("a"), object{"spec": object{"size": 9}}), code(422)),
				)
			}),
		about("CD-13/create", "a new object must be valid whatever exists", "ratcheting applies to existing values only", object{"size": typeSchema("integer")},
			func(ctx context.Context, d crdPerCase, c collection) error {
				err := d.tighten(ctx, c, object{"size": 9}, object{"size": 9}, setOp(propertyPath("spec/properties/size/maximum"), 5))
				if err != nil {
					return err
				}
				return d.s.expect(ctx, post(c.path(), c.withSpec("b", object{"size": 9})), c.invalidField("b", cause(invalid, "spec.size", "should be less than or equal to 5")).check)
			}),
		about("CD-13/items", "existing items of a list with keys are identified by key, those of other lists are not", "a list may grow while an existing item is invalid",
			object{"parts": keyedListSchema(), "plain": arraySchema(typeSchema("integer"))}, checkRatchetedItems),
		about("CD-13/rules", "an existing value that violates a new rule may stay unchanged", "schemas may be tightened while objects exist",
			object{"word": typeSchema("string"), "color": typeSchema("string")}, func(ctx context.Context, d crdPerCase, c collection) error {
				rule := []object{{"rule": "self.startsWith('g')", "message": "must begin with g"}}
				err := d.tighten(ctx, c, object{"word": "x"}, object{"word": "y"}, setOp(propertyPath("spec/properties/word/x-kubernetes-validations"), rule))
				if err != nil {
					return err
				}
				return d.s.expectAll(ctx,
					send(mergePatch(c.item("a"), object{"spec": object{"color": "red"}}), code(200), warningsAre(`spec.word: Invalid value: "x": must begin with g`)),
					send(mergePatch(c.item("a"), object{"spec": object{"word": "z"}}), c.invalidField("a", cause(invalid, "spec.word", "must begin with g")).check),
				)
			}),
		about("CD-13/transition", "rules that use oldSelf also apply to unchanged values", "such a rule validates the transition",
			object{"word": typeSchema("string"), "color": typeSchema("string")}, func(ctx context.Context, d crdPerCase, c collection) error {
				rule := []object{{"rule": "self != oldSelf || self == 'free'", "message": "must change"}}
				err := d.tighten(ctx, c, object{"word": "x"}, nil, setOp(propertyPath("spec/properties/word/x-kubernetes-validations"), rule))
				if err != nil {
					return err
				}
				stuck := c.invalidField("a", cause(invalid, "spec.word", "must change")).check
				return d.s.waitFor(ctx, mergePatch(c.item("a"), object{"spec": object{"color": "red"}}).withQuery("dryRun=All"), stuck)
			}),
		about("CD-13/required", "a new required field is required only in a part of the object that changes", "schemas may be tightened while objects exist",
			object{"inner": objectSchema(object{"x": typeSchema("integer"), "y": typeSchema("integer")}), "color": typeSchema("string")}, func(ctx context.Context, d crdPerCase, c collection) error {
				err := d.tighten(ctx, c, object{"inner": object{"x": 1}}, object{"inner": object{"x": 1}}, setOp(propertyPath("spec/properties/inner/required"), []string{"y"}))
				if err != nil {
					return err
				}
				return d.s.expectAll(ctx,
					send(mergePatch(c.item("a"), object{"spec": object{"color": "red"}}), code(200)),
					send(mergePatch(c.item("a"), object{"spec": object{"inner": object{"x": 2}}}), c.invalidField("a", cause(metav1.CauseTypeFieldValueRequired, "spec.inner.y", "Required value")).check),
				)
			}),
	}
}

// tighten creates an object "a" with spec, changes the definition, and waits until an object with
// the spec refused is rejected. It does not wait if refused is nil.
func (d crdPerCase) tighten(ctx context.Context, c collection, spec, rejected object, changes ...object) error {
	if _, err := c.create(ctx, c.withSpec("a", spec)); err != nil {
		return err
	}
	if err := d.patch(ctx, changes...); err != nil || rejected == nil {
		return err
	}
	return d.s.waitFor(ctx, c.dryRunCreate(c.withSpec("b", rejected)), code(422))
}

func checkRatchetedItems(ctx context.Context, d crdPerCase, c collection) error {
	part := func(name string, port int) object { return object{"name": name, "port": port} }
	err := d.tighten(ctx, c, object{"parts": []object{part("Old", 1)}, "plain": []int{9}}, object{"parts": []object{part("Old", 1)}},
		setOp(propertyPath("spec/properties/parts/items/properties/name/pattern"), "^[a-z]*$"), setOp(propertyPath("spec/properties/plain/items/maximum"), 5))
	if err != nil {
		return err
	}
	parts := func(parts ...object) call { return mergePatch(c.item("a"), object{"spec": object{"parts": parts}}) }
	invalid := metav1.CauseTypeFieldValueInvalid
	return d.s.expectAll(ctx,
		send(parts(part("new", 2), part("Old", 1)), code(200)),
		send(parts(part("new", 2), part("Old", 1), part("New", 1)), c.invalidField("a", cause(invalid, "spec.parts[2].name", "should match")).check),
		send(mergePatch(c.item("a"), object{"spec": object{"plain": []int{9, 1}}}), c.invalidField("a", cause(invalid, "spec.plain[0]", "should be less than or equal to 5")).check),
	)
}
