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
		must("AP-16/all", "the operation * matches all of them", "a policy is about all writes", func(ctx context.Context, p *admission) error {
			q := p.validating("a", invalid("request.operation")).on(ruleFor(p.collection, "*")).with("matchConditions", []object{variable("dry", "request.dryRun")})
			return p.check(ctx, these(q), send(p.create("x"), code(201)),
				send(p.try("y"), p.denied("y", "a", "CREATE").check),
				send(p.tryLabel("x"), p.denied("x", "a", "UPDATE").check),
				send(del(p.item("x")).withQuery("dryRun=All"), p.denied("x", "a", "DELETE").check))
		}),
		must("AP-17", "groups, versions and resources of a rule may be *", "a policy is about all types", func(ctx context.Context, p *admission) error {
			leases := p.of(collection{root: "/apis/coordination.k8s.io/v1", apiVersion: "coordination.k8s.io/v1", group: "coordination.k8s.io", kind: "Lease", resource: "leases"})
			all := func(group, version string) object {
				return resourceRule(group, version, []string{"*"}, []string{"CREATE"}).with("scope", "Namespaced")
			}
			return p.check(ctx, these(
				p.validating("a", valid("object.metadata.name != 'all'")).on(all("*", "*")),
				p.validating("b", valid("object.metadata.name != 'group'")).on(all("coordination.k8s.io", "*")),
				p.validating("c", valid("object.metadata.name != 'version'")).on(all("*", "v1beta1")),
			),
				send(p.try("all"), p.denied("all", "a", "failed expression: object.metadata.name != 'all'").check),
				send(leases.dryRunCreate(leases.object("all")), p.deniedIn(leases, "all", "a", "failed expression: object.metadata.name != 'all'").check),
				send(p.try("group"), code(201)),
				send(leases.dryRunCreate(leases.object("group")), p.deniedIn(leases, "group", "b", "failed expression: object.metadata.name != 'group'").check),
				send(p.try("version"), code(201)))
		}),
		must("AP-18", "a rule with resourceNames matches these names only", "a policy protects single objects", func(ctx context.Context, p *admission) error {
			named := ruleFor(p.collection).with("resourceNames", []string{"one", "two"})
			generated := p.dryRunCreate(p.object("").withMeta("generateName", "one"))
			return p.check(ctx, these(p.validating("a", invalid("'no'")).on(named)),
				send(p.try("one"), p.denied("one", "a", "no").check),
				send(p.try("two"), p.denied("two", "a", "no").check),
				send(p.try("three"), code(201)),
				send(generated, code(201)))
		}),
		must("AP-19", "a request that matches excludeResourceRules is not matched", "a policy has exceptions", func(ctx context.Context, p *admission) error {
			q := p.validating("a", invalid("'no'")).match("excludeResourceRules", []object{ruleFor(p.collection, "CREATE").with("resourceNames", []string{"free"})})
			return p.check(ctx, these(q),
				send(p.create("free"), code(201)),
				send(p.tryLabel("free"), p.denied("free", "a", "no").check),
				send(p.try("x"), p.denied("x", "a", "no").check))
		}),
		must("AP-20", "the scope of a rule selects namespaced or cluster-scoped objects", "a policy is about one of them", checkMatchedScope),
		must("AP-21", "the namespaceSelector selects by the labels of the namespace", "a policy is about some namespaces", checkPolicyNamespaceSelector),
		must("AP-21/namespace", "the namespaceSelector selects namespaces by their own labels", "a policy is about some namespaces", func(ctx context.Context, p *admission) error {
			namespaces := collection{s: p.s, root: "/api/v1", apiVersion: "v1", kind: "Namespace", resource: "namespaces"}
			name := p.name("dry")
			plain := namespaces.object(name)
			labeled := namespaces.object(name).withLabel(policyLabel, p.namespace)
			return p.check(ctx, these(p.validating("a", invalid("'no'")).on(ruleFor(namespaces))),
				send(namespaces.dryRunCreate(labeled), p.deniedIn(namespaces, name, "a", "no").check),
				send(namespaces.dryRunCreate(plain), code(201)))
		}),
		must("AP-21/cluster", "the namespaceSelector does not exclude cluster-scoped objects", "a policy is about them", func(ctx context.Context, p *admission) error {
			roles := p.clusterRoles()
			name := p.name("dry")
			q := p.validating("a", invalid("'no'")).on(ruleFor(roles)).match("objectSelector", p.selector())
			return p.check(ctx, these(q),
				send(roles.dryRunCreate(roles.object(name).withLabel(policyLabel, p.namespace)), p.deniedIn(roles, name, "a", "no").check),
				send(roles.dryRunCreate(roles.object(name)), code(201)))
		}),
		must("AP-22", "the objectSelector matches if the old or the new object has the labels", "a label cannot be removed to get around a policy", checkObjectSelector),
		must("AP-23", "with matchPolicy Equivalent, the default, a rule matches requests in other versions", "a policy cannot be got around by another version", checkPolicyEquivalent),
		must("AP-23/exact", "with matchPolicy Exact a rule matches requests in its versions only", "a policy may be about a version", checkExact),
		must("AP-24", "a policy is evaluated only if all matchConditions are true", "a policy is about some writes only", func(ctx context.Context, p *admission) error {
			conditions := []object{variable("one", "object.data.k == '1'"), variable("two", "request.operation == 'CREATE' && object.metadata.name != 'free'")}
			return p.check(ctx, these(p.validating("a", invalid("'no'")).with("matchConditions", conditions)),
				send(p.try("x", "k", "1"), p.denied("x", "a", "no").check),
				send(p.try("x", "k", "2"), code(201)),
				send(p.try("free", "k", "1"), code(201)))
		}),
		must("AP-25", "a matchCondition that fails denies, unless another one is false or failurePolicy is Ignore", "the policy decides about failures", checkFailingConditions),
		must("AP-26", "matchResources of a binding narrow what the policy matches", "a policy is introduced step by step", checkMatchResources),
		must("AP-26/wider", "matchResources of a binding do not widen what the policy matches", "the author of a policy decides what it is about", func(ctx context.Context, p *admission) error {
			wide := object{"resourceRules": []object{resourceRule("*", "*", []string{"*"}, []string{"*"})}}
			q := p.validating("a", invalid("'no'")).on(ruleFor(p.collection, "CREATE")).bind("matchResources", wide)
			secrets := p.of(collection{root: "/api/v1", apiVersion: "v1", kind: "Secret", resource: "secrets"})
			return p.check(ctx, these(q),
				send(p.try("x"), p.denied("x", "a", "no").check),
				send(secrets.dryRunCreate(secrets.object("x")), code(201)))
		}),
		must("AP-27", "policies do not apply to policies and bindings", "a policy cannot block its own removal", checkKindsWithoutPolicies),
		must("AP-28", "a rule matches subresources only if it names them", "the status is written by controllers", checkSubresourceRules),
		must("AP-28/scale", "in a write of a scale the object is the Scale", "a policy limits the number of replicas", checkScalePolicy),
		must("AP-29", "an expression about a DELETE gets the old object", "a policy protects objects", func(ctx context.Context, p *admission) error {
			q := p.validating("a", valid("!request.dryRun || oldObject.data.k != '1'").with("message", "is kept")).on(ruleFor(p.collection, "DELETE"))
			return p.check(ctx, these(q),
				send(p.create("x", "k", "1"), code(201)), send(p.create("y", "k", "2"), code(201)),
				send(del(p.item("x")).withQuery("dryRun=All"), p.denied("x", "a", "is kept").check),
				send(del(p.item("y")).withQuery("dryRun=All"), code(200)))
		}),
		must("AP-29/collection", "the deletion of a collection is denied if the deletion of an object is", "a policy protects objects", func(ctx context.Context, p *admission) error {
			q := p.validating("a", valid("!request.dryRun || oldObject.data.k != '1'").with("message", "is kept")).on(ruleFor(p.collection, "DELETE"))
			denied := p.denied("x", "a", "is kept")
			denied.message, denied.details, denied.contains = "", nil, denied.causes[0].Message
			selecting := func(app string) call {
				return del(p.path() + "?dryRun=All&labelSelector=" + policyLabel + "%3D" + app)
			}
			return p.check(ctx, these(q),
				send(post(p.path(), p.object("x").withData("k", "1").withLabel(policyLabel, "a")), code(201)),
				send(post(p.path(), p.object("y").withData("k", "2").withLabel(policyLabel, "b")), code(201)),
				send(selecting("a"), denied.check),
				send(selecting("b"), code(200)))
		}),
	}
}

