package conformance

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

const docWebhookRequest = docWebhooks + ", Webhook request and response: Request"

// webhookReviewCases returns the cases about what a webhook is sent (WH-22 to WH-35).
func webhookReviewCases() []Case {
	return slices.Concat(
		onBothWebhooks(Case{
			ID: "WH-25", Level: Must, Title: "a review names the operation, the object, its kind and its resource, as requested too",
			Why: "webhooks for several resources choose by it", Source: docWebhookRequest,
		}, checkReviewNames),
		onBothWebhooks(Case{
			ID: "WH-29", Level: Must, Title: "of a create, the review has the new object, which is not stored yet, and no old object",
			Why: "webhooks validate it", Source: docWebhookRequest,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.validating(ctx, w.webhook("a")); err != nil {
				return err
			}
			o, err := w.write(ctx, post(c.path(), c.object("a").withLabel("l", "1").withData("k", "1")), code(201))
			if err != nil {
				return err
			}
			return w.expectReview("a", valueAt(nil, "request", "oldObject"), hasRequestField("oldObject"), valueAt(c.apiVersion, "request", "object", "apiVersion"),
				valueAt(c.kind, "request", "object", "kind"), field("a", "request", "object", "metadata", "name"), field(c.namespace, "request", "object", "metadata", "namespace"),
				field(string(o.UID), "request", "object", "metadata", "uid"), hasField("request", "object", "metadata", "creationTimestamp"),
				noField("request", "object", "metadata", "resourceVersion"), valueAt(object{"l": "1"}, "request", "object", "metadata", "labels"),
				valueAt(object{"k": "1"}, "request", "object", "data"))
		}),
		onBothWebhooks(Case{
			ID: "WH-30", Level: Must, Title: "of an update, the review has the new object and the stored one",
			Why: "webhooks compare them", Source: docWebhookRequest,
		}, checkReviewOfUpdate),
		onBothWebhooks(Case{
			ID: "WH-31", Level: Must, Title: "of a deletion, the review has the deleted object as the old object, and no object",
			Why: "webhooks protect objects", Source: docWebhookRequest,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			o, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201))
			if err != nil {
				return err
			}
			if err := w.validating(ctx, w.webhook("a")); err != nil {
				return err
			}
			if err := c.delete(ctx, "a"); err != nil {
				return err
			}
			return w.expectReview("a", field("DELETE", "request", "operation"), field("a", "request", "name"), valueAt(nil, "request", "object"), hasRequestField("object"),
				field(string(o.UID), "request", "oldObject", "metadata", "uid"), field(o.ResourceVersion, "request", "oldObject", "metadata", "resourceVersion"),
				valueAt(object{"k": "1"}, "request", "oldObject", "data"))
		}),
		onBothWebhooks(Case{
			ID: "WH-32", Level: Must, Title: "a review has the options of the request, with the kind CreateOptions, UpdateOptions or DeleteOptions",
			Why: "webhooks see the field manager and the propagation policy", Source: docWebhookRequest,
		}, checkReviewOptions),
		onBothWebhooks(Case{
			ID: "WH-33", Level: Must, Title: "a review tells whether the request is a dry run",
			Why: "webhooks with side effects must not have them", Source: docWebhooks + ", Side effects",
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.validating(ctx, w.webhook("a")); err != nil {
				return err
			}
			for _, one := range []struct {
				send call
				dry  bool
			}{
				{c.dryRunCreate(c.object("a")), true}, {post(c.path(), c.object("a")), false},
				{mergePatch(c.item("a"), object{}).withQuery("dryRun=All"), true}, {del(c.item("a")).withQuery("dryRun=All"), true}, {del(c.item("a")), false},
			} {
				if _, err := w.write(ctx, one.send, code(200, 201)); err != nil {
					return err
				}
				if err := w.expectReview("a", valueAt(one.dry, "request", "dryRun")); err != nil {
					return err
				}
			}
			return nil
		}),
		onBothWebhooks(Case{
			ID: "WH-34", Level: Should, Title: "of a create with generateName, mutating webhooks get no name, and validating ones the generated name",
			Why: "the name is generated after mutation", Source: docWebhookRequest + "; " + webhookPlugin,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.mutating(ctx, w.webhook("m")); err != nil {
				return err
			}
			if err := w.validating(ctx, w.webhook("v")); err != nil {
				return err
			}
			o, err := w.write(ctx, post(c.path(), c.object("").withMeta("generateName", "gen-")), code(201))
			if err != nil {
				return err
			}
			calls, err := w.callsInOrder("m", "v")
			if err != nil {
				return err
			}
			if err := calls[0].expect(noField("request", "name"), field("gen-", "request", "object", "metadata", "generateName"), valueAt(nil, "request", "object", "metadata", "name")); err != nil {
				return err
			}
			return calls[1].expect(field(o.Name, "request", "name"), field(o.Name, "request", "object", "metadata", "name"))
		}),
		onBothWebhooks(Case{
			ID: "WH-35", Level: Must, Title: "a deletecollection is a review of a DELETE for each object, without request.name",
			Why: "a webhook that protects an object must see its deletion", Source: docWebhooks + ", Matching requests: rules; " + webhookPlugin,
		}, checkReviewOfCollection),
		[]Case{
			onWebhooks(Case{
				ID: "WH-22", Level: Must, Title: "a webhook is called with a POST of an AdmissionReview in JSON",
				Why: "it is the protocol", Source: docWebhookRequest,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if err := w.validating(ctx, w.webhook("a")); err != nil {
					return err
				}
				if _, err := w.write(ctx, post(c.path(), c.object("a")), code(201)); err != nil {
					return err
				}
				return w.expectReview("a", isPost, mediaType("application/json"), kind("admission.k8s.io/v1", "AdmissionReview"), hasField("request"), noField("response"))
			}),
			onWebhooks(Case{
				ID: "WH-23", Level: Must, Title: "a review has the first of the admissionReviewVersions that the server knows",
				Why: "webhooks list what they understand", Source: docWebhookRequest,
			}, checkReviewVersions),
			onWebhooks(Case{
				ID: "WH-24", Level: Must, Title: "each call has a uid of its own, which is not that of the object",
				Why: "it identifies the call in logs", Source: docWebhookRequest,
			}, checkReviewUIDs),
			onCustomWebhooks(Case{
				ID: "WH-26", Level: Must, Title: "a review of a subresource names it, and has the whole object",
				Why: "webhooks for several resources choose by it", Source: docWebhookRequest,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if _, err := w.write(ctx, post(c.path(), c.object("a").withSpec(object{"size": 1})), code(201)); err != nil {
					return err
				}
				if err := w.validating(ctx, w.webhook("a").withAdmissionRules(w.ruleFor(c.resource+"/status"))); err != nil {
					return err
				}
				if _, err := w.write(ctx, mergePatch(c.item("a")+"/status", object{"status": object{"phase": "x"}, "spec": object{"size": 2}}), code(200)); err != nil {
					return err
				}
				return w.expectReview("a", field("status", "request", "subResource"), field("status", "request", "requestSubResource"), field("UPDATE", "request", "operation"),
					valueAt(c.kind, "request", "kind", "kind"), valueAt(c.resource, "request", "resource", "resource"),
					valueAt("x", "request", "object", "status", "phase"), valueAt(1, "request", "object", "spec", "size"), noField("request", "oldObject", "status"))
			}),
			onCustomWebhooks(Case{
				ID: "WH-27", Level: Must, Title: "a review of the scale subresource has Scales, and the resource of the scaled object",
				Why: "the webhook need not know the kind", Source: docWebhookRequest,
			}, checkReviewOfScale),
			onWebhooks(Case{
				ID: "WH-28", Level: Must, Title: "a review has the user of the request, with groups",
				Why: "webhooks decide by user", Source: docWebhookRequest,
			}, checkReviewUser),
			onCustomWebhooks(Case{
				ID: "WH-36", Level: Should, Title: "the object in a review has defaults and managedFields, and no fields that are not in the schema",
				Why: "webhooks see what will be stored", Source: webhookPlugin,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if err := w.mutating(ctx, w.webhook("a")); err != nil {
					return err
				}
				if _, err := w.write(ctx, post(c.path(), c.object("a").withSpec(object{"size": 1, "bogus": 1})), code(201)); err != nil {
					return err
				}
				return w.expectReview("a", valueAt(object{"size": 1, "color": "grey"}, "request", "object", "spec"),
					valueAt("fakeapi-conformance", "request", "object", "metadata", "managedFields", "0", "manager"))
			}),
			onWebhooks(Case{
				ID: "WH-37", Level: Should, Title: "an object with a finalizer is sent as DELETE with every deletion, and as UPDATE when the finalizer is removed",
				Why: "the removal of the object itself is not sent", Source: webhookPlugin,
			}, checkReviewOfFinalizers),
		},
	)
}

