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
		}, ancientChanges),
		onMaps(Case{
			ID: "SA-25", Level: Must, Title: "without a name the manager is called as its User-Agent up to the first slash",
			Why:    "every write has an owner",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(post(c.path(), c.object("a").data("k", "1")).from("probe/1.2 (conformance) x/y"), code(201), owned(updated("probe", wholeDataFields("k")))),
				ask(mergePatch(c.item("a"), object{"data": object{"l": "1"}}).from("other"), code(200),
					owned(updated("probe", wholeDataFields("k")), updated("other", dataFields("l")))),
				ask(post(c.path(), c.object("b").data("k", "1")).from("probe/1").query("fieldManager=named"), code(201),
					owned(updated("named", wholeDataFields("k")))),
			)
		}),
		onMaps(Case{
			ID: "SA-31", Level: Must, Title: "what identifies the object, and what the server sets, is owned by nobody",
			Why:    "an apply could never change it",
			Source: "apimachinery util/managedfields/internal/stripmeta.go",
		}, nobodyOwns),
		[]Case{
			on((*session).ingresses, Case{
				ID: "SA-22/typed", Level: Must, Title: "what is written through a subresource is owned apart, with the subresource in the entry",
				Why:    "a controller that applies spec and status has two sets of fields",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				status := object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}}
				change := object{"status": object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.2"}}}}}
				return ownedByStatus(ctx, s, c, ingress(c, "a"), c.object("a").with("status", status), change,
					updated("u", `{"f:status":{"f:loadBalancer":{"f:ingress":{}}}}`).through("status"))
			}),
			on((*session).gadgets, Case{
				ID: "SA-22/custom", Level: Must, Title: "what is written through a subresource is owned apart, with the subresource in the entry",
				Why:    "a controller that applies spec and status has two sets of fields",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				status, change := object{"phase": "new"}, object{"status": object{"replicas": 2}}
				return ownedByStatus(ctx, s, c, c.object("a").with("spec", object{"size": 1}), c.object("a").with("status", status), change,
					applied("m", `{"f:status":{"f:phase":{}}}`).through("status"), updated("u", `{"f:status":{"f:replicas":{}}}`).through("status"))
			}),
			on((*session).ingresses, Case{
				ID: "SA-32/typed", Level: Must, Title: "an apply of the object neither sets nor owns the status",
				Why:    "the status has its own path",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				a := ingress(c, "a").with("status", object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}})
				return s.try(ctx, applyAs("m", c.item("a"), a), code(201), holds(nil, "status", "loadBalancer", "ingress"),
					owned(applied("m", `{"f:spec":{"f:defaultBackend":{"f:service":{"f:name":{},"f:port":{}}},"f:ingressClassName":{}}}`)))
			}),
			on((*session).gadgets, Case{
				ID: "SA-32/custom", Level: Must, Title: "an apply of the object neither sets nor owns the status",
				Why:    "the status has its own path",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				a := c.object("a").with("spec", object{"size": 1}).with("status", object{"phase": "new"})
				return s.try(ctx, applyAs("m", c.item("a"), a), code(201), holds(nil, "status", "phase"),
					owned(applied("m", `{"f:spec":{"f:size":{}}}`)))
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
			if err := disown(ctx, s, c); err != nil {
				return err
			}
			return s.all(ctx,
				ask(applyAs("m", c.item("a"), c.object("a").data("k", "2")),
					fieldConflict(fmt.Sprintf("%q using %s", "before-first-apply", c.apiVersion), ".data.k").check),
				ask(applyAs("m", c.item("a"), c.object("a").data("new", "2")), code(200),
					owned(applied("m", dataFields("new")), updated("before-first-apply", wholeDataFields("k")))),
			)
		}),
		onMap(Case{
			ID: "SA-27", Level: Must, Title: "managedFields of one empty entry take all owners off",
			Why:    "it is the way out of managedFields that are broken or too large",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(mergePatch(c.item("a"), object{"metadata": object{"managedFields": []object{{}}}, "data": object{"k": "2"}}), code(200),
					holds("2", "data", "k"), owned()),
				ask(get(c.item("a")), code(200), holds("2", "data", "k"), owned()),
			)
		}),
		onMap(Case{
			ID: "SA-28", Level: Must, Title: "an empty list of managedFields takes the owners off a built-in type, and changes nothing on a custom resource",
			Why:    "the two are decoded differently: only the list with one empty entry is the way to do it",
			Source: "observed on kube-apiserver",
		}, func(ctx context.Context, s *session, c collection) error {
			want := owned()
			if c.custom() {
				want = owned(updated("creator", wholeDataFields("k")))
			}
			return s.all(ctx,
				ask(mergePatch(c.item("a"), object{"metadata": object{"managedFields": []object{}}}), code(200), want),
				ask(get(c.item("a")), code(200), want),
			)
		}),
		onMap(Case{
			ID: "SA-29", Level: Must, Title: "managedFields that cannot be read leave those that are there",
			Why:    "a client that does not know them cannot break them",
			Source: fieldsetPkg,
		}, brokenManagedFields),
		onMaps(Case{
			ID: "SA-36/empty", Level: Must, Title: "an object created with nothing to own has no owners until the first apply",
			Why:    "an object that nobody applies need not carry them",
			Source: "apimachinery util/managedfields/internal/skipnonapplied.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(post(c.path(), c.object("a")).query("fieldManager=u"), code(201), owned()),
				ask(mergePatch(c.item("a"), object{"data": object{"k": "1"}}).query("fieldManager=u"), code(200), owned()),
				ask(applyAs("m", c.item("a"), c.object("a").data("l", "1")), code(200),
					owned(applied("m", dataFields("l")), updated("before-first-apply", wholeDataFields("k")))),
			)
		}),
		onMap(Case{
			ID: "SA-36", Level: Must, Title: "once taken off, owners are kept again from the next apply on",
			Why:    "an object that nobody applies need not carry them",
			Source: "apimachinery util/managedfields/internal/skipnonapplied.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if err := disown(ctx, s, c); err != nil {
				return err
			}
			return s.all(ctx,
				ask(mergePatch(c.item("a"), object{"data": object{"l": "1"}}).query("fieldManager=u"), code(200), owned()),
				ask(applyAs("m", c.item("a"), c.object("a").data("m", "1")), code(200),
					owned(applied("m", dataFields("m")), updated("before-first-apply", wholeDataFields("k", "l")))),
				ask(mergePatch(c.item("a"), object{"data": object{"n": "1"}}).query("fieldManager=u"), code(200),
					owned(applied("m", dataFields("m")), updated("before-first-apply", wholeDataFields("k", "l")), updated("u", dataFields("n")))),
			)
		}),
	)
}

