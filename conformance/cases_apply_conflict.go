package conformance

import (
	"context"
	"fmt"
	"slices"
)

// applyConflictCases returns the cases about several managers of one object (SA).
func applyConflictCases() []Case {
	return slices.Concat(
		onAppliedMap(Case{
			ID: "SA-05", Level: Must, Title: "an apply that changes another manager's value is a conflict, which names the manager and the field",
			Why:    "the user decides which manager owns the field",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(applyAs("m2", c.item("a"), c.object("a").withData("k", "2")), fieldConflict(`"m1"`, ".data.k").check),
				send(get(c.item("a")), code(200), valueAt("1", "data", "k"), managedFieldsAre(applyEntry("m1", dataFields("k")))),
			)
		}),
		onMap(Case{
			ID: "SA-06", Level: Must, Title: "a conflict with a manager that did not apply also names the version of its write",
			Why:    "the fields may have other names in another version",
			Source: "apimachinery util/managedfields/internal/conflict.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, applyAs("m", c.item("a"), c.object("a").withData("k", "2")),
				fieldConflict(`"creator" using `+c.apiVersion, ".data.k").check)
		}),
		onAppliedMap(Case{
			ID: "SA-06/many", Level: Must, Title: "each of several conflicts is listed",
			Why:    "the user sees all of them at once",
			Source: "apimachinery util/managedfields/internal/conflict.go",
		}, checkSeveralConflicts),
		onAppliedMap(Case{
			ID: "SA-07", Level: Must, Title: "with force, an apply takes ownership of the conflicting fields",
			Why:    "controllers must own their fields",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(applyAs("m2", c.item("a"), c.object("a").withData("k", "2")).withQuery("force=false"), code(409)),
				send(applyAs("m2", c.item("a"), c.object("a").withData("k", "2")).withQuery("force=true"), code(200),
					valueAt("2", "data", "k"), managedFieldsAre(applyEntry("m2", dataFields("k")))),
			)
		}),
		onAppliedMap(Case{
			ID: "SA-08", Level: Must, Title: "applying the same value makes both managers owners",
			Why:    "two managers may agree on a value",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, applyAs("m2", c.item("a"), c.object("a").withData("k", "1")), code(200),
				managedFieldsAre(applyEntry("m1", dataFields("k")), applyEntry("m2", dataFields("k"))))
		}),
		onAppliedMap(Case{
			ID: "SA-09", Level: Must, Title: "a field that its only manager no longer applies is removed",
			Why:    "this is how apply deletes a field",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(applyAs("m1", c.item("a"), c.object("a").withData("other", "1")), code(200),
					valueAt(object{"other": "1"}, "data"), managedFieldsAre(applyEntry("m1", dataFields("other")))),
				send(get(c.item("a")), code(200), valueAt(object{"other": "1"}, "data")),
			)
		}),
		onAppliedMap(Case{
			ID: "SA-10", Level: Must, Title: "a field that another manager also owns stays when one manager no longer applies it",
			Why:    "this is how ownership moves from one manager to another",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(applyAs("m2", c.item("a"), c.object("a").withData("k", "1")), code(200)),
				send(applyAs("m1", c.item("a"), c.object("a")), code(200), valueAt("1", "data", "k"), managedFieldsAre(applyEntry("m2", dataFields("k")))),
			)
		}),
		onAppliedMap(Case{
			ID: "SA-11", Level: Must, Title: "a write other than apply never conflicts, and takes ownership of what it changes",
			Why:    "clients that do not apply do not handle conflicts",
			Source: docApply,
		}, checkUpdateTakesOwnership),
		onAppliedMap(Case{
			ID: "SA-21", Level: Must, Title: "a manager has separate entries for applies and for other writes, which may conflict",
			Why:    "only applied fields are removed when they are no longer applied",
			Source: docApply,
		}, checkApplyAndUpdateEntries),
		onMaps(Case{
			ID: "SA-35", Level: Should, Title: "kubectl apply --server-side takes over the fields of client-side apply without a conflict",
			Why:    "kubectl users migrate to --server-side",
			Source: "apimachinery util/managedfields/internal/lastappliedmanager.go",
		}, checkClientSideApplyMigration),
		[]Case{
			{
				ID: "SA-34/typed", Level: Must, Title: "a manager may apply in another version of the object",
				Why:    "it still owns what it applied in the old version",
				Source: docApply, check: func(ctx context.Context, s *session) error {
					v2, v1, err := s.autoscalers(ctx)
					if err != nil {
						return err
					}
					return checkManagerChangesVersion(ctx, s, v1, v2, autoscaler(v1, "a"), autoscaler(v2, "a"))
				},
			},
			onCollection((*session).ingresses, Case{
				ID: "SA-06/subresource/typed", Level: Must, Title: "a conflict with a write through a subresource names the subresource",
				Why:    "one manager name may have two sets of fields",
				Source: "apimachinery util/managedfields/internal/conflict.go",
			}, func(ctx context.Context, s *session, c collection) error {
				status := func(ip string) object {
					return object{"loadBalancer": object{"ingress": []object{{"ip": ip}}}}
				}
				return checkSubresourceConflict(ctx, s, c, ingress(c, "a"), status("192.0.2.1"), status("192.0.2.2"), ".status.loadBalancer.ingress")
			}),
			onCollection((*session).dataCRs, Case{
				ID: "SA-06/subresource/custom", Level: Must, Title: "a conflict with a write through a subresource names the subresource",
				Why:    "one manager name may have two sets of fields",
				Source: "apimachinery util/managedfields/internal/conflict.go",
			}, func(ctx context.Context, s *session, c collection) error {
				return checkSubresourceConflict(ctx, s, c, c.object("a").withData("k", "1"), object{"phase": "1"}, object{"phase": "2"}, ".status.phase")
			}),
			onCollection((*session).dataCRs, Case{
				ID: "SA-09/default/custom", Level: Must, Title: "a field that its manager no longer applies gets its default",
				Why:    "a field with a default always has a value",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				return s.expectAll(ctx,
					send(applyAs("m", c.item("a"), c.object("a").with("spec", object{"color": "red", "size": 1})), code(201), valueAt("red", "spec", "color")),
					send(applyAs("m", c.item("a"), c.object("a").with("spec", object{"size": 1})), code(200), valueAt("grey", "spec", "color"),
						managedFieldsAre(applyEntry("m", `{"f:spec":{"f:size":{}}}`))),
				)
			}),
			onCollection((*session).dataCRs, Case{
				ID: "SA-34/custom", Level: Must, Title: "a manager may apply in another version of the object",
				Why:    "it still owns what it applied in the old version",
				Source: docApply,
			}, func(ctx context.Context, s *session, c collection) error {
				old := c.inDeprecatedVersion()
				return checkManagerChangesVersion(ctx, s, old, c, old.object("a"), c.object("a"))
			}),
		},
	)
}