// withSpec sets the spec.
func (o object) withSpec(spec object) object { return o.with("spec", spec) }

// ruleFor returns a rule for updates of a resource in the group of the case.
func (w *webhooks) ruleFor(resource string) object {
	one := w.rule("UPDATE")
	one["resources"] = []string{resource}
	return one
}

// expectReview expects one call, and checks it.
func (w *webhooks) expectReview(name string, expect ...expectation) error {
	calls, err := w.calls(name)
	if err != nil {
		return err
	}
	return calls[0].expect(expect...)
}

// isPost expects a call by POST.
func isPost(r *response) error {
	if r.method != http.MethodPost {
		return fmt.Errorf("expected POST, got %s", r.method)
	}
	return nil
}

// hasRequestField expects that a field of the request is present, though it may be null.
func hasRequestField(name string) expectation {
	return func(r *response) error {
		request, err := r.valueAt("request")
		if err != nil {
			return err
		}
		fields, _ := request.(map[string]any)
		if _, found := fields[name]; !found {
			return fmt.Errorf("expected request.%s, got none", name)
		}
		return nil
	}
}

func checkReviewNames(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("a")); err != nil {
		return err
	}
	_, version, named := strings.Cut(c.apiVersion, "/")
	if !named {
		version = c.apiVersion
	}
	kindOf := object{"group": c.group, "version": version, "kind": c.kind}
	resource := object{"group": c.group, "version": version, "resource": c.resource}
	for _, one := range []struct {
		send      call
		operation string
	}{
		{post(c.path(), c.object("a")), "CREATE"}, {mergePatch(c.item("a"), object{}), "UPDATE"}, {del(c.item("a")), "DELETE"},
	} {
		if _, err := w.write(ctx, one.send, code(200, 201)); err != nil {
			return err
		}
		if err := w.expectReview("a", field(one.operation, "request", "operation"), field("a", "request", "name"), field(c.namespace, "request", "namespace"),
			valueAt(kindOf, "request", "kind"), valueAt(kindOf, "request", "requestKind"),
			valueAt(resource, "request", "resource"), valueAt(resource, "request", "requestResource"),
			noField("request", "subResource"), noField("request", "requestSubResource")); err != nil {
			return err
		}
	}
	return nil
}