// disown takes all managedFields off the object "a".
func disown(ctx context.Context, s *session, c collection) error {
	return s.try(ctx, mergePatch(c.item("a"), object{"metadata": object{"managedFields": []object{{}}}}), code(200), owned())
}

func ancientChanges(ctx context.Context, s *session, c collection) error {
	const most = 10
	for i := range most + 2 {
		change := object{"data": object{fmt.Sprintf("k%d", i): "1"}}
		if err := s.try(ctx, mergePatch(c.item("a"), change).query(fmt.Sprintf("fieldManager=u%02d", i)), code(200)); err != nil {
			return err
		}
	}
	a, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	entries, err := managers(a)
	if err != nil {
		return err
	}
	ancient := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "ancient-changes" })
	if len(entries) != most || ancient < 0 {
		return a.errorf("expected %d entries in managedFields, one of them ancient-changes, got %s", most, shown(entries))
	}
	return nil
}

func brokenManagedFields(ctx context.Context, s *session, c collection) error {
	entry := func(field, value string) object {
		e := object{
			"manager": "x", "operation": "Update", "apiVersion": c.apiVersion, "fieldsType": "FieldsV1",
			"fieldsV1": object{"f:data": object{"f:k": object{}}},
		}
		return object{"metadata": object{"managedFields": []object{e.with(field, value)}}}
	}
	kept := owned(updated("creator", wholeDataFields("k")))
	return s.all(ctx,
		ask(mergePatch(c.item("a"), entry("operation", "Nothing")), code(200), kept),
		ask(mergePatch(c.item("a"), entry("fieldsType", "FieldsV2")), code(200), kept),
		ask(mergePatch(c.item("a"), entry("apiVersion", "")), code(200), kept),
		ask(get(c.item("a")), code(200), kept),
		// What can be read counts.
		ask(mergePatch(c.item("a"), entry("manager", "y")), code(200), owned(updated("y", dataFields("k")))),
	)
}

func nobodyOwns(ctx context.Context, s *session, c collection) error {
	a := c.object("a").data("k", "1").meta("namespace", c.namespace).label("l", "1").meta("creationTimestamp", nil)
	const fields = `{"f:data":{"f:k":{}},"f:metadata":{"f:labels":{"f:l":{}}}}`
	o, err := s.object(ctx, applyAs("m", c.item("a"), a), code(201), owned(applied("m", fields)))
	if err != nil {
		return err
	}
	again := a.meta("uid", string(o.UID)).meta("resourceVersion", o.ResourceVersion)
	return s.all(ctx,
		ask(applyAs("m", c.item("a"), again), code(200), owned(applied("m", fields))),
		ask(post(c.path(), c.object("").data("k", "1").meta("generateName", "b-")).query("fieldManager=u"), code(201),
			owned(updated("u", `{"f:data":{".":{},"f:k":{}},"f:metadata":{"f:generateName":{}}}`))),
	)
}

// ownedByStatus applies an object, and then its status through /status, from where it is changed by somebody else.
func ownedByStatus(ctx context.Context, s *session, c collection, main, status, change object, left ...owner) error {
	spec := applied("m", "")
	return s.all(ctx,
		ask(applyAs("m", c.item("a")+"/status", status), notFound(c, "a").check),
		ask(applyAs("m", c.item("a"), main), code(201), owned(spec)),
		ask(applyAs("m", c.item("a")+"/status", status), code(200), owned(spec, applied("m", "").through("status"))),
		ask(mergePatch(c.item("a")+"/status", change).query("fieldManager=u"), code(200), owned(append(left, spec)...)),
	)
}