// tryLabel returns a dry run of an update that sets a label.
func (c collection) tryLabel(name string) call {
	return mergePatch(c.item(name), object{"metadata": object{"labels": object{"set": "by-case"}}}).withQuery("dryRun=All")
}

func checkMatchedOperations(ctx context.Context, p *admission) error {
	create := p.validating("create", valid("object.metadata.name != 'x'").with("message", "no create")).on(ruleFor(p.collection, "CREATE"))
	update := p.validating("update", invalid("'no update'")).on(ruleFor(p.collection, "UPDATE"))
	remove := p.validating("delete", valid("!request.dryRun").with("message", "no delete")).on(ruleFor(p.collection, "DELETE"))
	return p.check(ctx, these(create, update, remove),
		send(p.try("x"), p.denied("x", "create", "no create").check),
		send(p.create("y"), code(201)),
		send(p.tryLabel("y"), p.denied("y", "update", "no update").check),
		send(apply(p.item("x"), p.object("x")).withQuery("dryRun=All"), p.denied("x", "create", "no create").check),
		send(del(p.item("y")).withQuery("dryRun=All"), p.denied("y", "delete", "no delete").check),
	)
}

func checkMatchedScope(ctx context.Context, p *admission) error {
	limits, err := p.s.limitCRs(ctx)
	if err != nil {
		return err
	}
	scoped := func(scope string) *policy {
		everything := resourceRule("*", "*", []string{"*"}, []string{"CREATE"}).with("scope", scope)
		return p.validating(map[string]string{"Cluster": "c", "Namespaced": "n"}[scope], invalid("'no'")).on(everything).match("objectSelector", p.selector())
	}
	limit := limits.object(p.name("x")).withLabel(policyLabel, p.namespace)
	return p.check(ctx, these(scoped("Cluster"), scoped("Namespaced")),
		send(p.tryLabeled("x", policyLabel, p.namespace), p.denied("x", "n", "no").check),
		send(limits.dryRunCreate(limit), p.deniedIn(limits, p.name("x"), "c", "no").check),
	)
}

