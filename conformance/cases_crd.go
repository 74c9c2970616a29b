package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docCRDs          = "Kubernetes documentation, Extend the Kubernetes API with CustomResourceDefinitions"
	docCRHandler     = "apiextensions customresource_handler.go"
	docCRDValidation = "apiextensions apis/apiextensions/validation"
)

// crdCases returns the cases about validating and serving CRDs (CD-01 to CD-06).
func crdCases() []Case {
	spec := object{"spec": anySchema()}
	return []Case{
		withCRDPerCase(Case{
			ID: "CD-01", Level: Must, Title: "a new CRD gets the conditions NamesAccepted and Established",
			Why: "installers wait for them before they create objects", Source: docCRDs,
		}, spec, checkNewCRD),
		withCRDPerCase(Case{
			ID: "CD-01/defaults", Level: Must, Title: "the singular name, the list kind and the conversion strategy have defaults",
			Why: "most CRDs omit them", Source: docCRDs,
		}, spec, func(ctx context.Context, d crdPerCase) error {
			return d.create(ctx, code(201), field("gear", "spec", "names", "singular"), field("GearList", "spec", "names", "listKind"),
				field("None", "spec", "conversion", "strategy"), generation(1))
		}),
		withCRDPerCase(Case{
			ID: "CD-01/status", Level: Must, Title: "the server sets the status of a CRD: a create ignores it, and a write to the status changes nothing else",
			Why: "clients send back objects that they have read", Source: docStatus,
		}, spec, checkCRDStatus),
		onCRDPerCase(Case{
			ID: "CD-01/generation", Level: Must, Title: "changes of the spec increment the generation of a CRD, other changes do not",
			Why: "controllers of CRDs compare it", Source: docGeneration,
		}, spec, checkCRDGeneration),
		withCRDPerCase(Case{
			ID: "CD-01/names", Level: Must, Title: "short names, categories and the singular name are in both forms of discovery",
			Why: "kubectl get resolves names with them", Source: docCRDs,
		}, spec, checkNamesInDiscovery),
		withCRDPerCase(Case{
			ID: "CD-02", Level: Must, Title: "a version that is not served is NotFound, and not in discovery",
			Why: "clients choose a version from discovery", Source: docCRHandler,
		}, spec, checkUnservedVersion),
		onCRDPerCase(Case{
			ID: "CD-02/later", Level: Must, Title: "a version that is no longer served is NotFound; when it is served again, it has its objects",
			Why: "this is how versions are retired", Source: docCRDs,
		}, spec, checkVersionServedAgain),
		withCRDPerCase(Case{
			ID: "CD-03", Level: Should, Title: "objects can be created soon after the CRD is Established",
			Why: "installers continue as soon as it is Established", Source: docCRHandler,
		}, spec, checkServedOnceEstablished),
		withCRDPerCase(Case{
			ID: "CD-04", Level: Must, Title: "the name of a CRD is its plural name and its group",
			Why: "two CRDs must not define the same resource", Source: docCRDValidation,
		}, spec, func(ctx context.Context, d crdPerCase) error {
			d.body.withMeta("name", "wheels."+d.group)
			return d.create(ctx, d.invalid(cause(metav1.CauseTypeFieldValueInvalid, "metadata.name", `must be spec.names.plural+"."+spec.group`)))
		}),
		withCRDPerCase(Case{
			ID: "CD-04/syntax", Level: Must, Title: "names that cannot be part of a path are rejected",
			Why: "clients could not request the objects", Source: docCRDValidation,
		}, spec, checkCRDNameSyntax),
		onCRDPerCase(Case{
			ID: "CD-04/immutable", Level: Must, Title: "the group and the plural name are immutable; scope and kind are once the CRD is Established",
			Why: "the stored objects would become unreachable", Source: docCRDValidation,
		}, spec, checkImmutableNames),
		withCRDPerCase(Case{
			ID: "CD-04/required", Level: Must, Title: "a CRD without a scope or a kind is rejected, with a cause for each",
			Why: "nothing could be served", Source: docCRDValidation,
		}, spec, func(ctx context.Context, d crdPerCase) error {
			delete(d.spec(), "scope")
			delete(d.names(), "kind")
			required := metav1.CauseTypeFieldValueRequired
			return d.create(ctx, d.invalid(cause(required, "spec.scope", ""), cause(required, "spec.names.kind", ""),
				cause(required, "spec.names.singular", ""), cause(required, "spec.names.listKind", "")))
		}),
		withCRDPerCase(Case{
			ID: "CD-05", Level: Must, Title: "exactly one version is the storage version",
			Why: "an object is stored in one version", Source: docCRDs,
		}, spec, checkOneStorageVersion),
		withCRDPerCase(Case{
			ID: "CD-05/versions", Level: Must, Title: "duplicate version names and invalid version names are rejected",
			Why: "a path must identify one version", Source: docCRDValidation,
		}, spec, checkInvalidVersions),
		onCRDPerCase(Case{
			ID: "CD-05/storedVersions", Level: Must, Title: "status.storedVersions lists every former storage version, which cannot be removed from the CRD until a client removes it there",
			Why: "stored objects could become unreadable", Source: docCRDs + ", Versions",
		}, spec, checkStoredVersions),
		onCRDPerCase(Case{
			ID: "CD-06", Level: Must, Title: "objects of a namespaced resource are served in namespaces only",
			Why: "an object has one path", Source: docCRHandler,
		}, spec, checkNamespacedPaths),
		withCRDPerCase(Case{
			ID: "CD-06/cluster", Level: Must, Title: "objects of a cluster-scoped resource are served outside of namespaces only",
			Why: "an object has one path", Source: docCRHandler,
		}, spec, checkClusterPaths),
		withCRDPerCase(Case{
			ID: "CD-06/order", Level: Must, Title: "discovery lists versions by priority, whatever their order in the CRD",
			Why: "clients without a preference use the first version", Source: docCRDs + ", Version priority",
		}, spec, checkVersionPriority),
	}
}

