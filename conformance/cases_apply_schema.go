package conformance

import (
	"context"
	"slices"
)

const docMerge = "Kubernetes documentation, Server-Side Apply, Merge strategy"

// applySchemaCases are about how apply merges by the schema of the object (SA).
func applySchemaCases() []Case {
	typed := func(c Case, check collectionCheck) Case {
		c.ID += "/typed"
		return on((*session).replicaSets, c, check)
	}
	custom := func(c Case, check collectionCheck) Case {
		c.ID += "/custom"
		return on((*session).gadgets, c, check)
	}
	duplicates := Case{
		ID: "SA-16", Level: Must, Title: "an apply with two items of one key is an error of the server",
		Why:    "nobody knows which of the two is meant",
		Source: fieldsetPkg,
	}
	byKey := Case{
		ID: "SA-18", Level: Must, Title: "lists with a key merge by it, and each item has its owners",
		Why:    "two managers may each have their items in one list",
		Source: docMerge,
	}
	whole := Case{
		ID: "SA-19/atomic", Level: Must, Title: "atomic lists and maps have one owner and are replaced whole",
		Why:    "their parts make no sense one without the other",
		Source: docMerge,
	}
	return slices.Concat(
		onMap(Case{
			ID: "SA-17", Level: Must, Title: "an apply of a field that the schema does not have is an error of the server, whatever fieldValidation says",
			Why:    "nobody could own the field",
			Source: fieldsetPkg,
		}, applyUnknown),
		onMaps(Case{
			ID: "SA-19/set", Level: Must, Title: "sets merge by value, and each value has its owners",
			Why:    "two managers may each have their finalizer",
			Source: docMerge,
		}, applySets),
		[]Case{
			typed(duplicates, func(ctx context.Context, s *session, c collection) error {
				twice := replicaSet(c, "a", object{"containers": []object{container("c"), container("c")}})
				return s.all(ctx,
					ask(applyAs("m", c.item("a"), twice), serverError("failed to create typed patch object (/a; apps/v1, Kind=ReplicaSet): "+
						`.spec.template.spec.containers: duplicate entries for key [name="c"]`)),
					ask(get(c.item("a")), code(404)),
				)
			}),
			custom(duplicates, func(ctx context.Context, s *session, c collection) error {
				parts := c.object("a").with("spec", object{"parts": []object{{"name": "c"}, {"name": "c"}}})
				tags := c.object("a").with("spec", object{"tags": []string{"t", "t"}})
				failed := "failed to create typed patch object (/a; " + c.apiVersion + ", Kind=Gadget): "
				return s.all(ctx,
					ask(applyAs("m", c.item("a"), parts), serverError(failed+`.spec.parts: duplicate entries for key [name="c"]`)),
					ask(applyAs("m", c.item("a"), tags), serverError(failed+`.spec.tags: duplicate entries for key [="t"]`)),
					ask(get(c.item("a")), code(404)),
				)
			}),
			typed(byKey, applyTypedItems),
			custom(byKey, applyCustomItems),
			typed(whole, func(ctx context.Context, s *session, c collection) error {
				with := func(zone, key string) object {
					pod := object{"containers": []object{container("c")}, "nodeSelector": object{zone: "1"}}
					pod["tolerations"] = []object{{"key": key, "operator": "Exists"}}
					return replicaSet(c, "a", pod)
				}
				return s.all(ctx,
					ask(applyAs("m1", c.item("a"), with("x", "x")), code(201)),
					ask(applyAs("m2", c.item("a"), with("x", "y")), fieldConflict(`"m1"`, ".spec.template.spec.tolerations").check),
					ask(applyAs("m2", c.item("a"), with("y", "x")), fieldConflict(`"m1"`, ".spec.template.spec.nodeSelector").check),
					ask(applyAs("m2", c.item("a"), with("y", "y")).query("force=true"), code(200),
						holds(object{"y": "1"}, pod("nodeSelector")...), lists([]string{"y"}, "key", pod("tolerations")...)),
				)
			}),
			custom(whole, func(ctx context.Context, s *session, c collection) error {
				with := func(key string) object { return c.object("a").with("spec", object{"whole": object{key: "1"}}) }
				return s.all(ctx,
					ask(applyAs("m1", c.item("a"), with("x")), code(201), owned(applied("m1", `{"f:spec":{"f:whole":{}}}`))),
					ask(applyAs("m2", c.item("a"), with("y")), fieldConflict(`"m1"`, ".spec.whole").check),
					ask(applyAs("m2", c.item("a"), with("y")).query("force=true"), code(200), holds(object{"y": "1"}, "spec", "whole"),
						owned(applied("m2", `{"f:spec":{"f:whole":{}}}`))),
				)
			}),
			custom(Case{
				ID: "SA-20", Level: Must, Title: "without a marker in the schema lists are atomic, and maps are not",
				Why:    "that is what users of a definition without markers get",
				Source: docMerge,
			}, applyUnmarked),
		},
	)
}

