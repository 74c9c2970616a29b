package conformance

import (
	"context"
	"fmt"
)

// policyMatchCases returns the cases about which requests a policy applies to (AP-16 to AP-29).
func policyMatchCases() []Case {
	must := policyRules(validatingPolicy, Must, docValidatingPolicies)
	return []Case{
		must("AP-16", "a rule matches the operations that it lists", "a policy is about some writes only", checkMatchedOperations),
		must("AP-16/all", "the operation * matches all of them", "a policy is about all writes", func(ctx context.Context, a *admission) error {
			q := a.validating("a", invalid("request.operation")).on(ruleFor(a.collection, "*")).with("matchConditions", []object{variable("dry", "request.dryRun")})
			return a.check(ctx, these(q), send(a.create("x"), code(201)),
				send(a.try("y"), a.denied("y", "a", "CREATE").check),
				send(a.tryLabel("x"), a.denied("x", "a", "UPDATE").check),
				send(del(a.item("x")).withQuery("dryRun=All"), a.denied("x", "a", "DELETE").check))
		}),
		must("AP-17", "groups, versions and resources of a rule may be *", "a policy is about all types", func(ctx context.Context, a *admission) error {
			leases := a.of(collection{root: "/apis/coordination.k8s.io/v1", apiVersion: "coordination.k8s.io/v1", group: "coordination.k8s.io", kind: "Lease", resource: "leases"})
			all := func(group, version string) object {
				return resourceRule(group, version, []string{"*"}, []string{"CREATE"}).with("scope", "Namespaced")
			}
			return a.check(ctx, these(
				a.validating("a", valid("object.metadata.name != 'all'")).on(all("*", "*")),
				a.validating("b", valid("object.metadata.name != 'group'")).on(all("coordination.k8s.io", "*")),
				a.validating("c", valid("object.metadata.name != 'version'")).on(all("*", "v1beta1")),
			),
				send(a.try("all"), a.denied("all", "a", "failed expression: object.metadata.name != 'all'").check),
				send(leases.dryRunCreate(leases.object("all")), a.deniedIn(leases, "all", "a", "failed expression: object.metadata.name != 'all'").check),
				send(a.try("group"), code(201)),
				send(leases.dryRunCreate(leases.object("group")), a.deniedIn(leases, "group", "b", "failed expression: object.metadata.name != 'group'").check),
				send(a.try("version"), code(201)))
		}),
		must("AP-18", "a rule with resourceNames matches these names only", "a policy protects single objects", func(ctx context.Context, a *admission) error {
			named := ruleFor(a.collection).with("resourceNames", []string{"one", "two"})
			generated := a.dryRunCreate(a.object("").withMeta("generateName", "one"))
			return a.check(ctx, these(a.validating("a", invalid("'no'")).on(named)),
				send(a.try("one"), a.denied("one", "a", "no").check),
				send(a.try("two"), a.denied("two", "a", "no").check),
				send(a.try("three"), code(201)),
				send(generated, code(201)))
		}),
		must("AP-19", "a request that matches excludeResourceRules is not matched", "a policy has exceptions", func(ctx context.Context, a *admission) error {
			q := a.validating("a", invalid("'no'")).match("excludeResourceRules", []object{ruleFor(a.collection, "CREATE").with("resourceNames", []string{"free"})})
			return a.check(ctx, these(q),
				send(a.create("free"), code(201)),
				send(a.tryLabel("free"), a.denied("free", "a", "no").check),
				send(a.try("x"), a.denied("x", "a", "no").check))
		}),
		must("AP-20", "the scope of a rule selects namespaced or cluster-scoped objects", "a policy is about one of them", checkMatchedScope),
		must("AP-21", "the namespaceSelector selects by the labels of the namespace", "a policy is about some namespaces", checkPolicyNamespaceSelector),
		must("AP-21/namespace", "the namespaceSelector selects namespaces by their own labels", "a policy is about some namespaces", func(ctx context.Context, a *admission) error {
			namespaces := collection{s: a.s, root: "/api/v1", apiVersion: "v1", kind: "Namespace", resource: "namespaces"}
			name := a.name("dry")
			plain := namespaces.object(name)
			labeled := namespaces.object(name).withLabel(policyLabel, a.namespace)
			return a.check(ctx, these(a.validating("a", invalid("'no'")).on(ruleFor(namespaces))),
				send(namespaces.dryRunCreate(labeled), a.deniedIn(namespaces, name, "a", "no").check),
				send(namespaces.dryRunCreate(plain), code(201)))
		}),
		must("AP-21/cluster", "the namespaceSelector does not exclude cluster-scoped objects", "a policy is about them", func(ctx context.Context, a *admission) error {
			roles := a.clusterRoles()
			name := a.name("dry")
			q := a.validating("a", invalid("'no'")).on(ruleFor(roles)).match("objectSelector", a.selector())
			return a.check(ctx, these(q),
				send(roles.dryRunCreate(roles.object(name).withLabel(policyLabel, a.namespace)), a.deniedIn(roles, name, "a", "no").check),
				send(roles.dryRunCreate(roles.object(name)), code(201)))
		}),
		must("AP-22", "the objectSelector matches if the old or the new object has the labels", "a label cannot be removed to get around a policy", checkObjectSelector),
		must("AP-23", "with matchPolicy Equivalent, the default, a rule matches requests in other versions", "a policy cannot be got around by another version", checkPolicyEquivalent),
		must("AP-23/exact", "with matchPolicy Exact a rule matches requests in its versions only", "a policy may be about a version", checkExact),
		must("AP-24", "a policy is evaluated only if all matchConditions are true", "a policy is about some writes only", func(ctx context.Context, a *admission) error {
			conditions := []object{variable("one", "object.data.k == '1'"), variable("two", "request.operation == 'CREATE' && object.metadata.name != 'free'")}
			return a.check(ctx, these(a.validating("a", invalid("'no'")).with("matchConditions", conditions)),
				send(a.try("x", "k", "1"), a.denied("x", "a", "no").check),
				send(a.try("x", "k", "2"), code(201)),
				send(a.try("free", "k", "1"), code(201)))
		}),
		must("AP-25", "a matchCondition that fails denies, unless another one is false or failurePolicy is Ignore", "the policy decides about failures", checkFailingConditions),
		must("AP-26", "matchResources of a binding narrow what the policy matches", "a policy is introduced step by step", checkMatchResources),
		must("AP-26/wider", "matchResources of a binding do not widen what the policy matches", "the author of a policy decides what it is about", func(ctx context.Context, a *admission) error {
			wide := object{"resourceRules": []object{resourceRule("*", "*", []string{"*"}, []string{"*"})}}
			q := a.validating("a", invalid("'no'")).on(ruleFor(a.collection, "CREATE")).bind("matchResources", wide)
			secrets := a.of(collection{root: "/api/v1", apiVersion: "v1", kind: "Secret", resource: "secrets"})
			return a.check(ctx, these(q),
				send(a.try("x"), a.denied("x", "a", "no").check),
				send(secrets.dryRunCreate(secrets.object("x")), code(201)))
		}),
		must("AP-27", "policies do not apply to policies and bindings", "a policy cannot block its own removal", checkKindsWithoutPolicies),
		must("AP-28", "a rule matches subresources only if it names them", "the status is written by controllers", checkSubresourceRules),
		must("AP-28/scale", "in a write of a scale the object is the Scale", "a policy limits the number of replicas", checkScalePolicy),
		must("AP-29", "an expression about a DELETE gets the old object", "a policy protects objects", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("!request.dryRun || oldObject.data.k != '1'").with("message", "is kept")).on(ruleFor(a.collection, "DELETE"))
			return a.check(ctx, these(q),
				send(a.create("x", "k", "1"), code(201)), send(a.create("y", "k", "2"), code(201)),
				send(del(a.item("x")).withQuery("dryRun=All"), a.denied("x", "a", "is kept").check),
				send(del(a.item("y")).withQuery("dryRun=All"), code(200)))
		}),
		must("AP-29/collection", "the deletion of a collection is denied if the deletion of an object is", "a policy protects objects", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("!request.dryRun || oldObject.data.k != '1'").with("message", "is kept")).on(ruleFor(a.collection, "DELETE"))
			denied := a.denied("x", "a", "is kept")
			denied.message, denied.details, denied.contains = "", nil, denied.causes[0].Message
			selecting := func(app string) call {
				return del(a.path() + "?dryRun=All&labelSelector=" + policyLabel + "%3D" + app)
			}
			return a.check(ctx, these(q),
				send(post(a.path(), a.object("x").withData("k", "1").withLabel(policyLabel, "a")), code(201)),
				send(post(a.path(), a.object("y").withData("k", "2").withLabel(policyLabel, "b")), code(201)),
				send(selecting("a"), denied.check),
				send(selecting("b"), code(200)))
		}),
	}
}

