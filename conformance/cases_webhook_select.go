package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// webhookSelectorCases returns the cases about selectors, conditions and versions of webhooks
// (WH-09 to WH-21).
func webhookSelectorCases() []Case {
	const (
		docNamespaces = docWebhooks + ", Matching requests: namespaceSelector"
		docObjects    = docWebhooks + ", Matching requests: objectSelector"
		docConditions = docWebhooks + ", Matching requests: matchConditions"
		docPolicy     = docWebhooks + ", Matching requests: matchPolicy"
	)
	return slices.Concat(
		onBothWebhooks(Case{
			ID: "WH-09", Level: Must, Title: "a webhook is called for objects in the namespaces that its namespaceSelector selects",
			Why: "a webhook must be able to leave its own namespace out", Source: docNamespaces,
		}, checkNamespaceSelector),
		onBothWebhooks(Case{
			ID: "WH-13", Level: Must, Title: "a webhook is called for created objects that its objectSelector selects",
			Why: "users opt in or out of a webhook with labels", Source: docObjects,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.validating(ctx, w.webhook("a").with("objectSelector", object{"matchLabels": object{"watch": "me"}}),
				w.webhook("b").with("objectSelector", object{"matchExpressions": []object{{"key": "watch", "operator": "DoesNotExist"}}}),
				w.webhook("c").with("objectSelector", object{})); err != nil {
				return err
			}
			if err := w.expectCallsOf(ctx, post(c.path(), c.object("a").withLabel("watch", "me")), "a", "c"); err != nil {
				return err
			}
			return w.expectCallsOf(ctx, post(c.path(), c.object("b")), "b", "c")
		}),
		onBothWebhooks(Case{
			ID: "WH-14", Level: Must, Title: "a webhook is called for an update if its objectSelector selects the old or the new object",
			Why: "removing the label would evade the webhook otherwise", Source: docObjects,
		}, checkObjectSelectorUpdate),
		onBothWebhooks(Case{
			ID: "WH-16", Level: Must, Title: "a webhook is called if all of its matchConditions are true",
			Why: "they spare calls of the webhook", Source: docConditions,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			hook := w.webhook("a").withAdmissionRules(w.rule("CREATE")).withConditions("object.metadata.name != 'b'", "!has(object.data) || !('skip' in object.data)")
			if err := w.validating(ctx, hook); err != nil {
				return err
			}
			if err := w.expectCallsOf(ctx, post(c.path(), c.object("a")), "a"); err != nil {
				return err
			}
			if err := w.expectCallsOf(ctx, post(c.path(), c.object("b"))); err != nil {
				return err
			}
			return w.expectCallsOf(ctx, post(c.path(), c.object("c").withData("skip", "1")))
		}),
		onBothWebhooks(Case{
			ID: "WH-17", Level: Must, Title: "matchConditions read the object, the old object, the request and the authorizer",
			Why: "exemptions are by user, by operation or by what changed", Source: docConditions,
		}, checkConditionVariables),
		[]Case{
			onWebhooks(Case{
				ID: "WH-10", Level: Must, Title: "the namespaceSelector of a webhook selects a Namespace by its own labels, also when it is created",
				Why: "the namespace does not exist yet", Source: docNamespaces,
			}, checkNamespaceOwnLabels),
			withWebhooks(Case{
				ID: "WH-11", Level: Must, Title: "a namespaceSelector does not exempt cluster-scoped objects",
				Why: "they have no namespace that could be labelled", Source: docNamespaces,
			}, clusterScopedGears, func(ctx context.Context, w *webhooks, c collection) error {
				c.namespace = ""
				nowhere := object{"matchLabels": object{"conformance.example.com/absent": w.c.namespace}}
				if err := w.validating(ctx, w.webhook("a").with("namespaceSelector", nowhere)); err != nil {
					return err
				}
				if err := w.s.expect(ctx, post(c.path(), c.object("a")), code(201)); err != nil {
					return err
				}
				calls, err := w.calls("a")
				if err != nil {
					return err
				}
				return calls[0].expect(noField("request", "namespace"))
			}),
			onWebhooks(Case{
				ID: "WH-12", Level: Must, Title: "a namespaceSelector follows changes of the labels of a namespace",
				Why: "administrators switch webhooks on and off with a label", Source: docNamespaces,
			}, checkNamespaceLabelChange),
			onWebhooks(Case{
				ID: "WH-15", Level: Must, Title: "a webhook is called for a deletion if its objectSelector selects the deleted object",
				Why: "there is no new object", Source: docObjects,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if err := w.writeAll(ctx, send(post(c.path(), c.object("a").withLabel("watch", "me")), code(201)), send(post(c.path(), c.object("b")), code(201))); err != nil {
					return err
				}
				if err := w.validating(ctx, w.webhook("a").with("objectSelector", object{"matchLabels": object{"watch": "me"}})); err != nil {
					return err
				}
				if err := w.expectCallsOf(ctx, del(c.item("b"))); err != nil {
					return err
				}
				return w.expectCallsOf(ctx, del(c.item("a")), "a")
			}),
			onWebhooks(Case{
				ID: "WH-18", Level: Must, Title: "if a matchCondition cannot be evaluated, failurePolicy decides, unless another is false",
				Why: "a condition that fails must not open a hole", Source: docConditions,
			}, checkConditionErrors),
			withWebhooks(Case{
				ID: "WH-19", Level: Must, Title: "with matchPolicy Equivalent, the default, a webhook gets objects of other versions in the version of its rule",
				Why: "clients could evade the webhook with another version", Source: docPolicy,
			}, versionedGears, checkEquivalent),
			withWebhooks(Case{
				ID: "WH-20", Level: Must, Title: "with matchPolicy Exact, a webhook is not called for other versions",
				Why: "it has asked for that", Source: docPolicy,
			}, versionedGears, func(ctx context.Context, w *webhooks, c collection) error {
				if err := w.validating(ctx, w.webhook("a").with("matchPolicy", "Exact"), w.webhook("b").with("matchPolicy", "Equivalent")); err != nil {
					return err
				}
				if err := w.expectCallsOf(ctx, post(c.path(), c.withSpec("a", object{"size": 1})), "a", "b"); err != nil {
					return err
				}
				return w.expectCallsOf(ctx, post(secondVersion(c).path(), secondVersion(c).withSpec("b", object{"size": 1})), "b")
			}),
			withWebhooks(Case{
				ID: "WH-21", Level: Must, Title: "a patch is for the version that the webhook got, and the response has the version of the request",
				Why: "neither the client nor the webhook knows the other's version", Source: docPolicy,
			}, versionedGears, func(ctx context.Context, w *webhooks, c collection) error {
				set := patchWith(setOp("/spec/size", 5))
				if err := w.mutating(ctx, w.webhook("a", set)); err != nil {
					return err
				}
				second := secondVersion(c)
				return w.writeAll(ctx,
					send(post(second.path(), second.withSpec("a", object{"size": 1})), code(201), kind(second.apiVersion, "Gear"), valueAt(5, "spec", "size")),
					send(get(c.item("a")), code(200), kind(c.apiVersion, "Gear"), valueAt(5, "spec", "size")),
				)
			}),
		},
	)
}

