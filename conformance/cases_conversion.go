package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docConversion = "Kubernetes documentation, Versions in CustomResourceDefinitions"

// conversionCases returns the cases about objects in several versions (CD-15).
func conversionCases() []Case {
	about := func(id, title, why string, check perCaseCheck) Case {
		c := Case{ID: id, Level: Should, Title: title, Why: why, Source: docConversion}
		return withCRDPerCase(c, object{"spec": objectSchema(object{"size": typeSchema("integer"), "first": typeSchema("string")})}, func(ctx context.Context, d crdPerCase) error {
			second := crdVersion("v2", object{"spec": objectSchema(object{"size": typeSchema("integer"), "second": typeSchema("string").with("default", "x")})})
			in, err := d.addVersions(second).createAndWait(ctx)
			if err != nil {
				return err
			}
			return check(ctx, d, in)
		})
	}
	return []Case{
		about("CD-15", "without a conversion webhook, the versions of an object differ in apiVersion only, and share one resourceVersion", "this is the strategy None", checkObjectInVersions),
		about("CD-15/schema", "an object is pruned by the schemas of the requested and of the storage version, and has the defaults of the storage version", "each version is an API of its own", checkVersionSchemas),
		about("CD-15/watch", "watches and lists return every object in the version of their path", "an informer handles one version", func(ctx context.Context, d crdPerCase, c collection) error {
			second := d.inVersion("v2", c)
			if _, err := c.create(ctx, c.withSpec("a", object{"size": 1})); err != nil {
				return err
			}
			if err := d.s.expect(ctx, get(second.path()), code(200), kind(second.apiVersion, "GearList"), itemsHave([]string{second.apiVersion}, "apiVersion", "items")); err != nil {
				return err
			}
			return expectFirstEvent(ctx, second, `{"size":1}`)
		}),
		about("CD-15/write", "an object of another version than that of the path is rejected", "the server must not guess the intended version", func(ctx context.Context, d crdPerCase, c collection) error {
			second := d.inVersion("v2", c)
			return d.s.expectAll(ctx,
				send(post(second.path(), c.withSpec("a", object{"size": 1})), failure{code: 400, reason: metav1.StatusReasonBadRequest}.check),
				send(post(c.path(), c.withSpec("a", object{"size": 1})), code(201)),
				send(mergePatch(second.item("a"), object{"spec": object{"size": 2}}), code(200), kind(second.apiVersion, "Gear"), generation(2)),
				send(get(c.item("a")), code(200), kind(c.apiVersion, "Gear"), valueAt(2, "spec", "size")),
			)
		}),
		about("CD-15/stored", "objects stay readable when the storage version changes", "this is how versions are retired", checkStorageVersionChange),
		about("CD-15/webhook", "while the conversion webhook is unreachable, requests in other versions than the storage version fail", "the server must not return unconverted or partial data", checkUnreachableWebhook),
		withCRDPerCase(Case{
			ID: "CD-15/invalid", Level: Should, Title: "a webhook without an address, or with the strategy None, is rejected", Why: "no object could be converted", Source: docCRDValidation,
		}, object{}, func(ctx context.Context, d crdPerCase) error {
			d.spec()["conversion"] = object{"strategy": "Webhook"}
			required, invalid := metav1.CauseTypeFieldValueRequired, metav1.CauseTypeForbidden
			if err := d.create(ctx, code(422), hasCause(cause(required, "spec.conversion.webhookClientConfig", "required when strategy is set to Webhook"))); err != nil {
				return err
			}
			d.spec()["conversion"] = object{"strategy": "None", "webhook": unreachableWebhook()["webhook"]}
			if err := d.create(ctx, code(422), hasCause(cause(invalid, "spec.conversion.webhookClientConfig", "should not be set when strategy is not set to Webhook"))); err != nil {
				return err
			}
			d.spec()["conversion"] = object{"strategy": "Magic"}
			return d.create(ctx, code(422), hasCause(cause(metav1.CauseTypeFieldValueNotSupported, "spec.conversion.strategy", `Unsupported value: "Magic"`)))
		}),
	}
}

// unreachableWebhook returns a conversion by a webhook at a port that is not in use.
func unreachableWebhook() object {
	return object{"strategy": "Webhook", "webhook": object{
		"conversionReviewVersions": []string{"v1"}, "clientConfig": object{"url": "https://127.0.0.1:1/convert"},
	}}
}

