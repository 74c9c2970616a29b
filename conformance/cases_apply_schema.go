package conformance

import (
	"context"
	"slices"
)

const docMerge = "Kubernetes documentation, Server-Side Apply, Merge strategy"

// applySchemaCases returns the cases about merging by the schema of the object (SA).
func applySchemaCases() []Case {
	typed := func(c Case, check collectionCheck) Case {
		c.ID += "/typed"
		return onCollection((*session).replicaSets, c, check)
	}
	custom := func(c Case, check collectionCheck) Case {
		c.ID += "/custom"
		return onCollection((*session).dataCRs, c, check)
	}
	duplicates := Case{
		ID: "SA-16", Level: Must, Title: "an apply with two list items of the same key is answered 500",
		Why:    "it is ambiguous which item is meant",
		Source: fieldsetPkg,
	}
	byKey := Case{
		ID: "SA-18", Level: Must, Title: "lists with keys are merged by key, and each item has its own managers",
		Why:    "two managers may own different items of one list",
		Source: docMerge,
	}
	atomic := Case{
		ID: "SA-19/atomic", Level: Must, Title: "atomic lists and maps have one owner and are replaced as a unit",
		Why:    "their parts depend on each other",
		Source: docMerge,
	}
	return slices.Concat(
		onMap(Case{
			ID: "SA-17", Level: Must, Title: "an apply of a field that is not in the schema is answered 500, whatever fieldValidation is",
			Why:    "ownership of the field could not be tracked",
			Source: fieldsetPkg,
		}, checkApplyUnknownField),
		onMaps(Case{
			ID: "SA-19/set", Level: Must, Title: "sets are merged by value, and each value has its own managers",
			Why:    "two managers may each own a finalizer",
			Source: docMerge,
		}, checkApplySet),
		[]Case{
			typed(duplicates, func(ctx context.Context, s *session, c collection) error {
				twice := replicaSet(c, "a", object{"containers": []object{container("c"), container("c")}})
				return s.expectAll(ctx,
					send(applyAs("m", c.item("a"), twice), isServerError("failed to create typed patch object (/a; apps/v1, Kind=ReplicaSet): "+
						`.spec.template.spec.containers: duplicate entries for key [name="c"]`)),
					send(get(c.item("a")), code(404)),
				)
			}),
			custom(duplicates, func(ctx context.Context, s *session, c collection) error {
				parts := c.object("a").with("spec", object{"parts": []object{{"name": "c"}, {"name": "c"}}})
				tags := c.object("a").with("spec", object{"tags": []string{"t", "t"}})
				failed := "failed to create typed patch object (/a; " + c.apiVersion + ", Kind=Gadget): "
				return s.expectAll(ctx,
					send(applyAs("m", c.item("a"), parts), isServerError(failed+`.spec.parts: duplicate entries for key [name="c"]`)),
					send(applyAs("m", c.item("a"), tags), isServerError(failed+`.spec.tags: duplicate entries for key [="t"]`)),
					send(get(c.item("a")), code(404)),
				)
			}),
			typed(byKey, checkApplyTypedListMap),
			custom(byKey, checkApplyCustomListMap),
			typed(atomic, func(ctx context.Context, s *session, c collection) error {
				with := func(zone, key string) object {
					pod := object{"containers": []object{container("c")}, "nodeSelector": object{zone: "1"}}
					pod["tolerations"] = []object{{"key": key, "operator": "Exists"}}
					return replicaSet(c, "a", pod)
				}
				return s.expectAll(ctx,
					send(applyAs("m1", c.item("a"), with("x", "x")), code(201)),
					send(applyAs("m2", c.item("a"), with("x", "y")), fieldConflict(`"m1"`, ".spec.template.spec.tolerations").check),
					send(applyAs("m2", c.item("a"), with("y", "x")), fieldConflict(`"m1"`, ".spec.template.spec.nodeSelector").check),
					send(applyAs("m2", c.item("a"), with("y", "y")).withQuery("force=true"), code(200),
						valueAt(object{"y": "1"}, podTemplatePath("nodeSelector")...), itemsHave([]string{"y"}, "key", podTemplatePath("tolerations")...)),
				)
			}),
			custom(atomic, func(ctx context.Context, s *session, c collection) error {
				with := func(key string) object { return c.object("a").with("spec", object{"whole": object{key: "1"}}) }
				return s.expectAll(ctx,
					send(applyAs("m1", c.item("a"), with("x")), code(201), managedFieldsAre(applyEntry("m1", `{"f:spec":{"f:whole":{}}}`))),
					send(applyAs("m2", c.item("a"), with("y")), fieldConflict(`"m1"`, ".spec.whole").check),
					send(applyAs("m2", c.item("a"), with("y")).withQuery("force=true"), code(200), valueAt(object{"y": "1"}, "spec", "whole"),
						managedFieldsAre(applyEntry("m2", `{"f:spec":{"f:whole":{}}}`))),
				)
			}),
			custom(Case{
				ID: "SA-20", Level: Must, Title: "without x-kubernetes extensions in the schema, lists are atomic and maps are not",
				Why:    "CRDs without the extensions rely on it",
				Source: docMerge,
			}, checkApplyWithoutListType),
		},
	)
}