// withConditions sets the matchConditions of a webhook.
func (o object) withConditions(expressions ...string) object {
	var conditions []object
	for i, one := range expressions {
		conditions = append(conditions, object{"name": fmt.Sprintf("c%d", i), "expression": one})
	}
	return o.with("matchConditions", conditions)
}

func checkNamespaceSelector(ctx context.Context, w *webhooks, c collection) error {
	own := object{"key": caseLabel, "operator": "In", "values": []string{c.namespace}}
	expressions := func(more ...object) object {
		return object{"matchExpressions": slices.Concat([]object{own}, more)}
	}
	if err := w.validating(ctx,
		w.webhook("labels"),
		w.webhook("absent").with("namespaceSelector", expressions(object{"key": "absent", "operator": "DoesNotExist"})),
		w.webhook("exists").with("namespaceSelector", expressions(object{"key": "absent", "operator": "Exists"})),
		w.webhook("notin").with("namespaceSelector", expressions(object{"key": caseLabel, "operator": "NotIn", "values": []string{c.namespace}})),
	); err != nil {
		return err
	}
	if err := w.expectCallsOf(ctx, post(c.path(), c.object("a")), "labels", "absent"); err != nil {
		return err
	}
	elsewhere, err := c.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	if _, err := elsewhere.create(ctx, elsewhere.object("a")); err != nil {
		return err
	}
	return w.expectCalls()
}