func checkReviewOfUpdate(ctx context.Context, w *webhooks, c collection) error {
	o, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201))
	if err != nil {
		return err
	}
	if err := w.validating(ctx, w.webhook("a")); err != nil {
		return err
	}
	for i, next := range []call{
		put(c.item("a"), c.object("a").withData("k", "2").withMeta("resourceVersion", o.ResourceVersion)),
		mergePatch(c.item("a"), object{"data": object{"k": "3"}}),
		jsonPatch(c.item("a"), setOp("/data/k", "4")),
		apply(c.item("a"), c.object("a").withData("k", "5")).withQuery("force=true"),
	} {
		before := o.ResourceVersion
		if o, err = w.write(ctx, next, code(200)); err != nil {
			return err
		}
		if err := w.expectReview("a", field("UPDATE", "request", "operation"),
			valueAt(object{"k": fmt.Sprint(i + 1)}, "request", "oldObject", "data"), field(before, "request", "oldObject", "metadata", "resourceVersion"),
			valueAt(object{"k": fmt.Sprint(i + 2)}, "request", "object", "data"), field(before, "request", "object", "metadata", "resourceVersion"),
			field(string(o.UID), "request", "object", "metadata", "uid"), valueAt(c.kind, "request", "oldObject", "kind")); err != nil {
			return err
		}
	}
	return nil
}

