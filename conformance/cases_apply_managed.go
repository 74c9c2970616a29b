package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// applyManagedCases are about what the server keeps in managedFields, and how a client may change it (SA).
func applyManagedCases() []Case {
	return slices.Concat(
		managedResetCases(),
		onMap(Case{
			ID: "SA-24", Level: Should, Title: "of more than ten managers that do not apply, the oldest become one, \"ancient-changes\"",
			Why:    "objects written by ever new clients do not grow without end",
			Source: "apimachinery util/managedfields/internal/capmanagers.go",
		}, checkAncientChanges),
		onMaps(Case{
			ID: "SA-25", Level: Must, Title: "without a name the manager is called as its User-Agent up to the first slash",
			Why:    "every write has an owner",
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
			ID: "SA-31", Level: Must, Title: "what identifies the object, and what the server sets, is owned by nobody",
			Why:    "an apply could never change it",
			Source: "apimachinery util/managedfields/internal/stripmeta.go",
		}, checkUnownedFields),
		[]Case{
			onCollection((*session).ingresses, Case{
				ID: "SA-22/typed", Level: Must, Title: "what is written through a subresource is owned apart, with the subresource in the entry",
				Why:    "a controller that applies spec and status has two sets of fields",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				status := object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}}
				change := object{"status": object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.2"}}}}}
				return checkSubresourceOwnership(ctx, s, c, ingress(c, "a"), c.object("a").with("status", status), change,
					updateEntry("u", `{"f:status":{"f:loadBalancer":{"f:ingress":{}}}}`).withSubresource("status"))
			}),
			onCollection((*session).dataCRs, Case{
				ID: "SA-22/custom", Level: Must, Title: "what is written through a subresource is owned apart, with the subresource in the entry",
				Why:    "a controller that applies spec and status has two sets of fields",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				status, change := object{"phase": "new"}, object{"status": object{"replicas": 2}}
				return checkSubresourceOwnership(ctx, s, c, c.object("a").with("spec", object{"size": 1}), c.object("a").with("status", status), change,
					applyEntry("m", `{"f:status":{"f:phase":{}}}`).withSubresource("status"), updateEntry("u", `{"f:status":{"f:replicas":{}}}`).withSubresource("status"))
			}),
			onCollection((*session).ingresses, Case{
				ID: "SA-32/typed", Level: Must, Title: "an apply of the object neither sets nor owns the status",
				Why:    "the status has its own path",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				a := ingress(c, "a").with("status", object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}})
				return s.expect(ctx, applyAs("m", c.item("a"), a), code(201), valueAt(nil, "status", "loadBalancer", "ingress"),
					managedFieldsAre(applyEntry("m", `{"f:spec":{"f:defaultBackend":{"f:service":{"f:name":{},"f:port":{}}},"f:ingressClassName":{}}}`)))
			}),
			onCollection((*session).dataCRs, Case{
				ID: "SA-32/custom", Level: Must, Title: "an apply of the object neither sets nor owns the status",
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

// managedResetCases are about objects without managedFields.
func managedResetCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "SA-23", Level: Must, Title: "on the first apply to an object without managers, what is there belongs to \"before-first-apply\"",
			Why:    "the apply must not take over what it did not write",
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
			ID: "SA-27", Level: Must, Title: "managedFields of one empty entry take all owners off",
			Why:    "it is the way out of managedFields that are broken or too large",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(mergePatch(c.item("a"), object{"metadata": object{"managedFields": []object{{}}}, "data": object{"k": "2"}}), code(200),
					valueAt("2", "data", "k"), managedFieldsAre()),
				send(get(c.item("a")), code(200), valueAt("2", "data", "k"), managedFieldsAre()),
			)
		}),
		onMap(Case{
			ID: "SA-28", Level: Must, Title: "an empty list of managedFields takes the owners off a built-in type, and changes nothing on a custom resource",
			Why:    "the two are decoded differently: only the list with one empty entry is the way to do it",
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
			ID: "SA-29", Level: Must, Title: "managedFields that cannot be read leave those that are there",
			Why:    "a client that does not know them cannot break them",
			Source: fieldsetPkg,
		}, checkUndecodableManagedFields),
		onMaps(Case{
			ID: "SA-36/empty", Level: Must, Title: "an object created with nothing to own has no owners until the first apply",
			Why:    "an object that nobody applies need not carry them",
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
			ID: "SA-36", Level: Must, Title: "once taken off, owners are kept again from the next apply on",
			Why:    "an object that nobody applies need not carry them",
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

// clearManagedFields takes all managedFields off the object "a".
func clearManagedFields(ctx context.Context, s *session, c collection) error {
	return s.expect(ctx, mergePatch(c.item("a"), object{"metadata": object{"managedFields": []object{{}}}}), code(200), managedFieldsAre())
}

func checkAncientChanges(ctx context.Context, s *session, c collection) error {
	const maxEntries = 10
	for i := range maxEntries + 2 {
		change := object{"data": object{fmt.Sprintf("k%d", i): "1"}}
		if err := s.expect(ctx, mergePatch(c.item("a"), change).withQuery(fmt.Sprintf("fieldManager=u%02d", i)), code(200)); err != nil {
			return err
		}
	}
	a, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	entries, err := managedFieldsOf(a)
	if err != nil {
		return err
	}
	ancient := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "ancient-changes" })
	if len(entries) != maxEntries || ancient < 0 {
		return a.errorf("expected %d entries in managedFields, one of them ancient-changes, got %s", maxEntries, formatManagedFields(entries))
	}
	return nil
}

func checkUndecodableManagedFields(ctx context.Context, s *session, c collection) error {
	entry := func(field, value string) object {
		e := object{
			"manager": "x", "operation": "Update", "apiVersion": c.apiVersion, "fieldsType": "FieldsV1",
			"fieldsV1": object{"f:data": object{"f:k": object{}}},
		}
		return object{"metadata": object{"managedFields": []object{e.with(field, value)}}}
	}
	unchanged := managedFieldsAre(updateEntry("creator", dataFieldsAndSelf("k")))
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), entry("operation", "Nothing")), code(200), unchanged),
		send(mergePatch(c.item("a"), entry("fieldsType", "FieldsV2")), code(200), unchanged),
		send(mergePatch(c.item("a"), entry("apiVersion", "")), code(200), unchanged),
		send(get(c.item("a")), code(200), unchanged),
		// What can be read counts.
		send(mergePatch(c.item("a"), entry("manager", "y")), code(200), managedFieldsAre(updateEntry("y", dataFields("k")))),
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

// checkSubresourceOwnership applies an object, and then its status through /status, from where it is changed by somebody else.
func checkSubresourceOwnership(ctx context.Context, s *session, c collection, main, status, change object, left ...managedEntry) error {
	spec := applyEntry("m", "")
	return s.expectAll(ctx,
		send(applyAs("m", c.item("a")+"/status", status), notFound(c, "a").check),
		send(applyAs("m", c.item("a"), main), code(201), managedFieldsAre(spec)),
		send(applyAs("m", c.item("a")+"/status", status), code(200), managedFieldsAre(spec, applyEntry("m", "").withSubresource("status"))),
		send(mergePatch(c.item("a")+"/status", change).withQuery("fieldManager=u"), code(200), managedFieldsAre(append(left, spec)...)),
	)
}