// tryLabel returns a dry run of an update that sets a label.
func (c collection) tryLabel(name string) call {
	return mergePatch(c.item(name), object{"metadata": object{"labels": object{"set": "by-case"}}}).withQuery("dryRun=All")
}

func checkMatchedOperations(ctx context.Context, a *admission) error {
	create := a.validating("create", valid("object.metadata.name != 'x'").with("message", "no create")).on(ruleFor(a.collection, "CREATE"))
	update := a.validating("update", invalid("'no update'")).on(ruleFor(a.collection, "UPDATE"))
	remove := a.validating("delete", valid("!request.dryRun").with("message", "no delete")).on(ruleFor(a.collection, "DELETE"))
	return a.check(ctx, these(create, update, remove),
		send(a.try("x"), a.denied("x", "create", "no create").check),
		send(a.create("y"), code(201)),
		send(a.tryLabel("y"), a.denied("y", "update", "no update").check),
		send(apply(a.item("x"), a.object("x")).withQuery("dryRun=All"), a.denied("x", "create", "no create").check),
		send(del(a.item("y")).withQuery("dryRun=All"), a.denied("y", "delete", "no delete").check),
	)
}

func checkMatchedScope(ctx context.Context, a *admission) error {
	limits, err := a.s.limitCRs(ctx)
	if err != nil {
		return err
	}
	scoped := func(scope string) *policy {
		everything := resourceRule("*", "*", []string{"*"}, []string{"CREATE"}).with("scope", scope)
		return a.validating(map[string]string{"Cluster": "c", "Namespaced": "n"}[scope], invalid("'no'")).on(everything).match("objectSelector", a.selector())
	}
	limit := limits.object(a.name("x")).withLabel(policyLabel, a.namespace)
	return a.check(ctx, these(scoped("Cluster"), scoped("Namespaced")),
		send(a.tryLabeled("x", policyLabel, a.namespace), a.denied("x", "n", "no").check),
		send(limits.dryRunCreate(limit), a.deniedIn(limits, a.name("x"), "c", "no").check),
	)
}

