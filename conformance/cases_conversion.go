package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docConversion = "Kubernetes documentation, Versions in CustomResourceDefinitions"

// conversionCases are about objects in several versions (CD-15).
func conversionCases() []Case {
	about := func(id, title, why string, check gearCheck) Case {
		c := Case{ID: id, Level: Should, Title: title, Why: why, Source: docConversion}
		return defining(c, object{"spec": record(object{"size": typed("integer"), "first": typed("string")})}, func(ctx context.Context, d definition) error {
			second := versionOf("v2", object{"spec": record(object{"size": typed("integer"), "second": typed("string").with("default", "x")})})
			in, err := d.also(second).serve(ctx)
			if err != nil {
				return err
			}
			return check(ctx, d, in)
		})
	}
	return []Case{
		about("CD-15", "without a converter the versions differ in their apiVersion alone, and an object has one resourceVersion in all", "that is what None means", oneObjectInVersions),
		about("CD-15/schema", "an object is pruned by the schemas of the version that is asked for and of the one that is stored, and has the defaults of that one", "a version is an API of its own", schemaOfVersion),
		about("CD-15/watch", "watches and lists show every object in the version of their path", "informers know one version", func(ctx context.Context, d definition, c collection) error {
			second := d.under("v2", c)
			if _, err := c.create(ctx, c.gear("a", object{"size": 1})); err != nil {
				return err
			}
			if err := d.s.try(ctx, get(second.path()), code(200), kind(second.apiVersion, "GearList"), lists([]string{second.apiVersion}, "apiVersion", "items")); err != nil {
				return err
			}
			return firstEvent(ctx, second, `{"size":1}`)
		}),
		about("CD-15/write", "an object of another version than that of the path is refused", "the server must not guess what is meant", func(ctx context.Context, d definition, c collection) error {
			second := d.under("v2", c)
			return d.s.all(ctx,
				ask(post(second.path(), c.gear("a", object{"size": 1})), refusal{code: 400, reason: metav1.StatusReasonBadRequest}.check),
				ask(post(c.path(), c.gear("a", object{"size": 1})), code(201)),
				ask(mergePatch(second.item("a"), object{"spec": object{"size": 2}}), code(200), kind(second.apiVersion, "Gear"), generation(2)),
				ask(get(c.item("a")), code(200), kind(c.apiVersion, "Gear"), holds(2, "spec", "size")),
			)
		}),
		about("CD-15/stored", "objects stay readable when another version is stored", "that is how versions are retired", storageChange),
		about("CD-15/webhook", "while the converter cannot be reached, other versions than the stored one are errors of the server", "nobody may be told half of the truth", brokenConverter),
		defining(Case{
			ID: "CD-15/invalid", Level: Should, Title: "a converter without an address, and one that is given with None, are refused", Why: "no object could be converted", Source: docDefinition,
		}, object{}, func(ctx context.Context, d definition) error {
			d.spec()["conversion"] = object{"strategy": "Webhook"}
			required, invalid := metav1.CauseTypeFieldValueRequired, metav1.CauseTypeForbidden
			if err := d.send(ctx, code(422), hasCause(cause(required, "spec.conversion.webhookClientConfig", "required when strategy is set to Webhook"))); err != nil {
				return err
			}
			d.spec()["conversion"] = object{"strategy": "None", "webhook": converter()["webhook"]}
			if err := d.send(ctx, code(422), hasCause(cause(invalid, "spec.conversion.webhookClientConfig", "should not be set when strategy is not set to Webhook"))); err != nil {
				return err
			}
			d.spec()["conversion"] = object{"strategy": "Magic"}
			return d.send(ctx, code(422), hasCause(cause(metav1.CauseTypeFieldValueNotSupported, "spec.conversion.strategy", `Unsupported value: "Magic"`)))
		}),
	}
}

// converter is the conversion by a webhook at a port where nobody listens.
func converter() object {
	return object{"strategy": "Webhook", "webhook": object{
		"conversionReviewVersions": []string{"v1"}, "clientConfig": object{"url": "https://127.0.0.1:1/convert"},
	}}
}

