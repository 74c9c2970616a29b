package conformance

import (
	"context"
	"fmt"
	"slices"
)

// applyManagedCases returns the cases about the content of managedFields, and writes of clients to
// it (SA).
func applyManagedCases() []Case {
	return slices.Concat(
		managedResetCases(),
		onMap(Case{
			ID: "SA-24", Level: Should, Title: "with more than ten managers that do not apply, the oldest are merged into \"ancient-changes\"",
			Why:    "objects that many clients write must not grow without limit",
			Source: "apimachinery util/managedfields/internal/capmanagers.go",
		}, checkAncientChanges),
		onMaps(Case{
			ID: "SA-25", Level: Must, Title: "without a name, the manager is the User-Agent up to the first slash",
			Why:    "every write has a manager",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(post(c.path(), c.object("a").withData("k", "1")).withUserAgent("probe/1.2 (conformance) x/y"), code(201), managedFieldsAre(updateEntry("probe", dataFieldsAndSelf("k")))),
				send(mergePatch(c.item("a"), object{"data": object{"l": "1"}}).withUserAgent("other"), code(200),
					managedFieldsAre(updateEntry("probe", dataFieldsAndSelf("k")), updateEntry("other", dataFields("l")))),
				send(post(c.path(), c.object("b").withData("k", "1")).withUserAgent("probe/1").withQuery("fieldManager=named"), code(201),
					managedFieldsAre(updateEntry("named", dataFieldsAndSelf("k")))),
			)
		}),
		onMaps(Case{
			ID: "SA-31", Level: Must, Title: "no manager owns the identity of an object or the fields that the server sets",
			Why:    "an apply could never change them",
			Source: "apimachinery util/managedfields/internal/stripmeta.go",
		}, checkUnownedFields),
		[]Case{
			onCollection((*session).ingresses, Case{
				ID: "SA-22/typed", Level: Must, Title: "fields written through a subresource have an entry of their own, with the subresource",
				Why:    "a controller that applies spec and status has two sets of fields",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				status := object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}}
				change := object{"status": object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.2"}}}}}
				return checkSubresourceOwnership(ctx, s, c, ingress(c, "a"), c.object("a").with("status", status), change,
					updateEntry("u", `{"f:status":{"f:loadBalancer":{"f:ingress":{}}}}`).withSubresource("status"))
			}),
			onCollection((*session).dataCRs, Case{
				ID: "SA-22/custom", Level: Must, Title: "fields written through a subresource have an entry of their own, with the subresource",
				Why:    "a controller that applies spec and status has two sets of fields",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				status, change := object{"phase": "new"}, object{"status": object{"replicas": 2}}
				return checkSubresourceOwnership(ctx, s, c, c.object("a").with("spec", object{"size": 1}), c.object("a").with("status", status), change,
					applyEntry("m", `{"f:status":{"f:phase":{}}}`).withSubresource("status"), updateEntry("u", `{"f:status":{"f:replicas":{}}}`).withSubresource("status"))
			}),
			onCollection((*session).ingresses, Case{
				ID: "SA-32/typed", Level: Must, Title: "an apply to the main path neither sets nor owns the status",
				Why:    "the status has its own path",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				a := ingress(c, "a").with("status", object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}})
				return s.expect(ctx, applyAs("m", c.item("a"), a), code(201), valueAt(nil, "status", "loadBalancer", "ingress"),
					managedFieldsAre(applyEntry("m", `{"f:spec":{"f:defaultBackend":{"f:service":{"f:name":{},"f:port":{}}},"f:ingressClassName":{}}}`)))
			}),
			onCollection((*session).dataCRs, Case{
				ID: "SA-32/custom", Level: Must, Title: "an apply to the main path neither sets nor owns the status",
				Why:    "the status has its own path",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				a := c.object("a").with("spec", object{"size": 1}).with("status", object{"phase": "new"})
				return s.expect(ctx, applyAs("m", c.item("a"), a), code(201), valueAt(nil, "status", "phase"),
					managedFieldsAre(applyEntry("m", `{"f:spec":{"f:size":{}}}`)))
			}),
		},
	)
}

