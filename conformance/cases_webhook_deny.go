package conformance

import (
	"context"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// webhookDenialCases returns the cases about denials and about when webhooks are called (WH-53 to
// WH-59, WH-76 and WH-77).
func webhookDenialCases() []Case {
	const toStatus = webhookPlugin + "/errors/statuserror.go"
	return slices.Concat(
		onBothWebhooks(Case{
			ID: "WH-53", Level: Must, Title: "a denied create is rejected with the name of the webhook and its message, and creates nothing",
			Why: "the user reads why", Source: docWebhookResponse,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.validating(ctx, w.webhook("a", deny(object{"message": "no"}))); err != nil {
				return err
			}
			return w.s.expectAll(ctx, send(post(c.path(), c.object("a")), denied("a", "no").check), send(get(c.item("a")), code(404)))
		}),
		onBothWebhooks(Case{
			ID: "WH-58", Level: Must, Title: "a denied update, patch, apply, status update or deletion leaves the object unchanged",
			Why: "webhooks protect objects", Source: docWebhookResponse,
		}, checkDeniedWrites),
		onBothWebhooks(Case{
			ID: "WH-59", Level: Must, Title: "after a denial by a mutating webhook no other webhook is called; of validating webhooks all are",
			Why: "one denial is enough, and validating webhooks are called at the same time", Source: docWebhooks + "; " + webhookPlugin,
		}, checkDenialStops),
		onBothWebhooks(Case{
			ID: "WH-77", Level: Should, Title: "webhooks are called before the server looks whether the name exists, and not for missing objects or invalid requests",
			Why: "webhooks with side effects count calls", Source: webhookPlugin,
		}, checkWhenCalled),
		[]Case{
			onWebhooks(Case{
				ID: "WH-54", Level: Must, Title: "the code, the reason, the details and the causes of a denial are those that the webhook set",
				Why: "clients handle a Conflict or Invalid of a webhook like one of the server", Source: docWebhookResponse,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				return w.checkDenials(ctx, c, []denialCase{
					{object{"code": 409, "reason": "Conflict", "message": "m"}, failure{code: 409, reason: metav1.StatusReasonConflict, message: deniedBy("a") + ": m"}},
					{object{"code": 418, "message": "m"}, failure{code: 418, message: deniedBy("a") + ": m"}},
					{object{"code": 500, "message": "m"}, failure{code: 500, message: deniedBy("a") + ": m"}},
					{
						object{"code": 422, "reason": "Invalid", "message": "m", "details": object{
							"name": "n", "kind": "k", "causes": []object{{"reason": "FieldValueInvalid", "message": "too big", "field": "spec.size"}},
						}},
						failure{
							code: 422, reason: metav1.StatusReasonInvalid, message: deniedBy("a") + ": m", details: &metav1.StatusDetails{Name: "n", Kind: "k"},
							causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.size", Message: "too big"}},
						},
					},
				})
			}),
			onWebhooks(Case{
				ID: "WH-55", Level: Must, Title: "a denial without a code, or with a code below 400, has the code 400, and no reason unless the webhook set one",
				Why: "a denial must not look like a success", Source: toStatus,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				return w.checkDenials(ctx, c, []denialCase{
					{object{"message": "m"}, denied("a", "m")}, {object{"code": 200, "message": "m"}, denied("a", "m")}, {object{"code": 99, "message": "m"}, denied("a", "m")},
					{object{"code": 403, "status": "Success", "message": "m"}, failure{code: 403, message: deniedBy("a") + ": m"}},
					{object{"reason": "Sunday", "message": "m"}, failure{code: 400, reason: "Sunday", message: deniedBy("a") + ": m"}},
				})
			}),
			onWebhooks(Case{
				ID: "WH-56", Level: Must, Title: "a denial without a message has the reason as its message, or says that there is no explanation",
				Why: "the user must know which webhook it was", Source: toStatus,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				unexplained := failure{code: 400, message: deniedBy("a") + " without explanation"}
				return w.checkDenials(ctx, c, []denialCase{
					{nil, unexplained}, {object{}, unexplained}, {object{"reason": "Sunday"}, failure{code: 400, reason: "Sunday", message: deniedBy("a") + ": Sunday"}},
				})
			}),
			onWebhooks(Case{
				ID: "WH-57", Level: Should, Title: "a denial with retryAfterSeconds sets the Retry-After header",
				Why: "clients repeat the request", Source: toStatus,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				status := object{"code": 429, "reason": "TooManyRequests", "message": "later", "details": object{"retryAfterSeconds": 7}}
				if err := w.validating(ctx, w.webhook("a", deny(status))); err != nil {
					return err
				}
				return w.s.expect(ctx, post(c.path(), c.object("a")), failure{
					code: 429, reason: metav1.StatusReasonTooManyRequests, message: deniedBy("a") + ": later", details: &metav1.StatusDetails{RetryAfterSeconds: 7},
				}.check, headerIs("Retry-After", "7"))
			}),
			onWebhooks(Case{
				ID: "WH-35/denied", Level: Must, Title: "a denied deletion ends a deletecollection with the denial",
				Why: "the client must know that not all objects are deleted", Source: docWebhookResponse,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				for _, name := range []string{"a", "b"} {
					if _, err := w.write(ctx, post(c.path(), c.object(name)), code(201)); err != nil {
						return err
					}
				}
				hook := w.webhook("a", deny(object{"message": "keep"})).with("objectSelector", object{"matchExpressions": []object{{"key": "absent", "operator": "DoesNotExist"}}})
				if err := w.validating(ctx, hook); err != nil {
					return err
				}
				return w.s.expectAll(ctx, send(del(c.path()), denied("a", "keep").check), send(get(c.item("a")), code(200)), send(get(c.item("b")), code(200)))
			}),
		},
	)
}

// denialCase is the status in the response of a webhook that denies, and what the client gets.
type denialCase struct {
	status object // nil: none
	want   failure
}

// checkDenials denies a create with each status, with a validating and with a mutating webhook.
func (w *webhooks) checkDenials(ctx context.Context, c collection, cases []denialCase) error {
	var answers []answer
	for _, one := range cases {
		fields := object{"allowed": false}
		if one.status != nil {
			fields["status"] = one.status
		}
		answers = append(answers, respond(fields))
	}
	for _, resource := range []string{mutatingWebhooks, validatingWebhooks} {
		if err := w.register(ctx, resource, "v", w.webhook("a", answers...)); err != nil {
			return err
		}
		for _, one := range cases {
			if err := w.s.expect(ctx, post(c.path(), c.object("a")), one.want.check); err != nil {
				return err
			}
		}
		if err := w.unregister(ctx, resource, "v"); err != nil {
			return err
		}
	}
	return nil
}

func checkDeniedWrites(ctx context.Context, w *webhooks, c collection) error {
	o, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201))
	if err != nil {
		return err
	}
	main, status := w.rule("UPDATE", "DELETE"), w.ruleFor(c.resource+"/status")
	if err := w.validating(ctx, w.webhook("a", deny(object{"message": "frozen"})).withAdmissionRules(main, status)); err != nil {
		return err
	}
	calls := []call{
		put(c.item("a"), c.object("a").withData("k", "2").withMeta("resourceVersion", o.ResourceVersion)),
		mergePatch(c.item("a"), object{"data": object{"k": "2"}}), jsonPatch(c.item("a"), setOp("/data/k", "2")),
		apply(c.item("a"), c.object("a").withData("k", "2")).withQuery("force=true"), del(c.item("a")),
	}
	if c.isCustom() {
		calls = append(calls, mergePatch(c.item("a")+"/status", object{"status": object{"phase": "x"}}))
	}
	for _, one := range calls {
		if err := w.s.expectAll(ctx, send(one, denied("a", "frozen").check), send(get(c.item("a")), code(200), isUnchanged(o), valueAt("1", "data", "k"))); err != nil {
			return err
		}
	}
	return nil
}