func checkPolicyNamespaceSelector(ctx context.Context, p *admission) error {
	other, err := p.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	if err := p.check(ctx, these(p.validating("a", invalid("'no'"))),
		send(p.try("x"), p.denied("x", "a", "no").check),
		send(other.dryRunCreate(other.object("x")), code(201)),
	); err != nil {
		return err
	}
	label := object{"metadata": object{"labels": object{policyLabel: p.namespace}}}
	if err := p.s.expect(ctx, mergePatch(namespacePath(other.namespace), label), code(200)); err != nil {
		return err
	}
	return p.s.waitFor(ctx, other.dryRunCreate(other.object("x")), p.deniedIn(other, "x", "a", "no").check)
}

func checkObjectSelector(ctx context.Context, p *admission) error {
	relabel := func(name string, value any) call {
		return mergePatch(p.item(name), object{"metadata": object{"labels": object{"guard": value}}}).withQuery("dryRun=All")
	}
	q := p.validating("a", valid("request.operation == 'CREATE' && !request.dryRun").with("message", "no")).match("objectSelector", object{"matchLabels": object{"guard": "on"}})
	no := func(name string) expectation { return p.denied(name, "a", "no").check }
	return p.check(ctx, these(q),
		send(p.tryLabeled("x", "guard", "on"), no("x")),
		send(p.tryLabeled("x", "guard", "off"), code(201)),
		send(p.try("x"), code(201)),
		send(post(p.path(), p.object("on").withLabel("guard", "on")), code(201)),
		send(p.create("off"), code(201)),
		send(relabel("on", nil), no("on")),
		send(relabel("off", "on"), no("off")),
		send(relabel("off", "off"), code(200)),
	)
}