func checkPolicyNamespaceSelector(ctx context.Context, a *admission) error {
	other, err := a.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	if err := a.check(ctx, these(a.validating("a", invalid("'no'"))),
		send(a.try("x"), a.denied("x", "a", "no").check),
		send(other.dryRunCreate(other.object("x")), code(201)),
	); err != nil {
		return err
	}
	label := object{"metadata": object{"labels": object{policyLabel: a.namespace}}}
	if err := a.s.expect(ctx, mergePatch(namespacePath(other.namespace), label), code(200)); err != nil {
		return err
	}
	return a.s.waitFor(ctx, other.dryRunCreate(other.object("x")), a.deniedIn(other, "x", "a", "no").check)
}

func checkObjectSelector(ctx context.Context, a *admission) error {
	relabel := func(name string, value any) call {
		return mergePatch(a.item(name), object{"metadata": object{"labels": object{"guard": value}}}).withQuery("dryRun=All")
	}
	q := a.validating("a", valid("request.operation == 'CREATE' && !request.dryRun").with("message", "no")).match("objectSelector", object{"matchLabels": object{"guard": "on"}})
	no := func(name string) expectation { return a.denied(name, "a", "no").check }
	return a.check(ctx, these(q),
		send(a.tryLabeled("x", "guard", "on"), no("x")),
		send(a.tryLabeled("x", "guard", "off"), code(201)),
		send(a.try("x"), code(201)),
		send(post(a.path(), a.object("on").withLabel("guard", "on")), code(201)),
		send(a.create("off"), code(201)),
		send(relabel("on", nil), no("on")),
		send(relabel("off", "on"), no("off")),
		send(relabel("off", "off"), code(200)),
	)
}