func checkDenialStops(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("v1", deny(object{"message": "v"})), w.webhook("v2")); err != nil {
		return err
	}
	if err := w.mutating(ctx, w.webhook("m1", deny(object{"message": "m"}), allow), w.webhook("m2")); err != nil {
		return err
	}
	if err := w.s.expect(ctx, post(c.path(), c.object("a")), denied("m1", "m").check); err != nil {
		return err
	}
	if err := w.expectCalls("m1"); err != nil {
		return err
	}
	if err := w.s.expect(ctx, post(c.path(), c.object("a")), denied("v1", "v").check); err != nil {
		return err
	}
	return w.expectCalls("m1", "m2", "v1", "v2")
}

func checkWhenCalled(ctx context.Context, w *webhooks, c collection) error {
	o, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201))
	if err != nil {
		return err
	}
	if err := w.validating(ctx, w.webhook("v")); err != nil {
		return err
	}
	if err := w.mutating(ctx, w.webhook("m")); err != nil {
		return err
	}
	noPrecondition := del(c.item("a"))
	noPrecondition.body = object{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": object{"uid": "00000000-0000-0000-0000-000000000000"}}
	stale := c.object("a").withData("k", "2").withMeta("resourceVersion", "1")
	for _, one := range []struct {
		send call
		code int
		want []string
	}{
		{post(c.path(), c.object("a")), http.StatusConflict, []string{"m", "v"}},
		{post(c.path(), c.object("Not_Valid")), http.StatusUnprocessableEntity, []string{"m"}},
		{post(c.path(), c.object("b").with("bogus", 1)).withQuery("fieldValidation=Strict"), http.StatusBadRequest, nil},
		{post(c.path(), c.object("b").withMeta("namespace", "elsewhere")), http.StatusBadRequest, nil},
		{put(c.item("a"), stale), http.StatusConflict, []string{"m"}},
		{mergePatch(c.item("none"), object{}), http.StatusNotFound, nil},
		{del(c.item("none")), http.StatusNotFound, nil},
		{noPrecondition, http.StatusConflict, nil},
		{applyAs("other", c.item("a"), c.object("a").withData("k", "2")), http.StatusConflict, nil},
		{mergePatch(c.item("a"), object{"metadata": object{"uid": "00000000-0000-0000-0000-000000000000"}}), 0, []string{"m"}},
	} {
		if one.code == 0 {
			err = w.s.expect(ctx, one.send, code(http.StatusConflict, http.StatusUnprocessableEntity))
		} else {
			err = w.s.expect(ctx, one.send, code(one.code))
		}
		if err != nil {
			return err
		}
		if err := w.expectCalls(one.want...); err != nil {
			return err
		}
	}
	return w.s.expect(ctx, get(c.item("a")), isUnchanged(o))
}