// onAppliedMap is like onMaps, with an object "a" with the data k=1 that the manager "m1" applied.
func onAppliedMap(c Case, check collectionCheck) []Case {
	return onMaps(c, func(ctx context.Context, s *session, c collection) error {
		if err := s.expect(ctx, applyAs("m1", c.item("a"), c.object("a").withData("k", "1")), code(201)); err != nil {
			return err
		}
		return check(ctx, s, c)
	})
}

func checkSeveralConflicts(ctx context.Context, s *session, c collection) error {
	want := fieldConflict(`"m1"`, ".data.k")
	want.message = "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .data.k\nconflicts with \"m3\" using " + c.apiVersion + ":\n- .data.other"
	other := fieldConflict(`"m3" using `+c.apiVersion, ".data.other")
	want.causes = append(want.causes, other.causes...)
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), object{"data": object{"other": "3"}}).withQuery("fieldManager=m3"), code(200)),
		send(applyAs("m2", c.item("a"), c.object("a").withData("k", "2", "other", "2")), want.check),
	)
}

func checkUpdateTakesOwnership(ctx context.Context, s *session, c collection) error {
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), object{"data": object{"k": "2"}}).withQuery("fieldManager=u"), code(200),
			managedFieldsAre(updateEntry("u", dataFields("k")))),
		send(applyAs("m1", c.item("a"), c.object("a").withData("k", "1")).withQuery("force=true"), code(200),
			managedFieldsAre(applyEntry("m1", dataFields("k")))),
		send(jsonPatch(c.item("a"), object{"op": "add", "path": "/data/new", "value": "1"}).withQuery("fieldManager=u"), code(200),
			managedFieldsAre(applyEntry("m1", dataFields("k")), updateEntry("u", dataFields("new")))),
		send(mergePatch(c.item("a"), object{"data": object{"k": nil}}).withQuery("fieldManager=u"), code(200),
			managedFieldsAre(updateEntry("u", dataFields("new")))),
	)
}