func checkNewCRD(ctx context.Context, d crdPerCase) error {
	d.spec()["names"] = object{"plural": "gears", "kind": "Gear", "shortNames": []string{"g" + d.s.run.id}}
	if err := d.create(ctx, code(201)); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get(d.path()), code(200), kind("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
		condition("NamesAccepted", "True", "NoConflicts"), condition("Established", "True", "InitialNamesAccepted"),
		value([]string{"v1"}, "status", "storedVersions"), value(object{
			"plural": "gears", "singular": "gear", "kind": "Gear", "listKind": "GearList", "shortNames": []string{"g" + d.s.run.id},
		}, "status", "acceptedNames"))
}

func checkCRDStatus(ctx context.Context, d crdPerCase) error {
	d.body["status"] = object{"acceptedNames": object{"plural": "wheels", "kind": "Wheel"}, "conditions": []object{}, "storedVersions": []string{"v7"}}
	if err := d.create(ctx, code(201), value([]string{"v1"}, "status", "storedVersions")); err != nil {
		return err
	}
	established := condition("Established", "True", "InitialNamesAccepted")
	if err := d.s.waitFor(ctx, get(d.path()), established, field("gears", "status", "acceptedNames", "plural")); err != nil {
		return err
	}
	change := object{"status": object{"conditions": []object{}}, "metadata": object{"annotations": object{"a": "b"}}}
	if err := d.s.expect(ctx, mergePatch(d.path(), change), code(200), established, valueAt("b", "metadata", "annotations", "a")); err != nil {
		return err
	}
	change = object{"spec": object{"names": object{"shortNames": []string{"x" + d.s.run.id}}}}
	return d.s.expect(ctx, mergePatch(d.path()+"/status", change), code(200), value(nil, "spec", "names", "shortNames"))
}

func checkCRDGeneration(ctx context.Context, d crdPerCase, _ collection) error {
	return d.s.expectAll(ctx,
		send(get(d.path()), generation(1)),
		send(mergePatch(d.path(), object{"metadata": object{"labels": object{"a": "b"}}}), code(200), generation(1)),
		send(jsonPatch(d.path(), setOp(propertyPath("spec/description"), "what is wanted")), code(200), generation(2)),
	)
}

func checkNamesInDiscovery(ctx context.Context, d crdPerCase) error {
	short, category := "g"+d.s.run.id, "c"+d.s.run.id
	d.names()["shortNames"], d.names()["categories"], d.names()["singular"] = []string{short}, []string{category}, "onegear"
	c, err := d.createAndWait(ctx)
	if err != nil {
		return err
	}
	return poll(ctx, func(ctx context.Context) error {
		found, err := d.s.discoverResource(ctx, c.apiVersion, "gears")
		if err != nil {
			return err
		}
		if found == nil || found.SingularName != "onegear" || !slices.Equal(found.ShortNames, []string{short}) || !slices.Equal(found.Categories, []string{category}) {
			return fmt.Errorf("expected gears with singularName onegear, shortNames [%s] and categories [%s] in /apis/%s, got %+v", short, category, c.apiVersion, found)
		}
		groups, resp, err := d.s.aggregatedDiscovery(ctx, "/apis")
		if err != nil {
			return err
		}
		i := slices.IndexFunc(groups, func(g groupDiscovery) bool { return g.Metadata.Name == d.group })
		if i < 0 || len(groups[i].Versions) != 1 || len(groups[i].Versions[0].Resources) != 1 {
			return fmt.Errorf("expected one resource of %s in the aggregated form of /apis", d.group)
		}
		r := groups[i].Versions[0].Resources[0]
		if r.SingularResource != "onegear" || !slices.Equal(r.ShortNames, []string{short}) || !slices.Equal(r.Categories, []string{category}) {
			return resp.errorf("expected gears with the names onegear, %s and %s, got %+v", short, category, r)
		}
		return nil
	})
}

