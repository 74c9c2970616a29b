package conformance

import (
	"context"
	"slices"
)

const (
	docWebhooks         = "Kubernetes documentation, Dynamic Admission Control"
	docWebhookPractices = "Kubernetes documentation, Admission Webhook Good Practices"
	webhookPlugin       = "apiserver admission/plugin/webhook"
)

// webhookRuleCases returns the cases about the rules of webhooks (WH-01 to WH-08).
func webhookRuleCases() []Case {
	const doc = docWebhooks + ", Matching requests: rules"
	return slices.Concat(
		onBothWebhooks(Case{
			ID: "WH-01", Level: Must, Title: "a webhook is called for the operations of its rules only; * is all of them",
			Why: "a webhook must see what it guards, and nothing else", Source: doc,
		}, checkRuleOperations),
		onBothWebhooks(Case{
			ID: "WH-02", Level: Must, Title: "a webhook is called for the groups of its rules only; \"\" is the core group, * is all of them",
			Why: "resources of different groups have the same names", Source: doc,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			return w.checkMatching(ctx, []string{"all", "own", "two"}, map[string]func(object){
				"own": func(object) {}, "all": func(o object) { o["apiGroups"] = []string{"*"} },
				"two":   func(o object) { o["apiGroups"] = []string{"other.example.com", c.group} },
				"other": func(o object) { o["apiGroups"] = []string{"other.example.com"} },
			})
		}),
		onBothWebhooks(Case{
			ID: "WH-03", Level: Must, Title: "a webhook is called for the versions of its rules only; * is all of them",
			Why: "a webhook reads objects in the versions that it knows", Source: doc,
		}, func(ctx context.Context, w *webhooks, _ collection) error {
			return w.checkMatching(ctx, []string{"all", "own"}, map[string]func(object){
				"own": func(object) {}, "all": func(o object) { o["apiVersions"] = []string{"*"} },
				"other": func(o object) { o["apiVersions"] = []string{"v7"} },
			})
		}),
		onBothWebhooks(Case{
			ID: "WH-04", Level: Must, Title: "a webhook is called for the resources of its rules only; * is all of them",
			Why: "a webhook must see what it guards, and nothing else", Source: doc,
		}, func(ctx context.Context, w *webhooks, _ collection) error {
			return w.checkMatching(ctx, []string{"all", "everything", "own"}, map[string]func(object){
				"own": func(object) {}, "all": func(o object) { o["resources"] = []string{"*"} },
				"everything": func(o object) { o["resources"] = []string{"*/*"} },
				"other":      func(o object) { o["resources"] = []string{"leases"} },
			})
		}),
		[]Case{
			onCustomWebhooks(Case{
				ID: "WH-05", Level: Must, Title: "a subresource is matched by RESOURCE/NAME, RESOURCE/*, */NAME and */*, and by no rule without a slash",
				Why: "a webhook that denies changes of the spec must not block the status", Source: doc,
			}, checkRuleSubresources),
			onWebhooks(Case{
				ID: "WH-06", Level: Must, Title: "a webhook is called once if one or more of its rules match",
				Why: "a rule lists only what goes together", Source: doc,
			}, func(ctx context.Context, w *webhooks, c collection) error {
				hook := w.webhook("a").withAdmissionRules(rule("apps", "v1", "deployments", "*"), w.rule("UPDATE"), w.rule("CREATE", "UPDATE"))
				if err := w.validating(ctx, hook); err != nil {
					return err
				}
				return w.expectCallsOf(ctx, post(c.path(), c.object("a")), "a")
			}),
			onWebhooks(Case{
				ID: "WH-07", Level: Must, Title: "the scope of a rule is Namespaced, Cluster or *; Namespaces are cluster-scoped",
				Why: "a rule with * for resources would match both otherwise", Source: doc,
			}, checkRuleScope),
			onCustomWebhooks(Case{
				ID: "WH-08", Level: Must, Title: "a webhook is never called for get, list and watch",
				Why: "admission is about changes", Source: "Kubernetes documentation, Admission Control",
			}, func(ctx context.Context, w *webhooks, c collection) error {
				if _, err := w.write(ctx, post(c.path(), c.object("a")), code(201)); err != nil {
					return err
				}
				everything := rule("*", "*", "*/*", "*").with("scope", "Namespaced")
				if err := w.validating(ctx, w.webhook("a").withAdmissionRules(everything)); err != nil {
					return err
				}
				if err := w.s.expectAll(ctx,
					send(get(c.item("a")), code(200)), send(get(c.item("a")+"/status"), code(200)), send(get(c.path()), code(200)),
					send(get(c.path()+"?watch=1&timeoutSeconds=1"), code(200)),
				); err != nil {
					return err
				}
				return w.expectCallsOf(ctx, mergePatch(c.item("a"), object{}), "a")
			}),
		},
	)
}