func checkApplyAndUpdateEntries(ctx context.Context, s *session, c collection) error {
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), object{"data": object{"other": "1"}}).withQuery("fieldManager=m1"), code(200),
			managedFieldsAre(applyEntry("m1", dataFields("k")), updateEntry("m1", dataFields("other")))),
		send(applyAs("m1", c.item("a"), c.object("a").withData("k", "1", "other", "2")),
			fieldConflict(fmt.Sprintf("%q using %s", "m1", c.apiVersion), ".data.other").check),
	)
}

// checkClientSideApplyMigration creates an object with the annotation of kubectl's client-side
// apply.
func checkClientSideApplyMigration(ctx context.Context, s *session, c collection) error {
	const annotation = "kubectl.kubernetes.io/last-applied-configuration"
	last := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a","namespace":%q},"data":{"k":"1"}}`, c.apiVersion, c.kind, c.namespace)
	created := c.object("a").withData("k", "1").withMeta("annotations", object{annotation: last})
	return s.expectAll(ctx,
		send(post(c.path(), created).withQuery("fieldManager=kubectl-client-side-apply"), code(201)),
		send(applyAs("other", c.item("a"), c.object("a").withData("k", "2")), code(409)),
		send(applyAs("kubectl", c.item("a"), c.object("a").withData("k", "2")), code(200), valueAt("2", "data", "k")),
		send(mergePatch(c.item("a"), object{"data": object{"k": "3"}}).withQuery("fieldManager=u"), code(200)),
		send(applyAs("kubectl", c.item("a"), c.object("a").withData("k", "4")), fieldConflict(`"u" using `+c.apiVersion, ".data.k").check),
	)
}

// checkManagerChangesVersion applies two labels in one version, and one of them in the other.
func checkManagerChangesVersion(ctx context.Context, s *session, from, to collection, first, second object) error {
	first = first.withMeta("labels", object{"x": "1", "y": "2"})
	second = second.withMeta("labels", object{"x": "1"})
	return s.expectAll(ctx,
		send(applyAs("m", from.item("a"), first), code(201), managedFieldsAre(applyEntry("m", "").withVersion(from.apiVersion))),
		send(applyAs("m", to.item("a"), second), code(200), valueAt(object{"x": "1"}, "metadata", "labels"),
			managedFieldsAre(applyEntry("m", "").withVersion(to.apiVersion))),
		send(applyAs("other", from.item("a"), newObject(from.apiVersion, from.kind, "a").withLabel("x", "3")),
			fieldConflict(`"m"`, ".metadata.labels.x").check),
	)
}

// checkSubresourceConflict writes the status with one manager, and applies another status with a
// second one.
func checkSubresourceConflict(ctx context.Context, s *session, c collection, main, written, wanted object, path string) error {
	status := c.item("a") + "/status"
	return s.expectAll(ctx,
		send(post(c.path(), main), code(201)),
		send(mergePatch(status, object{"status": written}).withQuery("fieldManager=u"), code(200)),
		send(applyAs("m", status, c.object("a").with("status", wanted)),
			fieldConflict(`"u" with subresource "status" using `+c.apiVersion, path).check),
	)
}
