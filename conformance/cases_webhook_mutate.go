package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docWebhookResponse = docWebhooks + ", Webhook request and response: Response"

// webhookMutationCases returns the cases about changes by webhooks (WH-38 to WH-52).
func webhookMutationCases() []Case {
	return slices.Concat(
		onBothWebhooks(Case{
			ID: "WH-38", Level: Must, Title: "the JSON patch of a mutating webhook changes the object of creates, updates, patches and applies",
			Why: "this is how webhooks set defaults", Source: docWebhookResponse,
		}, checkMutation),
		onBothWebhooks(Case{
			ID: "WH-39", Level: Must, Title: "mutating webhooks are called one after the other, by the names of the configurations and in the order of their lists, each with the result of the one before",
			Why: "each must see a consistent object", Source: docWebhookPractices + "; apiserver admission/configuration/mutating_webhook_manager.go",
		}, checkMutationOrder),
		onBothWebhooks(Case{
			ID: "WH-40", Level: Must, Title: "validating webhooks get the object after all changes",
			Why: "they must see what will be stored", Source: docWebhookPractices,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.validating(ctx, w.webhook("v")); err != nil {
				return err
			}
			if err := w.mutating(ctx, w.webhook("m1", setData("k", "m1")), w.webhook("m2", setData("l", "m2"))); err != nil {
				return err
			}
			if _, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "client")), code(201)); err != nil {
				return err
			}
			calls, err := w.callsInOrder("m1", "m2", "v")
			if err != nil {
				return err
			}
			return calls[2].expect(valueAt(object{"k": "m1", "l": "m2"}, "request", "object", "data"))
		}),
		onBothWebhooks(Case{
			ID: "WH-41", Level: Must, Title: "an object that a webhook made invalid is rejected like an invalid request",
			Why: "webhooks cannot bypass validation", Source: docWebhookPractices,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.validating(ctx, w.webhook("v")); err != nil {
				return err
			}
			if err := w.mutating(ctx, w.webhook("m", patchWith(setOp("/metadata/labels", object{"a": "not valid!"})))); err != nil {
				return err
			}
			invalid := c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata.labels", `"not valid!"`)
			if _, err := w.write(ctx, post(c.path(), c.object("a")), invalid); err != nil {
				return err
			}
			if _, err := w.callsInOrder("m"); err != nil {
				return err
			}
			return w.s.expect(ctx, get(c.item("a")), code(404))
		}),
		onBothWebhooks(Case{
			ID: "WH-43", Level: Should, Title: "a webhook may set labels, annotations and finalizers; changes of the uid and the creationTimestamp are ignored",
			Why: "the server sets them", Source: webhookPlugin,
		}, checkMutationOfMetadata),
		onBothWebhooks(Case{
			ID: "WH-45", Level: Should, Title: "fields that a webhook sets belong to no field manager, and an apply claims them without a conflict",
			Why: "a webhook has no field manager, and clients must not conflict with it", Source: webhookPlugin,
		}, checkMutationOwnership),
		onBothWebhooks(Case{
			ID: "WH-46", Level: Should, Title: "an update that changes nothing is sent, and if a webhook takes a change back, the resourceVersion stays",
			Why: "a webhook may want to change the object nevertheless", Source: webhookPlugin,
		}, checkMutationWithoutChange),
		onBothWebhooks(Case{
			ID: "WH-47", Level: Must, Title: "a webhook with reinvocationPolicy IfNeeded is called again if a later webhook changed the object, others are not",
			Why: "it may have to complete what the later one added", Source: docWebhooks + ", Reinvocation policy",
		}, checkReinvocation),
		onBothWebhooks(Case{
			ID: "WH-51", Level: Should, Title: "a webhook may name an object that is created without a name",
			Why: "names are generated after mutation", Source: webhookPlugin,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.mutating(ctx, w.webhook("m", patchWith(setOp("/metadata/name", "named")))); err != nil {
				return err
			}
			return w.s.expectAll(ctx,
				send(post(c.path(), c.object("").withMeta("generateName", "gen-")), code(201), field("named", "metadata", "name")),
				send(get(c.item("named")), code(200)),
			)
		}),
		[]Case{
			onCustomWebhooks(Case{
				ID: "WH-42", Level: Should, Title: "after a patch, unknown fields are pruned and absent fields have their defaults again",
				Why: "stored objects fit their schema", Source: webhookPlugin,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				patched := patchWith(setOp("/spec/bogus", 1), object{"op": "remove", "path": "/spec/color"}, setOp("/spec/size", 7))
				if err := w.mutating(ctx, w.webhook("m", patched)); err != nil {
					return err
				}
				want := valueAt(object{"size": 7, "color": "grey"}, "spec")
				return w.writeAll(ctx, send(post(c.path(), c.object("a").withSpec(object{"color": "red"})), code(201), want), send(get(c.item("a")), code(200), want))
			}),
			onCustomWebhooks(Case{
				ID: "WH-41/schema", Level: Must, Title: "a value that a webhook set is validated with the schema",
				Why: "webhooks cannot bypass validation", Source: docWebhookPractices,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if err := w.mutating(ctx, w.webhook("m", patchWith(setOp("/spec", object{"size": -1})))); err != nil {
					return err
				}
				return w.s.expect(ctx, post(c.path(), c.object("a")), c.invalid("a", metav1.CauseTypeFieldValueInvalid, "spec.size", "should be greater than or equal to 0"))
			}),
			onWebhooks(Case{
				ID: "WH-44", Level: Should, Title: "a webhook cannot move an object to another namespace",
				Why: "permissions are by namespace", Source: webhookPlugin,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if err := w.mutating(ctx, w.webhook("m", patchWith(setOp("/metadata/namespace", c.namespace+"-other")))); err != nil {
					return err
				}
				return w.s.expect(ctx, post(c.path(), c.object("a")), failure{
					code: 400, reason: metav1.StatusReasonBadRequest, message: "the namespace of the provided object does not match the namespace sent on the request",
				}.check)
			}),
			onWebhooks(Case{
				ID: "WH-47/again", Level: Must, Title: "a webhook is called at most twice for a request",
				Why: "two webhooks could go on for ever otherwise", Source: docWebhooks + ", Reinvocation policy",
			}, func(ctx context.Context, w *webhooks, c collection) error {
				hooks := []object{
					w.webhook("a", setData("k", "1"), setData("k", "2"), setData("k", "3")).with("reinvocationPolicy", "IfNeeded"),
					w.webhook("b", setData("l", "1"), setData("l", "2"), setData("l", "3")).with("reinvocationPolicy", "IfNeeded"),
				}
				if err := w.mutating(ctx, hooks...); err != nil {
					return err
				}
				if _, err := w.write(ctx, post(c.path(), c.object("a").withData("x", "y")), code(201)); err != nil {
					return err
				}
				_, err := w.callsInOrder("a", "b", "a", "b")
				return err
			}),
			onWebhooks(Case{
				ID: "WH-46/again", Level: Should, Title: "the same update that changes nothing is sent every time",
				Why: "the webhook may decide otherwise now", Source: webhookPlugin,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				o, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201))
				if err != nil {
					return err
				}
				if err := w.validating(ctx, w.webhook("v", allow, allow, deny(object{"message": "no"}))); err != nil {
					return err
				}
				same := mergePatch(c.item("a"), object{"data": object{"k": "1"}})
				if err := w.writeAll(ctx, send(same, code(200), isUnchanged(o)), send(same, code(200), isUnchanged(o)), send(same, denied("v", "no").check)); err != nil {
					return err
				}
				return w.expectCalls("v", "v", "v")
			}),
			onCustomWebhooks(Case{
				ID: "WH-48", Level: Should, Title: "the patch of a webhook changes the status in updates of the status",
				Why: "the status has webhooks of its own", Source: docWebhookResponse,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if _, err := w.write(ctx, post(c.path(), c.object("a").withSpec(object{"size": 1})), code(201)); err != nil {
					return err
				}
				hook := w.webhook("m", patchWith(setOp("/status/phase", "hook"), setOp("/spec/size", 7))).withAdmissionRules(w.ruleFor(c.resource + "/status"))
				if err := w.mutating(ctx, hook); err != nil {
					return err
				}
				status := mergePatch(c.item("a")+"/status", object{"status": object{"phase": "client"}})
				return w.writeAll(ctx, send(status, code(200), valueAt("hook", "status", "phase")), send(get(c.item("a")), code(200), valueAt("hook", "status", "phase")))
			}),
			onWebhooks(Case{
				ID: "WH-49", Level: Should, Title: "a patch in the response of a validating webhook is an error, subject to failurePolicy",
				Why: "validating webhooks cannot change objects", Source: webhookPlugin,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if err := w.validating(ctx, w.webhook("fail", setData("k", "v"))); err != nil {
					return err
				}
				if err := w.s.expect(ctx, post(c.path(), c.object("a").withData("k", "1")), callFailed("fail", "received invalid webhook response: validating webhook may not return response.patch").check); err != nil {
					return err
				}
				if err := w.replace(ctx, validatingWebhooks, "v", w.webhook("fail", setData("k", "v")).with("failurePolicy", "Ignore")); err != nil {
					return err
				}
				return w.s.expect(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201), valueAt("1", "data", "k"))
			}),
			onWebhooks(Case{
				ID: "WH-50", Level: Should, Title: "a patch in the response to a deletion is an error, whatever the failurePolicy",
				Why: "there is no object to change", Source: webhookPlugin,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if _, err := w.write(ctx, post(c.path(), c.object("a")), code(201)); err != nil {
					return err
				}
				hook := w.webhook("m", patchWith(setOp("/metadata/labels", object{"a": "b"}))).withAdmissionRules(w.rule("DELETE")).with("failurePolicy", "Ignore")
				if err := w.mutating(ctx, hook); err != nil {
					return err
				}
				text := fmt.Sprintf("Internal error occurred: admission webhook %q attempted to modify the object, which is not supported for this operation", "m"+webhookDomain)
				if err := w.s.expect(ctx, del(c.item("a")), failure{code: 500, reason: metav1.StatusReasonInternalError, message: text}.check); err != nil {
					return err
				}
				return w.s.expect(ctx, get(c.item("a")), code(200))
			}),
			onWebhooks(Case{
				ID: "WH-52", Level: Should, Title: "an empty patch changes nothing",
				Why: "libraries send it for unchanged objects", Source: webhookPlugin,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				empty := respond(object{"patchType": "JSONPatch", "patch": []byte("[]")})
				if err := w.mutating(ctx, w.webhook("m", empty), w.webhook("n").with("reinvocationPolicy", "IfNeeded")); err != nil {
					return err
				}
				if _, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201), valueAt(object{"k": "1"}, "data")); err != nil {
					return err
				}
				_, err := w.callsInOrder("m", "n")
				return err
			}),
		},
	)
}