// widgetVersions returns the Widgets of the namespace in both versions.
func (p *admission) widgetVersions(ctx context.Context) (v1, v1beta1 collection, err error) {
	w, err := p.s.run.installCRDBasic(ctx)
	return p.of(w.in("v1")), p.of(w.in("v1beta1")), err
}

// versionsMessage is the versions that an expression sees, as a message.
const versionsMessage = "object.apiVersion + ', ' + request.kind.version + ', ' + request.resource.version + ', ' + request.requestKind.version + ', ' + request.requestResource.version"

func checkPolicyEquivalent(ctx context.Context, p *admission) error {
	v1, beta, err := p.widgetVersions(ctx)
	if err != nil {
		return err
	}
	q := p.validating("a", invalid(versionsMessage)).on(ruleFor(beta))
	return p.check(ctx, these(q),
		send(v1.dryRunCreate(v1.object("x")), p.deniedIn(v1, "x", "a", beta.apiVersion+", v1beta1, v1beta1, v1, v1").check),
		send(beta.dryRunCreate(beta.object("x")), p.deniedIn(beta, "x", "a", beta.apiVersion+", v1beta1, v1beta1, v1beta1, v1beta1").check),
	)
}

func checkExact(ctx context.Context, p *admission) error {
	v1, beta, err := p.widgetVersions(ctx)
	if err != nil {
		return err
	}
	q := p.validating("a", invalid(versionsMessage)).on(ruleFor(beta)).match("matchPolicy", "Exact")
	return p.check(ctx, these(q),
		send(v1.dryRunCreate(v1.object("x")), code(201)),
		send(beta.dryRunCreate(beta.object("x")), p.deniedIn(beta, "x", "a", beta.apiVersion+", v1beta1, v1beta1, v1beta1, v1beta1").check),
	)
}

func checkFailingConditions(ctx context.Context, p *admission) error {
	missing, no := variable("missing", "object.data.missing == '1'"), variable("no", "object.data.k != '1'")
	guarded := func(name string, conditions ...object) *policy {
		return p.validating(name, invalid("'evaluated'")).match("objectSelector", object{"matchLabels": object{"to": name}}).with("matchConditions", conditions)
	}
	to := func(name, k string) call {
		return p.dryRunCreate(p.object("x").withLabel("to", name).withData("k", k))
	}
	failed := p.denied("x", "fail", "expression 'object.data.missing == '1'' resulted in error: no such key: missing")
	return p.check(ctx, these(guarded("fail", missing, no), guarded("ignore", missing, no).with("failurePolicy", "Ignore")),
		send(to("fail", "2"), failed.check),
		send(to("fail", "1"), code(201)),
		send(to("ignore", "2"), code(201)),
		send(to("other", "2"), code(201)),
	)
}

func checkMatchResources(ctx context.Context, p *admission) error {
	if err := p.s.expect(ctx, p.create("kept"), code(201)); err != nil {
		return err
	}
	narrow := object{
		"resourceRules":        []object{ruleFor(p.collection, "CREATE")},
		"excludeResourceRules": []object{ruleFor(p.collection, "CREATE").with("resourceNames", []string{"free"})},
		"objectSelector":       object{"matchExpressions": []object{{"key": "free", "operator": "DoesNotExist"}}},
	}
	elsewhere := object{"namespaceSelector": object{"matchLabels": object{policyLabel: p.name("elsewhere")}}}
	return p.check(ctx, these(p.validating("a", invalid("'no'")).bind("matchResources", narrow), p.validating("b", invalid("'never'")).bind("matchResources", elsewhere)),
		send(p.try("x"), p.denied("x", "a", "no").check),
		send(p.try("free"), code(201)),
		send(p.tryLabeled("x", "free", "yes"), code(201)),
		send(p.tryLabel("kept"), code(200)),
	)
}