func oneObjectInVersions(ctx context.Context, d definition, c collection) error {
	second := d.under("v2", c)
	o, err := c.create(ctx, c.gear("a", object{"size": 1}))
	if err != nil {
		return err
	}
	if err := d.s.all(ctx,
		ask(get(c.item("a")), code(200), kind(c.apiVersion, "Gear"), at(o.ResourceVersion), holds(1, "spec", "size")),
		ask(get(second.item("a")), code(200), kind(second.apiVersion, "Gear"), at(o.ResourceVersion), sameUID(o.UID), holds(1, "spec", "size")),
		ask(post(second.path(), second.gear("b", object{"size": 2})), code(201), kind(second.apiVersion, "Gear")),
		ask(get(c.item("b")), code(200), kind(c.apiVersion, "Gear"), holds(2, "spec", "size")),
		ask(del(second.item("b")), code(200)),
		ask(get(c.item("b")), code(404)),
	); err != nil {
		return err
	}
	return d.s.try(ctx, get(c.path()), lists([]string{c.apiVersion}, "apiVersion", "items"))
}

func schemaOfVersion(ctx context.Context, d definition, c collection) error {
	second := d.under("v2", c)
	return d.s.all(ctx,
		ask(post(c.path(), c.gear("a", object{"size": 1, "first": "f", "second": "s"})), code(201), holds(object{"size": 1, "first": "f"}, "spec")),
		ask(get(second.item("a")), code(200), holds(object{"size": 1}, "spec")), // what is stored in v1 has the defaults of v1
		ask(get(c.item("a")), code(200), holds(object{"size": 1, "first": "f"}, "spec")),
		ask(mergePatch(second.item("a"), object{"spec": object{"size": 2}}), code(200), holds(object{"size": 2}, "spec")),
		ask(get(c.item("a")), code(200), holds(object{"size": 2}, "spec")),
		ask(post(second.path(), second.gear("b", object{"size": 3, "second": "s"})), code(201), holds(object{"size": 3}, "spec")), // v1 has no such field
	)
}

func storageChange(ctx context.Context, d definition, c collection) error {
	o, err := c.create(ctx, c.gear("a", object{"size": 1, "first": "f"}))
	if err != nil {
		return err
	}
	if err := d.change(ctx, set("/spec/versions/0/storage", false), set("/spec/versions/1/storage", true)); err != nil {
		return err
	}
	second := d.under("v2", c)
	if err := d.s.try(ctx, post(second.path(), second.gear("b", object{})), code(201)); err != nil {
		return err
	}
	// While the server has not taken the change in, it stores v1, which has no such field.
	kept := object{"spec": object{"second": "kept"}}
	if err := d.s.until(ctx, mergePatch(second.item("b"), kept), code(200), holds("kept", "spec", "second")); err != nil {
		return err
	}
	return d.s.all(ctx,
		ask(get(c.item("a")), code(200), kind(c.apiVersion, "Gear"), at(o.ResourceVersion), holds(object{"size": 1, "first": "f"}, "spec")),
		ask(get(second.item("a")), code(200), kind(second.apiVersion, "Gear"), holds(object{"size": 1}, "spec")),
		ask(get(second.item("b")), code(200), holds(object{"second": "kept"}, "spec")),
		ask(get(c.path()), code(200), lists([]string{c.apiVersion, c.apiVersion}, "apiVersion", "items")),
		ask(mergePatch(c.item("a"), object{"spec": object{"size": 2}}), code(200), holds(2, "spec", "size")),
	)
}

func brokenConverter(ctx context.Context, d definition, c collection) error {
	second := d.under("v2", c)
	if _, err := c.create(ctx, c.gear("a", object{"size": 1})); err != nil {
		return err
	}
	if err := d.change(ctx, set("/spec/conversion", converter())); err != nil {
		return err
	}
	failed := refusal{
		code: 500, reason: metav1.StatusReasonInternalError, says: "conversion webhook for " + d.group + `/v1, Kind=Gear failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
	}.check
	if err := d.s.until(ctx, get(second.item("a")), failed); err != nil {
		return err
	}
	return d.s.all(ctx,
		ask(get(second.path()), code(500, 429)), // a cache in front of the storage is never ready
		ask(mergePatch(second.item("a"), object{"spec": object{"size": 2}}), code(500)),
		ask(post(second.path(), second.gear("b", object{"size": 2})), code(500)),
		ask(get(c.item("b")), code(404)),
		ask(get(c.item("a")), code(200), holds(1, "spec", "size")),
		ask(mergePatch(c.item("a"), object{"spec": object{"size": 3}}), code(200)),
		ask(get(c.path()), code(200)),
	)
}