func checkUnservedVersion(ctx context.Context, d crdPerCase) error {
	old := crdVersion("v0", object{})
	old["served"] = false
	c, err := d.addVersions(old).createAndWait(ctx)
	if err != nil {
		return err
	}
	if err := d.s.expectAll(ctx,
		send(get(d.inVersion("v0", c).path()), pageNotFound),
		send(post(d.inVersion("v0", c).path(), d.inVersion("v0", c).object("a")), pageNotFound),
		send(get("/apis/"+d.group+"/v0"), code(404)),
	); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get("/apis/"+d.group), code(200), itemsHave([]string{"v1"}, "version", "versions"))
}

func checkVersionServedAgain(ctx context.Context, d crdPerCase, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	if err := d.patch(ctx, setOp("/spec/versions/-", crdVersion("v2", object{"spec": anySchema()}))); err != nil {
		return err
	}
	v2 := d.inVersion("v2", c)
	if err := d.s.waitFor(ctx, get(v2.item("a")), code(200), kind(v2.apiVersion, "Gear")); err != nil {
		return err
	}
	if err := d.patch(ctx, setOp("/spec/versions/0/served", false)); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(c.item("a")), pageNotFound); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get("/apis/"+d.group), code(200), itemsHave([]string{"v2"}, "version", "versions")); err != nil {
		return err
	}
	if err := d.s.expect(ctx, get(v2.item("a")), code(200)); err != nil {
		return err
	}
	if err := d.patch(ctx, setOp("/spec/versions/0/served", true)); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get(c.item("a")), code(200), kind(c.apiVersion, "Gear"))
}

// checkServedOnceEstablished creates an object as soon as the condition is set. The server may
// serve the objects slightly later.
func checkServedOnceEstablished(ctx context.Context, d crdPerCase) error {
	c, err := d.s.newCollection(ctx, d.collection("v1"), nil)
	if err != nil {
		return err
	}
	if err := d.create(ctx, code(201)); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(d.path()), condition("Established", "True", "InitialNamesAccepted")); err != nil {
		return err
	}
	r, err := d.s.do(ctx, post(c.path(), c.object("a")), code(201, 404))
	if err != nil || r.code == 201 {
		return err
	}
	return d.s.waitFor(ctx, post(c.path(), c.object("a")), code(201))
}

func checkCRDNameSyntax(ctx context.Context, d crdPerCase) error {
	invalid, label := metav1.CauseTypeFieldValueInvalid, "a DNS-1035 label must consist of lower case"
	d.body.withMeta("name", "Gears."+d.group)
	d.names()["plural"], d.names()["singular"], d.names()["kind"] = "Gears", "one_gear", "A Gear"
	d.names()["shortNames"], d.names()["categories"] = []string{"G"}, []string{"All"}
	return d.create(ctx, d.invalid(
		cause(invalid, "metadata.name", "a lowercase RFC 1123 subdomain must consist of"),
		cause(invalid, "spec.names.plural", label), cause(invalid, "spec.names.singular", label), cause(invalid, "spec.names.shortNames[0]", label),
		cause(invalid, "spec.names.kind", "may have mixed case, but should otherwise match"),
		cause(invalid, "spec.names.listKind", "may have mixed case, but should otherwise match"),
		cause(invalid, "spec.names.categories[0]", label),
	))
}

func checkImmutableNames(ctx context.Context, d crdPerCase, _ collection) error {
	invalid := metav1.CauseTypeFieldValueInvalid
	if err := d.s.waitFor(ctx, get(d.path()), condition("Established", "True", "InitialNamesAccepted")); err != nil {
		return err
	}
	const immutable = "field is immutable"
	return d.s.expectAll(ctx,
		send(jsonPatch(d.path(), setOp("/spec/scope", "Cluster")), d.invalid(cause(invalid, "spec.scope", immutable))),
		send(jsonPatch(d.path(), setOp("/spec/names/kind", "Wheel")), d.invalid(cause(invalid, "spec.names.kind", immutable))),
		send(jsonPatch(d.path(), setOp("/spec/group", "x."+d.group)), d.invalid(cause(invalid, "spec.group", immutable))),
		send(jsonPatch(d.path(), setOp("/spec/names/plural", "wheels")), d.invalid(cause(invalid, "spec.names.plural", immutable))),
	)
}