// managedResetCases returns the cases about objects without managedFields.
func managedResetCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "SA-23", Level: Must, Title: "at the first apply to an object without managedFields, \"before-first-apply\" owns the existing fields",
			Why:    "the apply must not take over fields that it did not write",
			Source: "apimachinery util/managedfields/internal/skipnonapplied.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if err := clearManagedFields(ctx, s, c); err != nil {
				return err
			}
			return s.expectAll(ctx,
				send(applyAs("m", c.item("a"), c.object("a").withData("k", "2")),
					fieldConflict(fmt.Sprintf("%q using %s", "before-first-apply", c.apiVersion), ".data.k").check),
				send(applyAs("m", c.item("a"), c.object("a").withData("new", "2")), code(200),
					managedFieldsAre(applyEntry("m", dataFields("new")), updateEntry("before-first-apply", dataFieldsAndSelf("k")))),
			)
		}),
		onMap(Case{
			ID: "SA-27", Level: Must, Title: "managedFields with one empty entry remove all managers",
			Why:    "it repairs managedFields that are invalid or too large",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(mergePatch(c.item("a"), object{"metadata": object{"managedFields": []object{{}}}, "data": object{"k": "2"}}), code(200),
					valueAt("2", "data", "k"), managedFieldsAre()),
				send(get(c.item("a")), code(200), valueAt("2", "data", "k"), managedFieldsAre()),
			)
		}),
		onMap(Case{
			ID: "SA-28", Level: Must, Title: "an empty list of managedFields removes the managers of a built-in type, and changes nothing on a custom resource",
			Why:    "the two are decoded differently; only a list with one empty entry works for both",
			Source: "observed on kube-apiserver",
		}, func(ctx context.Context, s *session, c collection) error {
			want := managedFieldsAre()
			if c.isCustom() {
				want = managedFieldsAre(updateEntry("creator", dataFieldsAndSelf("k")))
			}
			return s.expectAll(ctx,
				send(mergePatch(c.item("a"), object{"metadata": object{"managedFields": []object{}}}), code(200), want),
				send(get(c.item("a")), code(200), want),
			)
		}),
		onMap(Case{
			ID: "SA-29", Level: Must, Title: "managedFields that cannot be decoded keep the existing ones, and others replace them, except for entries without fields or of an unknown version",
			Why:    "clients that do not know managedFields must not destroy them",
			Source: fieldsetPkg,
		}, checkUndecodableManagedFields),
		onMaps(Case{
			ID: "SA-36/empty", Level: Must, Title: "an object that is created without own fields has no managers until the first apply",
			Why:    "objects that are never applied do not need managedFields",
			Source: "apimachinery util/managedfields/internal/skipnonapplied.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(post(c.path(), c.object("a")).withQuery("fieldManager=u"), code(201), managedFieldsAre()),
				send(mergePatch(c.item("a"), object{"data": object{"k": "1"}}).withQuery("fieldManager=u"), code(200), managedFieldsAre()),
				send(applyAs("m", c.item("a"), c.object("a").withData("l", "1")), code(200),
					managedFieldsAre(applyEntry("m", dataFields("l")), updateEntry("before-first-apply", dataFieldsAndSelf("k")))),
			)
		}),
		onMap(Case{
			ID: "SA-36", Level: Must, Title: "after a reset, managers are tracked again from the next apply on",
			Why:    "objects that are never applied do not need managedFields",
			Source: "apimachinery util/managedfields/internal/skipnonapplied.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if err := clearManagedFields(ctx, s, c); err != nil {
				return err
			}
			return s.expectAll(ctx,
				send(mergePatch(c.item("a"), object{"data": object{"l": "1"}}).withQuery("fieldManager=u"), code(200), managedFieldsAre()),
				send(applyAs("m", c.item("a"), c.object("a").withData("m", "1")), code(200),
					managedFieldsAre(applyEntry("m", dataFields("m")), updateEntry("before-first-apply", dataFieldsAndSelf("k", "l")))),
				send(mergePatch(c.item("a"), object{"data": object{"n": "1"}}).withQuery("fieldManager=u"), code(200),
					managedFieldsAre(applyEntry("m", dataFields("m")), updateEntry("before-first-apply", dataFieldsAndSelf("k", "l")), updateEntry("u", dataFields("n")))),
			)
		}),
	)
}

// clearManagedFields removes all managedFields of the object "a".
func clearManagedFields(ctx context.Context, s *session, c collection) error {
	return s.expect(ctx, mergePatch(c.item("a"), object{"metadata": object{"managedFields": []object{{}}}}), code(200), managedFieldsAre())
}