func checkNamespaceOwnLabels(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("a").withAdmissionRules(rule("", "v1", "namespaces", "*"))); err != nil {
		return err
	}
	if err := w.s.expect(ctx, w.dryRunNamespace("own"), code(201)); err != nil {
		return err
	}
	calls, err := w.calls("a")
	if err != nil {
		return err
	}
	name := c.namespace + "-own"
	if err := calls[0].expect(field("CREATE", "request", "operation"), field(name, "request", "name"), field(name, "request", "namespace")); err != nil {
		return err
	}
	unlabelled := post("/api/v1/namespaces", newObject("v1", "Namespace", name)).withQuery("dryRun=All")
	if err := w.s.expect(ctx, unlabelled, code(201)); err != nil {
		return err
	}
	return w.expectCalls()
}

// checkNamespaceLabelChange polls, because a server may see changes of namespaces later than the
// client.
func checkNamespaceLabelChange(ctx context.Context, w *webhooks, c collection) error {
	selector := object{"matchExpressions": []object{
		{"key": caseLabel, "operator": "In", "values": []string{c.namespace}}, {"key": "off", "operator": "DoesNotExist"},
	}}
	if err := w.validating(ctx, w.webhook("a", deny(object{"message": "on"})).with("namespaceSelector", selector)); err != nil {
		return err
	}
	try := c.dryRunCreate(c.object("a"))
	if err := w.s.expect(ctx, try, denied("a", "on").check); err != nil {
		return err
	}
	turn := func(value any, expect expectation) error {
		labels := object{"metadata": object{"labels": object{"off": value}}}
		if err := w.s.expect(ctx, mergePatch(namespacePath(c.namespace), labels), code(200)); err != nil {
			return err
		}
		return w.s.waitFor(ctx, try, expect)
	}
	if err := turn("yes", code(201)); err != nil {
		return err
	}
	return turn(nil, denied("a", "on").check)
}

func checkObjectSelectorUpdate(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("a").with("objectSelector", object{"matchLabels": object{"watch": "me"}})); err != nil {
		return err
	}
	watch := func(value any) call {
		return mergePatch(c.item("a"), object{"metadata": object{"labels": object{"watch": value}}})
	}
	for _, one := range []struct {
		send call
		want []string
	}{
		{post(c.path(), c.object("a")), nil},
		{mergePatch(c.item("a"), object{"data": object{"k": "1"}}), nil},
		{watch("me"), []string{"a"}},
		{mergePatch(c.item("a"), object{"data": object{"k": "2"}}), []string{"a"}},
		{watch("not"), []string{"a"}},
		{watch(nil), nil},
	} {
		if err := w.expectCallsOf(ctx, one.send, one.want...); err != nil {
			return err
		}
	}
	return nil
}

func checkConditionVariables(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx,
		w.webhook("object").withConditions("object != null && object.metadata.name == 'a'"),
		w.webhook("old").withConditions("oldObject != null && oldObject.data.k == '1'"),
		w.webhook("request").withConditions(fmt.Sprintf("request.operation == 'UPDATE' && request.name == 'a' && request.namespace == %q && request.resource.resource == %q && !request.dryRun", c.namespace, c.resource)),
		w.webhook("user").withConditions("request.userInfo.username == 'no-user-of-this-name'"),
		w.webhook("allowed").withConditions(fmt.Sprintf("authorizer.group(%q).resource(%q).namespace(%q).check('create').allowed()", c.group, c.resource, c.namespace)),
	); err != nil {
		return err
	}
	for _, one := range []struct {
		send call
		want []string
	}{
		{post(c.path(), c.object("a").withData("k", "1")), []string{"object", "allowed"}},
		{mergePatch(c.item("a"), object{"data": object{"k": "2"}}), []string{"object", "old", "request", "allowed"}},
		{mergePatch(c.item("a"), object{"data": object{"k": "3"}}).withQuery("dryRun=All"), []string{"object", "allowed"}},
		{del(c.item("a")), []string{"allowed"}},
	} {
		if err := w.expectCallsOf(ctx, one.send, one.want...); err != nil {
			return err
		}
	}
	return nil
}