func checkOneStorageVersion(ctx context.Context, d crdPerCase) error {
	const one = "must have exactly one version marked as storage version"
	invalid := metav1.CauseTypeFieldValueInvalid
	second := crdVersion("v2", object{})
	second["storage"] = true
	d = d.addVersions(second)
	if err := d.create(ctx, d.invalid(cause(invalid, "spec.versions", one), cause(invalid, "status.storedVersions", "must have the storage version v2"))); err != nil {
		return err
	}
	d.version(0)["storage"], second["storage"] = false, false
	return d.create(ctx, d.invalid(cause(invalid, "spec.versions", one), cause(invalid, "status.storedVersions", "must have at least one stored version")))
}

func checkInvalidVersions(ctx context.Context, d crdPerCase) error {
	twice := crdVersion("v1", object{})
	twice["storage"] = false
	d.addVersions(twice, crdVersion("V2", object{}))
	return d.create(ctx, d.invalid(
		cause(metav1.CauseTypeFieldValueInvalid, "spec.versions", "must contain unique version names"),
		cause(metav1.CauseTypeFieldValueInvalid, "spec.versions[2].name", "a DNS-1035 label must consist of"),
	))
}

func checkStoredVersions(ctx context.Context, d crdPerCase, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	v2 := crdVersion("v2", object{"spec": anySchema()})
	v2["storage"] = true
	if err := d.patch(ctx, setOp("/spec/versions/0/storage", false), setOp("/spec/versions/-", v2)); err != nil {
		return err
	}
	if err := d.s.expect(ctx, get(d.path()), value([]string{"v1", "v2"}, "status", "storedVersions")); err != nil {
		return err
	}
	missing := d.invalid(cause(metav1.CauseTypeFieldValueInvalid, "status.storedVersions[0]", "missing from spec.versions; v1 was previously a storage version"))
	without := object{"op": "remove", "path": "/spec/versions/0"}
	if err := d.s.expect(ctx, jsonPatch(d.path(), without), missing); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(d.inVersion("v2", c).item("a")), code(200)); err != nil {
		return err
	}
	if _, err := d.inVersion("v2", c).annotate(ctx, "a", "migrated"); err != nil { // the write stores it in v2
		return err
	}
	migrated := mergePatch(d.path()+"/status", object{"status": object{"storedVersions": []string{"v2"}}})
	if err := d.s.expect(ctx, migrated, code(200), value([]string{"v2"}, "status", "storedVersions")); err != nil {
		return err
	}
	if err := d.patch(ctx, without); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get(c.path()), pageNotFound)
}

func checkNamespacedPaths(ctx context.Context, d crdPerCase, c collection) error {
	return d.s.expectAll(ctx,
		send(post(c.path(), c.object("a")), code(201), field(c.namespace, "metadata", "namespace")),
		send(get(c.allNamespacesPath()), code(200), itemsHave([]string{"Gear"}, "kind", "items")),
		send(get(c.allNamespacesPath()+"/a"), pageNotFound),
		send(post(c.allNamespacesPath(), c.object("b").withMeta("namespace", c.namespace)), code(404, 405)),
	)
}

func checkClusterPaths(ctx context.Context, d crdPerCase) error {
	d.spec()["scope"] = "Cluster"
	c, err := d.createAndWait(ctx)
	if err != nil {
		return err
	}
	return d.s.expectAll(ctx,
		send(post(c.allNamespacesPath(), c.object("a")), code(201), value(nil, "metadata", "namespace")),
		send(get(c.allNamespacesPath()+"/a"), code(200), kind(c.apiVersion, "Gear")),
		send(get(c.item("a")), pageNotFound),
		send(get(c.path()), pageNotFound),
		send(post(c.path(), c.object("b")), pageNotFound),
	)
}

func checkVersionPriority(ctx context.Context, d crdPerCase) error {
	names := []string{"v1beta10", "foo", "v11alpha2", "v10", "v2", "v1beta2", "bar"}
	for _, name := range names {
		d = d.addVersions(crdVersion(name, object{}))
	}
	if _, err := d.createAndWait(ctx); err != nil {
		return err
	}
	sorted := []string{"v10", "v2", "v1", "v1beta10", "v1beta2", "v11alpha2", "bar", "foo"}
	return d.s.waitFor(ctx, get("/apis/"+d.group), code(200), itemsHave(sorted, "version", "versions"), field("v10", "preferredVersion", "version"))
}