// widgetVersions returns the Widgets of the namespace in both versions.
func (a *admission) widgetVersions(ctx context.Context) (v1, v1beta1 collection, err error) {
	w, err := a.s.run.installCRDBasic(ctx)
	return a.of(w.in("v1")), a.of(w.in("v1beta1")), err
}

// versionsMessage is the versions that an expression sees, as a message.
const versionsMessage = "object.apiVersion + ', ' + request.kind.version + ', ' + request.resource.version + ', ' + request.requestKind.version + ', ' + request.requestResource.version"

func checkPolicyEquivalent(ctx context.Context, a *admission) error {
	v1, beta, err := a.widgetVersions(ctx)
	if err != nil {
		return err
	}
	q := a.validating("a", invalid(versionsMessage)).on(ruleFor(beta))
	return a.check(ctx, these(q),
		send(v1.dryRunCreate(v1.object("x")), a.deniedIn(v1, "x", "a", beta.apiVersion+", v1beta1, v1beta1, v1, v1").check),
		send(beta.dryRunCreate(beta.object("x")), a.deniedIn(beta, "x", "a", beta.apiVersion+", v1beta1, v1beta1, v1beta1, v1beta1").check),
	)
}

func checkExact(ctx context.Context, a *admission) error {
	v1, beta, err := a.widgetVersions(ctx)
	if err != nil {
		return err
	}
	q := a.validating("a", invalid(versionsMessage)).on(ruleFor(beta)).match("matchPolicy", "Exact")
	return a.check(ctx, these(q),
		send(v1.dryRunCreate(v1.object("x")), code(201)),
		send(beta.dryRunCreate(beta.object("x")), a.deniedIn(beta, "x", "a", beta.apiVersion+", v1beta1, v1beta1, v1beta1, v1beta1").check),
	)
}

func checkFailingConditions(ctx context.Context, a *admission) error {
	missing, no := variable("missing", "object.data.missing == '1'"), variable("no", "object.data.k != '1'")
	guarded := func(name string, conditions ...object) *policy {
		return a.validating(name, invalid("'evaluated'")).match("objectSelector", object{"matchLabels": object{"to": name}}).with("matchConditions", conditions)
	}
	to := func(name, k string) call {
		return a.dryRunCreate(a.object("x").withLabel("to", name).withData("k", k))
	}
	failed := a.denied("x", "fail", "expression 'object.data.missing == '1'' resulted in error: no such key: missing")
	return a.check(ctx, these(guarded("fail", missing, no), guarded("ignore", missing, no).with("failurePolicy", "Ignore")),
		send(to("fail", "2"), failed.check),
		send(to("fail", "1"), code(201)),
		send(to("ignore", "2"), code(201)),
		send(to("other", "2"), code(201)),
	)
}

func checkMatchResources(ctx context.Context, a *admission) error {
	if err := a.s.expect(ctx, a.create("kept"), code(201)); err != nil {
		return err
	}
	narrow := object{
		"resourceRules":        []object{ruleFor(a.collection, "CREATE")},
		"excludeResourceRules": []object{ruleFor(a.collection, "CREATE").with("resourceNames", []string{"free"})},
		"objectSelector":       object{"matchExpressions": []object{{"key": "free", "operator": "DoesNotExist"}}},
	}
	elsewhere := object{"namespaceSelector": object{"matchLabels": object{policyLabel: a.name("elsewhere")}}}
	return a.check(ctx, these(a.validating("a", invalid("'no'")).bind("matchResources", narrow), a.validating("b", invalid("'never'")).bind("matchResources", elsewhere)),
		send(a.try("x"), a.denied("x", "a", "no").check),
		send(a.try("free"), code(201)),
		send(a.tryLabeled("x", "free", "yes"), code(201)),
		send(a.tryLabel("kept"), code(200)),
	)
}