func checkReviewVersions(ctx context.Context, w *webhooks, c collection) error {
	versions := map[string][]string{"v1": {"v1", "v1beta1"}, "beta": {"v1beta1", "v1"}, "unknown": {"v7", "v1"}}
	var hooks []object
	for name, list := range sortedByKey(versions) {
		hooks = append(hooks, w.webhook(name).with("admissionReviewVersions", list))
	}
	if err := w.validating(ctx, hooks...); err != nil {
		return err
	}
	if _, err := w.write(ctx, post(c.path(), c.object("a")), code(201)); err != nil {
		return err
	}
	calls, err := w.calls("v1", "beta", "unknown")
	if err != nil {
		return err
	}
	want := map[string]string{"v1": "v1", "beta": "v1beta1", "unknown": "v1"}
	for _, one := range calls {
		if err := one.expect(kind("admission.k8s.io/"+want[one.webhook()], "AdmissionReview")); err != nil {
			return err
		}
	}
	return nil
}

func checkReviewUIDs(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("a"), w.webhook("b")); err != nil {
		return err
	}
	o, err := w.write(ctx, post(c.path(), c.object("a")), code(201))
	if err != nil {
		return err
	}
	calls, err := w.calls("a", "b")
	if err != nil {
		return err
	}
	seen := map[string]bool{string(o.UID): true}
	for _, one := range calls {
		uid := string(one.decoded.Request.UID)
		if err := one.expect(matchesPattern(regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), "request", "uid")); err != nil {
			return err
		}
		if seen[uid] {
			return one.errorf("expected a new uid, got %s again", uid)
		}
		seen[uid] = true
	}
	return nil
}

func checkReviewOfScale(ctx context.Context, w *webhooks, c collection) error {
	if _, err := w.write(ctx, post(c.path(), c.object("a").withSpec(object{"replicas": 1})), code(201)); err != nil {
		return err
	}
	if err := w.validating(ctx, w.webhook("a").withAdmissionRules(w.ruleFor("*/scale"))); err != nil {
		return err
	}
	if _, err := w.write(ctx, mergePatch(c.item("a")+"/scale", object{"spec": object{"replicas": 4}}), code(200)); err != nil {
		return err
	}
	scale := object{"group": "autoscaling", "version": "v1", "kind": "Scale"}
	return w.expectReview("a", valueAt(scale, "request", "kind"), valueAt(scale, "request", "requestKind"), valueAt(c.resource, "request", "resource", "resource"),
		field("scale", "request", "subResource"), valueAt("Scale", "request", "object", "kind"), valueAt("autoscaling/v1", "request", "object", "apiVersion"),
		valueAt(4, "request", "object", "spec", "replicas"), valueAt(1, "request", "oldObject", "spec", "replicas"), field("a", "request", "name"))
}

// checkReviewUser impersonates a user in the group of administrators, who may do the same as the
// client.
func checkReviewUser(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("a")); err != nil {
		return err
	}
	user := "conformance-user-" + w.s.run.id
	request := post(c.path(), c.object("a")).withHeader("Impersonate-User", user).withHeader("Impersonate-Group", "system:masters").
		withHeader("Impersonate-Uid", "u-1").withHeader("Impersonate-Extra-Team", "blue")
	r, err := w.s.do(ctx, request, code(http.StatusCreated, http.StatusForbidden))
	if err != nil {
		return err
	}
	if r.code == http.StatusForbidden {
		return w.s.skipf("the client may not impersonate a user in the group system:masters")
	}
	return w.expectReview("a", valueAt(object{
		"username": user, "uid": "u-1", "groups": []string{"system:masters", "system:authenticated"}, "extra": object{"team": []string{"blue"}},
	}, "request", "userInfo"))
}