func checkConditionErrors(ctx context.Context, w *webhooks, c collection) error {
	const broken = "object.metadata.labels['absent'] == 'x'"
	if err := w.validating(ctx,
		w.webhook("fail").withConditions(broken).with("objectSelector", object{"matchLabels": object{"on": "fail"}}),
		w.webhook("ignore").withConditions(broken).with("failurePolicy", "Ignore").with("objectSelector", object{"matchLabels": object{"on": "ignore"}}),
		w.webhook("false").withConditions(broken, "false").with("objectSelector", object{"matchLabels": object{"on": "false"}}),
	); err != nil {
		return err
	}
	failed := failure{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, contains: "no such key: absent"}
	if err := w.writeAll(ctx,
		send(post(c.path(), c.object("a").withLabel("on", "fail")), failed.check),
		send(post(c.path(), c.object("b").withLabel("on", "ignore")), code(201)),
		send(post(c.path(), c.object("c").withLabel("on", "false")), code(201)),
	); err != nil {
		return err
	}
	return w.expectCalls()
}

// clusterScopedGears creates a CRD with cluster-scoped objects.
func clusterScopedGears(ctx context.Context, s *session) (collection, error) {
	if err := s.skipUnlessServed(ctx, "apiextensions.k8s.io/v1", "customresourcedefinitions"); err != nil {
		return collection{}, err
	}
	c := s.newCRDPerCase(object{})
	c.spec()["scope"] = "Cluster"
	return c.collection("v1"), c.createAndServe(ctx)
}

// versionedGears creates a CRD with the versions v1 and v2, of the same schema, and returns its
// objects in v1.
func versionedGears(ctx context.Context, s *session) (collection, error) {
	if err := s.skipUnlessServed(ctx, "apiextensions.k8s.io/v1", "customresourcedefinitions"); err != nil {
		return collection{}, err
	}
	schema := object{"spec": objectSchema(object{"size": typeSchema("integer")})}
	c := s.newCRDPerCase(schema).addVersions(crdVersion("v2", schema))
	return c.collection("v1"), c.createAndServe(ctx)
}

// secondVersion returns a collection of versionedGears in v2.
func secondVersion(c collection) collection {
	c.root, c.apiVersion = "/apis/"+c.group+"/v2", c.group+"/v2"
	return c
}

func checkEquivalent(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("a")); err != nil {
		return err
	}
	second := secondVersion(c)
	gears := func(version string) object {
		return object{"group": c.group, "version": version, "resource": "gears"}
	}
	gear := func(version string) object { return object{"group": c.group, "version": version, "kind": "Gear"} }
	inFirst := []expectation{
		valueAt(gear("v1"), "request", "kind"), valueAt(gears("v1"), "request", "resource"),
		valueAt(gear("v2"), "request", "requestKind"), valueAt(gears("v2"), "request", "requestResource"),
	}
	if _, err := w.write(ctx, post(second.path(), second.withSpec("a", object{"size": 1})), code(201)); err != nil {
		return err
	}
	calls, err := w.calls("a")
	if err != nil {
		return err
	}
	if err := calls[0].expect(append(inFirst, valueAt(c.apiVersion, "request", "object", "apiVersion"), valueAt(1, "request", "object", "spec", "size"))...); err != nil {
		return err
	}
	if _, err := w.write(ctx, mergePatch(second.item("a"), object{"spec": object{"size": 2}}), code(200)); err != nil {
		return err
	}
	if calls, err = w.calls("a"); err != nil {
		return err
	}
	return calls[0].expect(append(inFirst, valueAt(c.apiVersion, "request", "object", "apiVersion"), valueAt(2, "request", "object", "spec", "size"),
		valueAt(c.apiVersion, "request", "oldObject", "apiVersion"), valueAt(1, "request", "oldObject", "spec", "size"))...)
}