// isServerError expects the response of kube-apiserver to an apply that violates the schema, which
// is 500.
func isServerError(message string) expectation { return failure{code: 500, message: message}.check }

func checkApplyUnknownField(ctx context.Context, s *session, c collection) error {
	unknown := c.object("a").withData("k", "1").with("bogus", 1)
	want := isServerError("failed to create typed patch object (/a; " + c.groupVersion() + ", Kind=" + c.kind + "): .bogus: field not declared in schema")
	return s.expectAll(ctx,
		send(applyAs("m", c.item("a"), unknown), want),
		send(applyAs("m", c.item("a"), unknown).withQuery("fieldValidation=Ignore"), want),
		send(applyAs("m", c.item("a"), unknown).withQuery("fieldValidation=Strict"), want),
	)
}

func checkApplySet(ctx context.Context, s *session, c collection) error {
	const other = "conformance.example.com/other"
	fields := func(value string) string { return `{"f:metadata":{"f:finalizers":{"v:\"` + value + `\"":{}}}}` }
	return s.expectAll(ctx,
		send(applyAs("m1", c.item("a"), c.object("a").withFinalizer()), code(201), managedFieldsAre(applyEntry("m1", fields(finalizer)))),
		send(applyAs("m2", c.item("a"), c.object("a").withMeta("finalizers", []string{other})), code(200),
			valueAt([]string{finalizer, other}, "metadata", "finalizers"), managedFieldsAre(applyEntry("m1", fields(finalizer)), applyEntry("m2", fields(other)))),
		send(applyAs("m2", c.item("a"), c.object("a")), code(200),
			valueAt([]string{finalizer}, "metadata", "finalizers"), managedFieldsAre(applyEntry("m1", fields(finalizer)))),
	)
}

func checkApplyTypedListMap(ctx context.Context, s *session, c collection) error {
	alone := func(name string) object {
		return c.object("a").with("spec", object{"template": object{"spec": object{"containers": []object{container(name)}}}})
	}
	item := func(name string) string {
		return `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"` + name + `\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`
	}
	return s.expectAll(ctx,
		send(applyAs("m1", c.item("a"), replicaSet(c, "a", object{"containers": []object{container("c1")}})), code(201)),
		send(applyAs("m2", c.item("a"), alone("c2")), code(200), itemsHave([]string{"c1", "c2"}, "name", podTemplatePath("containers")...),
			managedFieldsAre(applyEntry("m1", ""), applyEntry("m2", item("c2")))),
		send(applyAs("m2", c.item("a"), alone("c3")), code(200), itemsHave([]string{"c1", "c3"}, "name", podTemplatePath("containers")...),
			managedFieldsAre(applyEntry("m1", ""), applyEntry("m2", item("c3")))),
	)
}

func checkApplyCustomListMap(ctx context.Context, s *session, c collection) error {
	alone := func(name string) object {
		return c.object("a").with("spec", object{"parts": []object{{"name": name, "quantity": 1}}})
	}
	item := func(name string) string {
		return `{"f:spec":{"f:parts":{"k:{\"name\":\"` + name + `\"}":{".":{},"f:name":{},"f:quantity":{}}}}}`
	}
	return s.expectAll(ctx,
		send(applyAs("m1", c.item("a"), alone("c1")), code(201), managedFieldsAre(applyEntry("m1", item("c1")))),
		send(applyAs("m2", c.item("a"), alone("c2")), code(200), itemsHave([]string{"c1", "c2"}, "name", "spec", "parts"),
			managedFieldsAre(applyEntry("m1", item("c1")), applyEntry("m2", item("c2")))),
		send(applyAs("m2", c.item("a"), alone("c3")), code(200), itemsHave([]string{"c1", "c3"}, "name", "spec", "parts"),
			managedFieldsAre(applyEntry("m1", item("c1")), applyEntry("m2", item("c3")))),
	)
}

func checkApplyWithoutListType(ctx context.Context, s *session, c collection) error {
	with := func(spec object) object { return c.object("a").with("spec", spec) }
	return s.expectAll(ctx,
		send(applyAs("m1", c.item("a"), with(object{"plain": []object{{"x": "1"}}}).withData("k", "1")), code(201),
			managedFieldsAre(applyEntry("m1", `{"f:data":{"f:k":{}},"f:spec":{"f:plain":{}}}`))),
		send(applyAs("m2", c.item("a"), with(object{"plain": []object{{"x": "1"}, {"x": "2"}}})), fieldConflict(`"m1"`, ".spec.plain").check),
		send(applyAs("m2", c.item("a"), c.object("a").withData("l", "1")), code(200), valueAt(object{"k": "1", "l": "1"}, "data")),
	)
}