func checkKindsWithoutPolicies(ctx context.Context, a *admission) error {
	everything := resourceRule(admissionGroup, "*", []string{"*/*"}, []string{"*"})
	q := a.validating("a", invalid("'no'")).on(everything).match("objectSelector", a.selector())
	labels := object{"metadata": object{"labels": object{policyLabel: a.namespace}}}
	labeled := func(o object) object { return o.withLabel(policyLabel, a.namespace) }
	webhooks := collection{root: "/apis/" + admissionVersion, apiVersion: admissionVersion, group: admissionGroup, kind: "ValidatingWebhookConfiguration", resource: "validatingwebhookconfigurations"}
	requests := []exchange{
		send(webhooks.dryRunCreate(labeled(webhooks.object(a.name("w")))), a.deniedIn(webhooks, a.name("w"), "a", "no").check),
		send(mergePatch(q.path(), labels), code(200)),
		send(mergePatch(q.bindingPath(), labels), code(200)),
		send(del(q.bindingPath()).withQuery("dryRun=All"), code(200)),
	}
	for _, other := range []*policy{a.validating("b", valid("true")), a.mutating("c", applyMutation("Object{}"))} {
		requests = append(requests,
			send(post(policiesPath(other.kind), labeled(other.body())).withQuery("dryRun=All"), code(201, 404)),
			send(post(policyBindingsPath(other.kind), labeled(other.bindings[0])).withQuery("dryRun=All"), code(201, 404)),
		)
	}
	return a.check(ctx, these(q), requests...)
}

func checkSubresourceRules(ctx context.Context, a *admission) error {
	widgets, err := a.s.run.installCRDBasic(ctx)
	if err != nil {
		return err
	}
	c := a.of(widgets.in("v1"))
	if err := a.s.expect(ctx, post(c.path(), c.withSpec("x", object{"color": "red"})), code(201)); err != nil {
		return err
	}
	on := func(name string, resources ...string) *policy {
		return a.validating(name, invalid("request.subResource + ' of ' + object.spec.color")).
			on(resourceRule(c.group, "v1", resources, []string{"UPDATE"}).with("scope", "Namespaced")).
			with("matchConditions", []object{variable("this", fmt.Sprintf("has(object.status) && object.status.phase == '%s'", name))})
	}
	setPhase := func(phase string) call {
		return mergePatch(c.item("x")+"/status", object{"status": object{"phase": phase}}).withQuery("dryRun=All")
	}
	main := a.validating("main", invalid("'main'")).on(ruleFor(c, "UPDATE"))
	var requests []exchange
	for _, name := range []string{"one", "of", "any"} {
		requests = append(requests, send(setPhase(name), a.deniedIn(c, "x", name, "status of red").check))
	}
	requests = append(requests, send(setPhase("none"), code(200)), send(c.tryLabel("x"), a.deniedIn(c, "x", "main", "main").check))
	return a.check(ctx, these(on("one", "widgets/status"), on("of", "widgets/*"), on("any", "*/status"), main), requests...)
}

func checkScalePolicy(ctx context.Context, a *admission) error {
	dials, err := a.s.run.installCRDScale(ctx)
	if err != nil {
		return err
	}
	c := a.of(dials)
	if err := a.s.expect(ctx, post(c.path(), c.scaleCR("x")), code(201)); err != nil {
		return err
	}
	v := valid("object.spec.replicas - oldObject.spec.replicas <= 2").
		with("messageExpression", "object.kind + ' ' + string(oldObject.spec.replicas) + ' to ' + string(object.spec.replicas) + ' by ' + request.kind.kind")
	scale := func(replicas int) call {
		return mergePatch(c.item("x")+"/scale", object{"spec": object{"replicas": replicas}}).withQuery("dryRun=All")
	}
	return a.check(ctx, these(a.validating("a", v).on(resourceRule(c.group, "v1", []string{c.resource + "/scale"}, []string{"UPDATE"}))),
		send(scale(9), a.deniedIn(c, "x", "a", "Scale 1 to 9 by Scale").check),
		send(scale(3), code(200)),
	)
}