// setData returns an answer that sets a value in the data, which must exist.
func setData(key, value string) answer { return patchWith(setOp("/data/"+key, value)) }

// callFailed is the failure of a request whose webhook could not be called or answered wrongly.
func callFailed(name, text string) failure {
	return failure{
		code: 500, reason: metav1.StatusReasonInternalError,
		contains: fmt.Sprintf("Internal error occurred: failed calling webhook %q: %s", name+webhookDomain, text),
	}
}

func checkMutation(ctx context.Context, w *webhooks, c collection) error {
	if err := w.mutating(ctx, w.webhook("m", setData("hook", "1"), setData("hook", "2"), setData("hook", "3"), setData("hook", "4"), setData("hook", "5"))); err != nil {
		return err
	}
	hook := func(value string) expectation { return valueAt(value, "data", "hook") }
	o, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201), hook("1"))
	if err != nil {
		return err
	}
	update := c.object("a").withData("k", "2").withMeta("resourceVersion", o.ResourceVersion)
	return w.writeAll(ctx,
		send(get(c.item("a")), code(200), hook("1")),
		send(put(c.item("a"), update), code(200), valueAt(object{"k": "2", "hook": "2"}, "data")),
		send(mergePatch(c.item("a"), object{"data": object{"k": "3"}}), code(200), hook("3")),
		send(apply(c.item("a"), c.object("a").withData("l", "4")), code(200), valueAt(object{"k": "3", "l": "4", "hook": "4"}, "data")),
		send(apply(c.item("b"), c.object("b").withData("l", "5")), code(201), hook("5")),
		send(get(c.item("a")), code(200), valueAt(object{"k": "3", "l": "4", "hook": "4"}, "data")),
	)
}

