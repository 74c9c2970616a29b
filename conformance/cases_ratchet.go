package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docRatcheting = docDefinitions + ", Validation ratcheting"

// ratchetCases are about values that were valid once, and are not by the definition of now (CD-13).
func ratchetCases() []Case {
	about := func(id, title, why string, spec object, check gearCheck) Case {
		return onGears(Case{ID: id, Level: Should, Title: title, Why: why, Source: docRatcheting}, object{"spec": record(spec)}, check)
	}
	invalid := metav1.CauseTypeFieldValueInvalid
	return []Case{
		about("CD-13", "an old value that is invalid by now stays while it is not changed, and may not become another that is invalid", "definitions may be tightened under objects that are there",
			object{"size": typed("integer"), "color": typed("string")}, func(ctx context.Context, d definition, c collection) error {
				err := d.tightened(ctx, c, object{"size": 9}, object{"size": 10}, set(property("spec/properties/size/maximum"), 5))
				if err != nil {
					return err
				}
				return d.s.all(ctx,
					ask(mergePatch(c.item("a"), object{"spec": object{"color": "red"}}), code(200), holds(object{"size": 9, "color": "red"}, "spec")),
					ask(mergePatch(c.item("a"), object{"metadata": object{"labels": object{"x": "y"}}}), code(200)),
					ask(mergePatch(c.item("a"), object{"spec": object{"size": 8}}), c.invalidField("a", cause(invalid, "spec.size", "should be less than or equal to 5")).check),
					ask(mergePatch(c.item("a"), object{"spec": object{"size": 5}}), code(200)),
					ask(mergePatch(c.item("a"), object{"spec": object{"size": 9}}), code(422)),
				)
			}),
		about("CD-13/create", "a new object has to be valid, whatever others there are", "the past excuses only itself", object{"size": typed("integer")},
			func(ctx context.Context, d definition, c collection) error {
				err := d.tightened(ctx, c, object{"size": 9}, object{"size": 9}, set(property("spec/properties/size/maximum"), 5))
				if err != nil {
					return err
				}
				return d.s.try(ctx, post(c.path(), c.gear("b", object{"size": 9})), c.invalidField("b", cause(invalid, "spec.size", "should be less than or equal to 5")).check)
			}),
		about("CD-13/items", "old items of a list with keys are known by their keys, those of other lists by nothing", "a list may grow while an old item is invalid",
			object{"parts": keyed(), "plain": listOf(typed("integer"))}, ratchetedItems),
		about("CD-13/rules", "an old value that breaks a new rule stays while it is not changed", "definitions may be tightened under objects that are there",
			object{"word": typed("string"), "color": typed("string")}, func(ctx context.Context, d definition, c collection) error {
				rule := []object{{"rule": "self.startsWith('g')", "message": "must begin with g"}}
				err := d.tightened(ctx, c, object{"word": "x"}, object{"word": "y"}, set(property("spec/properties/word/x-kubernetes-validations"), rule))
				if err != nil {
					return err
				}
				return d.s.all(ctx,
					ask(mergePatch(c.item("a"), object{"spec": object{"color": "red"}}), code(200), warns(`spec.word: Invalid value: "x": must begin with g`)),
					ask(mergePatch(c.item("a"), object{"spec": object{"word": "z"}}), c.invalidField("a", cause(invalid, "spec.word", "must begin with g")).check),
				)
			}),
		about("CD-13/transition", "rules that name oldSelf hold for what is not changed, too", "such a rule judges the change, and there is one around it",
			object{"word": typed("string"), "color": typed("string")}, func(ctx context.Context, d definition, c collection) error {
				rule := []object{{"rule": "self != oldSelf || self == 'free'", "message": "must change"}}
				err := d.tightened(ctx, c, object{"word": "x"}, nil, set(property("spec/properties/word/x-kubernetes-validations"), rule))
				if err != nil {
					return err
				}
				stuck := c.invalidField("a", cause(invalid, "spec.word", "must change")).check
				return d.s.until(ctx, mergePatch(c.item("a"), object{"spec": object{"color": "red"}}).query("dryRun=All"), stuck)
			}),
		about("CD-13/required", "a field that is required by now is missed in a part that is changed only", "definitions may be tightened under objects that are there",
			object{"inner": record(object{"x": typed("integer"), "y": typed("integer")}), "color": typed("string")}, func(ctx context.Context, d definition, c collection) error {
				err := d.tightened(ctx, c, object{"inner": object{"x": 1}}, object{"inner": object{"x": 1}}, set(property("spec/properties/inner/required"), []string{"y"}))
				if err != nil {
					return err
				}
				return d.s.all(ctx,
					ask(mergePatch(c.item("a"), object{"spec": object{"color": "red"}}), code(200)),
					ask(mergePatch(c.item("a"), object{"spec": object{"inner": object{"x": 2}}}), c.invalidField("a", cause(metav1.CauseTypeFieldValueRequired, "spec.inner.y", "Required value")).check),
				)
			}),
	}
}

// tightened creates an object "a" of this spec, changes the definition, and waits until an object of the other spec is refused.
func (d definition) tightened(ctx context.Context, c collection, spec, refused object, changes ...object) error {
	if _, err := c.create(ctx, c.gear("a", spec)); err != nil {
		return err
	}
	if err := d.change(ctx, changes...); err != nil || refused == nil {
		return err
	}
	return d.s.until(ctx, c.trial(c.gear("b", refused)), code(422))
}

func ratchetedItems(ctx context.Context, d definition, c collection) error {
	part := func(name string, port int) object { return object{"name": name, "port": port} }
	err := d.tightened(ctx, c, object{"parts": []object{part("Old", 1)}, "plain": []int{9}}, object{"parts": []object{part("Old", 1)}},
		set(property("spec/properties/parts/items/properties/name/pattern"), "^[a-z]*$"), set(property("spec/properties/plain/items/maximum"), 5))
	if err != nil {
		return err
	}
	parts := func(parts ...object) call { return mergePatch(c.item("a"), object{"spec": object{"parts": parts}}) }
	invalid := metav1.CauseTypeFieldValueInvalid
	return d.s.all(ctx,
		ask(parts(part("new", 2), part("Old", 1)), code(200)),
		ask(parts(part("new", 2), part("Old", 1), part("New", 1)), c.invalidField("a", cause(invalid, "spec.parts[2].name", "should match")).check),
		ask(mergePatch(c.item("a"), object{"spec": object{"plain": []int{9, 1}}}), c.invalidField("a", cause(invalid, "spec.plain[0]", "should be less than or equal to 5")).check),
	)
}