// serverError is how kube-apiserver answers an apply that the schema does not allow: it takes the mistake for its own.
func serverError(message string) expectation { return refusal{code: 500, message: message}.check }

func applyUnknown(ctx context.Context, s *session, c collection) error {
	unknown := c.object("a").data("k", "1").with("bogus", 1)
	want := serverError("failed to create typed patch object (/a; " + c.groupVersion() + ", Kind=" + c.kind + "): .bogus: field not declared in schema")
	return s.all(ctx,
		ask(applyAs("m", c.item("a"), unknown), want),
		ask(applyAs("m", c.item("a"), unknown).query("fieldValidation=Ignore"), want),
		ask(applyAs("m", c.item("a"), unknown).query("fieldValidation=Strict"), want),
	)
}

func applySets(ctx context.Context, s *session, c collection) error {
	const other = "conformance.example.com/other"
	fields := func(value string) string { return `{"f:metadata":{"f:finalizers":{"v:\"` + value + `\"":{}}}}` }
	return s.all(ctx,
		ask(applyAs("m1", c.item("a"), c.object("a").held()), code(201), owned(applied("m1", fields(finalizer)))),
		ask(applyAs("m2", c.item("a"), c.object("a").meta("finalizers", []string{other})), code(200),
			holds([]string{finalizer, other}, "metadata", "finalizers"), owned(applied("m1", fields(finalizer)), applied("m2", fields(other)))),
		ask(applyAs("m2", c.item("a"), c.object("a")), code(200),
			holds([]string{finalizer}, "metadata", "finalizers"), owned(applied("m1", fields(finalizer)))),
	)
}

func applyTypedItems(ctx context.Context, s *session, c collection) error {
	alone := func(name string) object {
		return c.object("a").with("spec", object{"template": object{"spec": object{"containers": []object{container(name)}}}})
	}
	item := func(name string) string {
		return `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"` + name + `\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`
	}
	return s.all(ctx,
		ask(applyAs("m1", c.item("a"), replicaSet(c, "a", object{"containers": []object{container("c1")}})), code(201)),
		ask(applyAs("m2", c.item("a"), alone("c2")), code(200), lists([]string{"c1", "c2"}, "name", pod("containers")...),
			owned(applied("m1", ""), applied("m2", item("c2")))),
		ask(applyAs("m2", c.item("a"), alone("c3")), code(200), lists([]string{"c1", "c3"}, "name", pod("containers")...),
			owned(applied("m1", ""), applied("m2", item("c3")))),
	)
}

func applyCustomItems(ctx context.Context, s *session, c collection) error {
	alone := func(name string) object {
		return c.object("a").with("spec", object{"parts": []object{{"name": name, "quantity": 1}}})
	}
	item := func(name string) string {
		return `{"f:spec":{"f:parts":{"k:{\"name\":\"` + name + `\"}":{".":{},"f:name":{},"f:quantity":{}}}}}`
	}
	return s.all(ctx,
		ask(applyAs("m1", c.item("a"), alone("c1")), code(201), owned(applied("m1", item("c1")))),
		ask(applyAs("m2", c.item("a"), alone("c2")), code(200), lists([]string{"c1", "c2"}, "name", "spec", "parts"),
			owned(applied("m1", item("c1")), applied("m2", item("c2")))),
		ask(applyAs("m2", c.item("a"), alone("c3")), code(200), lists([]string{"c1", "c3"}, "name", "spec", "parts"),
			owned(applied("m1", item("c1")), applied("m2", item("c3")))),
	)
}

func applyUnmarked(ctx context.Context, s *session, c collection) error {
	with := func(spec object) object { return c.object("a").with("spec", spec) }
	return s.all(ctx,
		ask(applyAs("m1", c.item("a"), with(object{"plain": []object{{"x": "1"}}}).data("k", "1")), code(201),
			owned(applied("m1", `{"f:data":{"f:k":{}},"f:spec":{"f:plain":{}}}`))),
		ask(applyAs("m2", c.item("a"), with(object{"plain": []object{{"x": "1"}, {"x": "2"}}})), fieldConflict(`"m1"`, ".spec.plain").check),
		ask(applyAs("m2", c.item("a"), c.object("a").data("l", "1")), code(200), holds(object{"k": "1", "l": "1"}, "data")),
	)
}