// checkMutationOrder creates the configuration with the greater name first.
func checkMutationOrder(ctx context.Context, w *webhooks, c collection) error {
	by := func(name string) object { return w.webhook(name, setData("by", name)) }
	if err := w.register(ctx, mutatingWebhooks, "n", by("first"), by("last")); err != nil {
		return err
	}
	if err := w.register(ctx, mutatingWebhooks, "m", by("z"), by("y")); err != nil {
		return err
	}
	if _, err := w.write(ctx, post(c.path(), c.object("a").withData("by", "client")), code(201), valueAt("last", "data", "by")); err != nil {
		return err
	}
	calls, err := w.callsInOrder("z", "y", "first", "last")
	if err != nil {
		return err
	}
	for i, by := range []string{"client", "z", "y", "first"} {
		if err := calls[i].expect(valueAt(by, "request", "object", "data", "by")); err != nil {
			return err
		}
	}
	return nil
}

func checkMutationOfMetadata(ctx context.Context, w *webhooks, c collection) error {
	const other = "00000000-0000-0000-0000-000000000001"
	if err := w.mutating(ctx, w.webhook("m", patchWith(
		setOp("/metadata/labels", object{"l": "1"}), setOp("/metadata/annotations", object{"a": "1"}), setOp("/metadata/finalizers", []string{finalizer}),
		setOp("/metadata/uid", other), setOp("/metadata/creationTimestamp", "2001-01-01T00:00:00Z"),
	))); err != nil {
		return err
	}
	return w.s.expect(ctx, post(c.path(), c.object("a")), code(201), finalizers(finalizer), metadata(func(m metav1.ObjectMeta) error {
		if m.Labels["l"] != "1" || m.Annotations["a"] != "1" {
			return fmt.Errorf("expected the label and the annotation of the webhook, got %v and %v", m.Labels, m.Annotations)
		}
		if m.UID == other || m.CreationTimestamp.Year() == 2001 {
			return fmt.Errorf("expected the uid and the creationTimestamp of the server, got %s and %v", m.UID, m.CreationTimestamp)
		}
		return nil
	}))
}