func checkObjectInVersions(ctx context.Context, d crdPerCase, c collection) error {
	second := d.inVersion("v2", c)
	o, err := c.create(ctx, c.withSpec("a", object{"size": 1}))
	if err != nil {
		return err
	}
	if err := d.s.expectAll(ctx,
		send(get(c.item("a")), code(200), kind(c.apiVersion, "Gear"), atResourceVersion(o.ResourceVersion), valueAt(1, "spec", "size")),
		send(get(second.item("a")), code(200), kind(second.apiVersion, "Gear"), atResourceVersion(o.ResourceVersion), hasUID(o.UID), valueAt(1, "spec", "size")),
		send(post(second.path(), second.withSpec("b", object{"size": 2})), code(201), kind(second.apiVersion, "Gear")),
		send(get(c.item("b")), code(200), kind(c.apiVersion, "Gear"), valueAt(2, "spec", "size")),
		send(del(second.item("b")), code(200)),
		send(get(c.item("b")), code(404)),
	); err != nil {
		return err
	}
	return d.s.expect(ctx, get(c.path()), itemsHave([]string{c.apiVersion}, "apiVersion", "items"))
}

func checkVersionSchemas(ctx context.Context, d crdPerCase, c collection) error {
	second := d.inVersion("v2", c)
	return d.s.expectAll(ctx,
		send(post(c.path(), c.withSpec("a", object{"size": 1, "first": "f", "second": "s"})), code(201), valueAt(object{"size": 1, "first": "f"}, "spec")),
		send(get(second.item("a")), code(200), valueAt(object{"size": 1}, "spec")), // an object that is stored in v1 has the defaults of v1
		send(get(c.item("a")), code(200), valueAt(object{"size": 1, "first": "f"}, "spec")),
		send(mergePatch(second.item("a"), object{"spec": object{"size": 2}}), code(200), valueAt(object{"size": 2}, "spec")),
		send(get(c.item("a")), code(200), valueAt(object{"size": 2}, "spec")),
		send(post(second.path(), second.withSpec("b", object{"size": 3, "second": "s"})), code(201), valueAt(object{"size": 3}, "spec")), // v1 does not have the field
	)
}

func checkStorageVersionChange(ctx context.Context, d crdPerCase, c collection) error {
	o, err := c.create(ctx, c.withSpec("a", object{"size": 1, "first": "f"}))
	if err != nil {
		return err
	}
	if err := d.patch(ctx, setOp("/spec/versions/0/storage", false), setOp("/spec/versions/1/storage", true)); err != nil {
		return err
	}
	second := d.inVersion("v2", c)
	if err := d.s.expect(ctx, post(second.path(), second.withSpec("b", object{})), code(201)); err != nil {
		return err
	}
	// Until the server applies the change, it stores v1, which does not have the field.
	addsField := object{"spec": object{"second": "kept"}}
	if err := d.s.waitFor(ctx, mergePatch(second.item("b"), addsField), code(200), valueAt("kept", "spec", "second")); err != nil {
		return err
	}
	return d.s.expectAll(ctx,
		send(get(c.item("a")), code(200), kind(c.apiVersion, "Gear"), atResourceVersion(o.ResourceVersion), valueAt(object{"size": 1, "first": "f"}, "spec")),
		send(get(second.item("a")), code(200), kind(second.apiVersion, "Gear"), valueAt(object{"size": 1}, "spec")),
		send(get(second.item("b")), code(200), valueAt(object{"second": "kept"}, "spec")),
		send(get(c.path()), code(200), itemsHave([]string{c.apiVersion, c.apiVersion}, "apiVersion", "items")),
		send(mergePatch(c.item("a"), object{"spec": object{"size": 2}}), code(200), valueAt(2, "spec", "size")),
	)
}

func checkUnreachableWebhook(ctx context.Context, d crdPerCase, c collection) error {
	second := d.inVersion("v2", c)
	if _, err := c.create(ctx, c.withSpec("a", object{"size": 1})); err != nil {
		return err
	}
	if err := d.patch(ctx, setOp("/spec/conversion", unreachableWebhook())); err != nil {
		return err
	}
	failed := failure{
		code: 500, reason: metav1.StatusReasonInternalError, contains: "conversion webhook for " + d.group + `/v1, Kind=Gear failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
	}.check
	if err := d.s.waitFor(ctx, get(second.item("a")), failed); err != nil {
		return err
	}
	return d.s.expectAll(ctx,
		send(get(second.path()), code(500, 429)), // 429 if the watch cache cannot be initialized
		send(mergePatch(second.item("a"), object{"spec": object{"size": 2}}), code(500)),
		send(post(second.path(), second.withSpec("b", object{"size": 2})), code(500)),
		send(get(c.item("b")), code(404)),
		send(get(c.item("a")), code(200), valueAt(1, "spec", "size")),
		send(mergePatch(c.item("a"), object{"spec": object{"size": 3}}), code(200)),
		send(get(c.path()), code(200)),
	)
}