// expectCallsOf sends a write that succeeds, and expects calls of these webhooks.
func (w *webhooks) expectCallsOf(ctx context.Context, c call, names ...string) error {
	if _, err := w.write(ctx, c, code(200, 201)); err != nil {
		return err
	}
	return w.expectCalls(names...)
}

// checkMatching registers webhooks for creates with changed rules, creates an object and expects
// calls of the webhooks that match.
func (w *webhooks) checkMatching(ctx context.Context, want []string, change map[string]func(object)) error {
	var hooks []object
	for name, edit := range sortedByKey(change) {
		one := w.rule("CREATE").with("scope", "Namespaced") // so that it does not match objects of others
		edit(one)
		hooks = append(hooks, w.webhook(name).withAdmissionRules(one))
	}
	if err := w.validating(ctx, hooks...); err != nil {
		return err
	}
	return w.expectCallsOf(ctx, post(w.c.path(), w.c.object("a")), want...)
}

func checkRuleOperations(ctx context.Context, w *webhooks, c collection) error {
	var hooks []object
	for name, operations := range sortedByKey(map[string][]string{
		"create": {"CREATE"}, "update": {"UPDATE"}, "delete": {"DELETE"}, "connect": {"CONNECT"}, "all": {"*"}, "two": {"CREATE", "DELETE"},
	}) {
		hooks = append(hooks, w.webhook(name).withAdmissionRules(w.rule(operations...)))
	}
	if err := w.validating(ctx, hooks...); err != nil {
		return err
	}
	labels := func(value string) object { return object{"metadata": object{"labels": object{"a": value}}} }
	for _, one := range []struct {
		send call
		want []string
	}{
		{post(c.path(), c.object("a")), []string{"create", "all", "two"}},
		{mergePatch(c.item("a"), labels("1")), []string{"update", "all"}},
		{apply(c.item("a"), c.object("a").withLabel("b", "2")), []string{"update", "all"}},
		{apply(c.item("b"), c.object("b")), []string{"create", "all", "two"}},
		{del(c.item("a")), []string{"delete", "all", "two"}},
		{del(c.path()), []string{"delete", "all", "two"}},
	} {
		if err := w.expectCallsOf(ctx, one.send, one.want...); err != nil {
			return err
		}
	}
	return nil
}

func checkRuleSubresources(ctx context.Context, w *webhooks, c collection) error {
	var hooks []object
	for name, resource := range sortedByKey(map[string]string{
		"main": c.resource, "status": c.resource + "/status", "mainall": c.resource + "/*",
		"allstatus": "*/status", "allscale": "*/scale", "everything": "*/*", "all": "*",
	}) {
		one := w.rule("UPDATE")
		one["resources"] = []string{resource}
		hooks = append(hooks, w.webhook(name).withAdmissionRules(one))
	}
	if err := w.validating(ctx, hooks...); err != nil {
		return err
	}
	for _, one := range []struct {
		send call
		want []string
	}{
		{post(c.path(), c.object("a").with("spec", object{"replicas": 1})), nil},
		{mergePatch(c.item("a"), object{"spec": object{"size": 1}}), []string{"main", "mainall", "everything", "all"}},
		{mergePatch(c.item("a")+"/status", object{"status": object{"phase": "x"}}), []string{"status", "mainall", "allstatus", "everything"}},
		{mergePatch(c.item("a")+"/scale", object{"spec": object{"replicas": 2}}), []string{"mainall", "allscale", "everything"}},
	} {
		if err := w.expectCallsOf(ctx, one.send, one.want...); err != nil {
			return err
		}
	}
	return nil
}

// checkRuleScope creates objects with the label of the case.
func checkRuleScope(ctx context.Context, w *webhooks, c collection) error {
	var hooks []object
	for name, scope := range sortedByKey(map[string]string{"namespaced": "Namespaced", "cluster": "Cluster", "any": "*"}) {
		one := rule("", "v1", "*", "CREATE").with("scope", scope)
		hooks = append(hooks, w.webhook(name).withAdmissionRules(one).with("objectSelector", w.selector())) // of cluster-scoped objects too
	}
	if err := w.validating(ctx, hooks...); err != nil {
		return err
	}
	if err := w.expectCallsOf(ctx, post(c.path(), c.object("a").withLabel(caseLabel, c.namespace)), "namespaced", "any"); err != nil {
		return err
	}
	return w.expectCallsOf(ctx, w.dryRunNamespace("scope"), "cluster", "any")
}

// dryRunNamespace returns a dry run of a create of a Namespace with the label of the case.
func (w *webhooks) dryRunNamespace(suffix string) call {
	return post("/api/v1/namespaces", newObject("v1", "Namespace", w.c.namespace+"-"+suffix).withLabel(caseLabel, w.c.namespace)).
		withQuery("dryRun=All")
}