// checkMutationOwnership compares the managedFields only with those of the requests.
func checkMutationOwnership(ctx context.Context, w *webhooks, c collection) error {
	hook := w.webhook("m", setData("hook", "1"), setData("hook", "2"), setData("hook", "3")).withAdmissionRules(w.rule("CREATE", "UPDATE"))
	if err := w.mutating(ctx, hook); err != nil {
		return err
	}
	created := updateEntry("creator", dataFieldsAndSelf("k"))
	patched := updateEntry("patcher", dataFields("l"))
	if err := w.writeAll(ctx,
		send(post(c.path()+"?fieldManager=creator", c.object("a").withData("k", "1")), code(201), valueAt("1", "data", "hook"), managedFieldsAre(created)),
		send(mergePatch(c.item("a"), object{"data": object{"l": "1"}}).withFieldManager("patcher"), code(200), valueAt("2", "data", "hook"), managedFieldsAre(created, patched)),
		send(applyAs("applier", c.item("a"), c.object("a").withData("m", "1")), code(200), valueAt("3", "data", "hook"),
			managedFieldsAre(created, patched, applyEntry("applier", dataFields("m")))),
	); err != nil {
		return err
	}
	if err := w.unregister(ctx, mutatingWebhooks, "m"); err != nil {
		return err
	}
	return w.s.expect(ctx, applyAs("applier", c.item("a"), c.object("a").withData("hook", "4")), code(200), valueAt("4", "data", "hook"),
		managedFieldsAre(created, patched, applyEntry("applier", dataFields("hook"))))
}

func checkMutationWithoutChange(ctx context.Context, w *webhooks, c collection) error {
	o, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201))
	if err != nil {
		return err
	}
	if err := w.mutating(ctx, w.webhook("m", allow, setData("k", "1"), setData("k", "2"))); err != nil {
		return err
	}
	for _, data := range []object{{}, {"k": "5"}} {
		if _, err := w.write(ctx, mergePatch(c.item("a"), object{"data": data}), code(200), isUnchanged(o), valueAt("1", "data", "k")); err != nil {
			return err
		}
		if err := w.expectCalls("m"); err != nil {
			return err
		}
	}
	return w.s.expect(ctx, mergePatch(c.item("a"), object{}), code(200), valueAt("2", "data", "k"))
}

func checkReinvocation(ctx context.Context, w *webhooks, c collection) error {
	if err := w.mutating(ctx,
		w.webhook("again").with("reinvocationPolicy", "IfNeeded"), w.webhook("never"), w.webhook("change", setData("k", "2"), allow),
		w.webhook("last").with("reinvocationPolicy", "IfNeeded"),
	); err != nil {
		return err
	}
	if _, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201), valueAt("2", "data", "k")); err != nil {
		return err
	}
	calls, err := w.callsInOrder("again", "never", "change", "last", "again")
	if err != nil {
		return err
	}
	if err := calls[4].expect(valueAt("2", "request", "object", "data", "k")); err != nil {
		return err
	}
	if _, err := w.write(ctx, post(c.path(), c.object("b").withData("k", "1")), code(201)); err != nil {
		return err
	}
	_, err = w.callsInOrder("again", "never", "change", "last")
	return err
}