func checkKindsWithoutPolicies(ctx context.Context, p *admission) error {
	everything := resourceRule(admissionGroup, "*", []string{"*/*"}, []string{"*"})
	q := p.validating("a", invalid("'no'")).on(everything).match("objectSelector", p.selector())
	labels := object{"metadata": object{"labels": object{policyLabel: p.namespace}}}
	labeled := func(o object) object { return o.withLabel(policyLabel, p.namespace) }
	webhooks := collection{root: "/apis/" + admissionVersion, apiVersion: admissionVersion, group: admissionGroup, kind: "ValidatingWebhookConfiguration", resource: "validatingwebhookconfigurations"}
	requests := []exchange{
		send(webhooks.dryRunCreate(labeled(webhooks.object(p.name("w")))), p.deniedIn(webhooks, p.name("w"), "a", "no").check),
		send(mergePatch(q.path(), labels), code(200)),
		send(mergePatch(q.bindingPath(), labels), code(200)),
		send(del(q.bindingPath()).withQuery("dryRun=All"), code(200)),
	}
	for _, other := range []*policy{p.validating("b", valid("true")), p.mutating("c", applyMutation("Object{}"))} {
		requests = append(requests,
			send(post(policiesPath(other.kind), labeled(other.body())).withQuery("dryRun=All"), code(201, 404)),
			send(post(policyBindingsPath(other.kind), labeled(other.bindings[0])).withQuery("dryRun=All"), code(201, 404)),
		)
	}
	return p.check(ctx, these(q), requests...)
}

func checkSubresourceRules(ctx context.Context, p *admission) error {
	widgets, err := p.s.run.installCRDBasic(ctx)
	if err != nil {
		return err
	}
	c := p.of(widgets.in("v1"))
	if err := p.s.expect(ctx, post(c.path(), c.withSpec("x", object{"color": "red"})), code(201)); err != nil {
		return err
	}
	on := func(name string, resources ...string) *policy {
		return p.validating(name, invalid("request.subResource + ' of ' + object.spec.color")).
			on(resourceRule(c.group, "v1", resources, []string{"UPDATE"}).with("scope", "Namespaced")).
			with("matchConditions", []object{variable("this", fmt.Sprintf("has(object.status) && object.status.phase == '%s'", name))})
	}
	setPhase := func(phase string) call {
		return mergePatch(c.item("x")+"/status", object{"status": object{"phase": phase}}).withQuery("dryRun=All")
	}
	main := p.validating("main", invalid("'main'")).on(ruleFor(c, "UPDATE"))
	var requests []exchange
	for _, name := range []string{"one", "of", "any"} {
		requests = append(requests, send(setPhase(name), p.deniedIn(c, "x", name, "status of red").check))
	}
	requests = append(requests, send(setPhase("none"), code(200)), send(c.tryLabel("x"), p.deniedIn(c, "x", "main", "main").check))
	return p.check(ctx, these(on("one", "widgets/status"), on("of", "widgets/*"), on("any", "*/status"), main), requests...)
}

func checkScalePolicy(ctx context.Context, p *admission) error {
	dials, err := p.s.run.installCRDScale(ctx)
	if err != nil {
		return err
	}
	c := p.of(dials)
	if err := p.s.expect(ctx, post(c.path(), c.scaleCR("x")), code(201)); err != nil {
		return err
	}
	v := valid("object.spec.replicas - oldObject.spec.replicas <= 2").
		with("messageExpression", "object.kind + ' ' + string(oldObject.spec.replicas) + ' to ' + string(object.spec.replicas) + ' by ' + request.kind.kind")
	scale := func(replicas int) call {
		return mergePatch(c.item("x")+"/scale", object{"spec": object{"replicas": replicas}}).withQuery("dryRun=All")
	}
	return p.check(ctx, these(p.validating("a", v).on(resourceRule(c.group, "v1", []string{c.resource + "/scale"}, []string{"UPDATE"}))),
		send(scale(9), p.deniedIn(c, "x", "a", "Scale 1 to 9 by Scale").check),
		send(scale(3), code(200)),
	)
}