func checkAncientChanges(ctx context.Context, s *session, c collection) error {
	want := []managedEntry{updateEntry("ancient-changes", dataFieldsAndSelf("k", "k0", "k1", "k2"))}
	for i := range 12 {
		manager, key := fmt.Sprintf("u%02d", i), fmt.Sprintf("k%d", i)
		if err := s.expect(ctx, mergePatch(c.item("a"), object{"data": object{key: "1"}}).withQuery("fieldManager="+manager), code(200)); err != nil {
			return err
		}
		if i > 2 {
			want = append(want, updateEntry(manager, dataFields(key)))
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), managedFieldsAre(want...))
}

func checkUndecodableManagedFields(ctx context.Context, s *session, c collection) error {
	entry := func(field string, value any) object {
		return object{
			"manager": "x", "operation": "Update", "apiVersion": c.apiVersion, "fieldsType": "FieldsV1",
			"fieldsV1": object{"f:data": object{"f:k": object{}}},
		}.with(field, value)
	}
	write := func(entries ...object) call {
		return mergePatch(c.item("a"), object{"metadata": object{"managedFields": entries}})
	}
	unchanged := managedFieldsAre(updateEntry("creator", dataFieldsAndSelf("k")))
	only := func(manager string) expectation { return managedFieldsAre(updateEntry(manager, dataFields("k"))) }
	afterUnknown := only("y")
	if c.isCustom() { // an unknown version of a custom resource is an error like that of an unknown operation
		afterUnknown = only("z")
	}
	return s.expectAll(ctx,
		send(write(entry("operation", "Nothing")), code(200), unchanged),
		send(write(entry("fieldsType", "FieldsV2")), code(200), unchanged),
		send(write(entry("apiVersion", "")), code(200), unchanged),
		send(write(entry("operation", "Nothing"), entry("manager", "y")), code(200), unchanged),
		send(get(c.item("a")), code(200), unchanged),
		// Valid entries are stored, except for those without fields or of an unknown version.
		send(write(entry("manager", "y")), code(200), only("y")),
		send(write(entry("fieldsV1", object{}), entry("manager", "z")), code(200), only("z")),
		send(write(entry("apiVersion", "absent.conformance.example.com/v1"), entry("manager", "y")), code(200), afterUnknown),
		send(write(entry("fieldsV1", object{})), code(200), managedFieldsAre()),
	)
}

func checkUnownedFields(ctx context.Context, s *session, c collection) error {
	a := c.object("a").withData("k", "1").withMeta("namespace", c.namespace).withLabel("l", "1").withMeta("creationTimestamp", nil)
	const fields = `{"f:data":{"f:k":{}},"f:metadata":{"f:labels":{"f:l":{}}}}`
	o, err := s.doObject(ctx, applyAs("m", c.item("a"), a), code(201), managedFieldsAre(applyEntry("m", fields)))
	if err != nil {
		return err
	}
	again := a.withMeta("uid", string(o.UID)).withMeta("resourceVersion", o.ResourceVersion)
	return s.expectAll(ctx,
		send(applyAs("m", c.item("a"), again), code(200), managedFieldsAre(applyEntry("m", fields))),
		send(post(c.path(), c.object("").withData("k", "1").withMeta("generateName", "b-")).withQuery("fieldManager=u"), code(201),
			managedFieldsAre(updateEntry("u", `{"f:data":{".":{},"f:k":{}},"f:metadata":{"f:generateName":{}}}`))),
	)
}

// checkSubresourceOwnership applies an object and then its status, which another manager changes
// afterwards.
func checkSubresourceOwnership(ctx context.Context, s *session, c collection, main, status, change object, left ...managedEntry) error {
	spec := applyEntry("m", "")
	return s.expectAll(ctx,
		send(applyAs("m", c.item("a")+"/status", status), notFound(c, "a").check),
		send(applyAs("m", c.item("a"), main), code(201), managedFieldsAre(spec)),
		send(applyAs("m", c.item("a")+"/status", status), code(200), managedFieldsAre(spec, applyEntry("m", "").withSubresource("status"))),
		send(mergePatch(c.item("a")+"/status", change).withQuery("fieldManager=u"), code(200), managedFieldsAre(append(left, spec)...)),
	)
}
