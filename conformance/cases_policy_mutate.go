package conformance

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policyMutationCases returns the cases about what applies mutating policies (AP-53 to AP-65).
func policyMutationCases() []Case {
	must := policyRules(mutatingPolicy, Must, docMutatingPolicies)
	should := policyRules(mutatingPolicy, Should, docMutatingPolicies)
	return []Case{
		must("AP-53", "a mutating policy changes objects on create, update, patch and apply", "defaults are the same however an object is written", checkMutatedWrites),
		must("AP-53/custom", "a mutating policy changes custom resources", "defaults are the same for all types", checkMutatedCustomResources),
		must("AP-54", "a mutating policy without a binding does nothing", "a policy can be prepared before it is used", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", setDataByPolicy("by", "'policy'"))
			binding := q.bindings[0]
			if err := a.check(ctx, these(q.unbound()), send(a.try("x", "k", "1"), code(201), value(object{"k": "1"}, "data"))); err != nil {
				return err
			}
			if err := a.change(ctx, q.kind, post(policyBindingsPath(q.kind), binding)); err != nil {
				return err
			}
			if err := a.s.expect(ctx, a.try("x", "k", "1"), code(201), value(object{"k": "1", "by": "policy"}, "data")); err != nil {
				return err
			}
			if err := a.change(ctx, q.kind, del(q.path())); err != nil {
				return err
			}
			return a.s.expect(ctx, a.try("x", "k", "1"), code(201), value(object{"k": "1"}, "data"))
		}),
		must("AP-55", "the constraints of mutating policies and bindings select requests as those of validating ones", "a policy is about some writes only", checkMutationConstraints),
		must("AP-55/delete", "a mutating policy about all operations does not affect a DELETE", "there is nothing to change", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", setDataByPolicy("k", "object.data.k + '!'")).on(ruleFor(a.collection, "*"))
			return a.check(ctx, these(q),
				send(a.create("x", "k", "1"), code(201), field("1!", "data", "k")),
				send(a.try("x", "other", "1"), code(403)),
				send(del(a.item("x")), code(200)),
				send(get(a.item("x")), code(404)))
		}),
		must("AP-55/conditions", "a mutating policy changes an object only if all matchConditions are true", "a policy does not repeat its change", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", setDataByPolicy("k", "object.data.k + '+'")).with("matchConditions", []object{variable("short", "object.data.k.size() < 3")})
			label := func(value string) call {
				return mergePatch(a.item("x"), object{"metadata": object{"labels": object{"step": value}}})
			}
			return a.check(ctx, these(q),
				send(a.create("x", "k", "1"), code(201), field("1+", "data", "k")),
				send(label("1"), code(200), field("1++", "data", "k")),
				send(label("2"), code(200), field("1++", "data", "k")))
		}),
		must("AP-55/exempt", "mutating policies do not apply to policies and bindings", "a policy cannot change another", func(ctx context.Context, a *admission) error {
			everything := resourceRule(admissionGroup, "*", []string{"*/*"}, []string{"*"})
			q := a.mutating("a", applyMutation("Object{metadata: Object.metadata{annotations: {'by': 'policy'}}}")).on(everything).match("objectSelector", a.selector())
			labeled := func(o object) object { return o.withLabel(policyLabel, a.namespace) }
			create := func(path string, o object) call { return post(path, labeled(o)).withQuery("dryRun=All") }
			unchanged := value(nil, "metadata", "annotations")
			other := a.mutating("b", applyMutation("Object{}"))
			webhooks := a.of(collection{root: "/apis/" + admissionVersion, apiVersion: admissionVersion, group: admissionGroup, kind: "MutatingWebhookConfiguration", resource: "mutatingwebhookconfigurations"})
			return a.check(ctx, these(q),
				send(create(webhooks.allNamespacesPath(), webhooks.object(a.name("w"))), code(201), field("policy", "metadata", "annotations", "by")),
				send(create(policiesPath(other.kind), other.body()), code(201), unchanged),
				send(create(policyBindingsPath(other.kind), other.bindings[0]), code(201), unchanged))
		}),
		must("AP-56", "the mutations of a policy are made in order, each sees those before", "mutations are composed", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", setDataByPolicy("k", "object.data.k + 'a'"), jsonPatchMutation(`[JSONPatch{op: 'replace', path: '/data/k', value: object.data.k + 'b'}]`), setDataByPolicy("k", "object.data.k + 'c'"))
			return a.check(ctx, these(q), send(a.try("x", "k", "-"), code(201), field("-abc", "data", "k")))
		}),
		must("AP-56/bindings", "a policy changes an object once for each binding", "bindings have different parameters", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", setDataByPolicy("k", "object.data.k + 'a'"))
			q.bindings = append(q.bindings, a.binding(q.kind, "b", "a"))
			return a.check(ctx, these(q), send(a.try("x", "k", "-"), code(201), field("-aa", "data", "k")))
		}),
		must("AP-57", "all mutating policies apply", "policies are independent", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.mutating("a", setDataByPolicy("a", "'1'")), a.mutating("b", setDataByPolicy("b", "'2'")), a.mutating("c", jsonPatchMutation(`[JSONPatch{op: 'add', path: '/data/c', value: '3'}]`))),
				send(a.try("x", "k", "0"), code(201), value(object{"k": "0", "a": "1", "b": "2", "c": "3"}, "data")))
		}),
		must("AP-58", "with reinvocationPolicy IfNeeded a policy sees the changes of other policies", "policies need no order", func(ctx context.Context, a *admission) error {
			seeing := a.mutating("a", setDataByPolicy("seen", "'b' in object.data ? 'yes' : 'no'")).with("reinvocationPolicy", "IfNeeded")
			return a.check(ctx, these(seeing, a.mutating("b", setDataByPolicy("b", "'1'"))), send(a.try("x", "k", "0"), code(201), field("yes", "data", "seen")))
		}),
		must("AP-58/never", "with reinvocationPolicy Never a policy changes an object once", "a policy may not be repeatable", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.mutating("a", setDataByPolicy("k", "object.data.k + 'a'")), a.mutating("b", setDataByPolicy("b", "'1'")), a.mutating("c", setDataByPolicy("c", "'1'"))),
				send(a.try("x", "k", "-"), code(201), value(object{"k": "-a", "b": "1", "c": "1"}, "data")))
		}),
		must("AP-59", "validating policies see the mutated object", "what is stored is within the policy", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.mutating("m", setDataByPolicy("k", "object.data.k + '!'")), a.validating("v", valid("object.data.k != '1!'").with("messageExpression", "'not ' + object.data.k"))),
				send(a.try("x", "k", "1"), a.denied("x", "v", "not 1!").check),
				send(a.try("x", "k", "1!"), code(201), field("1!!", "data", "k")))
		}),
		must("AP-59/validation", "a mutated object is validated", "what is stored is valid", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", applyMutation("Object{metadata: Object.metadata{labels: {'by': object.data.k}}}"))
			return a.check(ctx, these(q),
				send(a.try("x", "k", "valid"), code(201), field("valid", "metadata", "labels", "by")),
				send(a.try("x", "k", "not valid!"), code(422), fieldCause("metadata.labels")))
		}),
		must("AP-60", "a dry run is mutated, and nothing is stored", "a dry run shows what would happen", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.mutating("a", setDataByPolicy("dry", "string(request.dryRun)"))),
				send(a.try("x"), code(201), field("true", "data", "dry")),
				send(get(a.item("x")), code(404)),
				send(a.create("x"), code(201), field("false", "data", "dry")),
				send(a.tryLabel("x"), code(200), field("true", "data", "dry")),
				send(get(a.item("x")), code(200), field("false", "data", "dry")))
		}),
		should("AP-61", "fields that a policy sets have no manager", "an applier can take them without a conflict", checkManagersOfMutations),
		must("AP-62", "a mutating policy does not know a generated name", "the name is generated later", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", setDataByPolicy("name", "has(object.metadata.name) ? object.metadata.name + ' ' + request.name : 'none of ' + object.metadata.generateName"))
			return a.check(ctx, these(q),
				send(a.dryRunCreate(a.object("").withMeta("generateName", "base-")), code(201), field("none of base-", "data", "name")),
				send(a.try("x"), code(201), field("x x", "data", "name")))
		}),
		must("AP-63", "a mutating policy can use variables, the namespace, the request and the old object", "mutations depend on values", func(ctx context.Context, a *admission) error {
			values := "variables.k + ' ' + request.operation + ' ' + namespaceObject.metadata.name + ' ' + (oldObject == null ? 'none' : oldObject.data.k)"
			q := a.mutating("a", setDataByPolicy("values", values)).with("variables", []object{variable("k", "object.data.k"), variable("unused", "object.data.missing")})
			return a.check(ctx, these(q),
				send(a.create("x", "k", "1"), code(201), field("1 CREATE "+a.namespace+" none", "data", "values")),
				send(mergePatch(a.item("x"), object{"data": object{"k": "2"}}), code(200), field("2 UPDATE "+a.namespace+" 1", "data", "values")))
		}),
		must("AP-64", "a mutating policy can use parameters", "defaults are changed without changing the policy", checkMutationParams),
		must("AP-64/selector", "a policy changes an object once for each selected parameter", "defaults are composed", func(ctx context.Context, a *admission) error {
			gadgets, err := a.s.dataCRs(ctx)
			if err != nil {
				return err
			}
			c := a.of(gadgets)
			for _, name := range []string{"one", "two"} {
				if err := a.s.expect(ctx, post(c.path(), c.object(name).withLabel("set", "mine")), code(201)); err != nil {
					return err
				}
			}
			ref := object{"selector": object{"matchLabels": object{"set": "mine"}}, "parameterNotFoundAction": "Deny"}
			q := a.mutating("a", jsonPatchMutation("[JSONPatch{op: 'add', path: '/data/' + params.metadata.name, value: params.kind}]")).params(c.apiVersion, c.kind, ref)
			return a.checkAfter(ctx, q, send(a.try("x", "k", "1"), code(201), value(object{"k": "1", "one": "Gadget", "two": "Gadget"}, "data")))
		}),
		must("AP-64/missing", "a missing parameter denies or does nothing as parameterNotFoundAction says", "a policy is never without its parameters", func(ctx context.Context, a *admission) error {
			missing := func(name, action string) *policy {
				return a.mutating(name, setDataByPolicy("color", "params.data.color")).match("objectSelector", toLabel(name)).params("v1", "ConfigMap", paramNamed("none", action))
			}
			return a.check(ctx, these(missing("deny", "Deny"), missing("allow", "Allow"), missing("ignore", "Deny").with("failurePolicy", "Ignore")),
				send(a.tryLabeled("x", "to", "deny"), a.mutationFailed("x", "deny", noParams).withReason(http.StatusForbidden, metav1.StatusReasonForbidden).check),
				send(a.tryLabeled("x", "to", "allow"), code(201), value(nil, "data")),
				send(a.tryLabeled("x", "to", "ignore"), code(201), value(nil, "data")))
		}),
		must("AP-63/authorizer", "a mutating policy can use the authorizer", "mutations depend on rights", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", setDataByPolicy("may", "string(authorizer.requestResource.check('create').allowed())"))
			return a.check(ctx, these(q), send(a.try("x"), code(201), field("true", "data", "may")))
		}),
		must("AP-65", "a mutating policy applies to a subresource if a rule names it", "defaults of the status are possible", checkMutatedStatus),
	}
}

// setDataByPolicy returns a mutation that sets a key of the data to the value of an expression.
func setDataByPolicy(key, expression string) object {
	return applyMutation(fmt.Sprintf("Object{data: {'%s': %s}}", key, expression))
}

func checkMutatedWrites(ctx context.Context, a *admission) error {
	data := func(k string) expectation {
		return value(object{"k": k, "copy": k}, "data")
	}
	return a.check(ctx, these(a.mutating("a", setDataByPolicy("copy", "object.data.k"))),
		send(a.create("x", "k", "1"), code(201), data("1")),
		send(get(a.item("x")), code(200), data("1")),
		send(put(a.item("x"), a.object("x").withData("k", "2")), code(200), data("2")),
		send(mergePatch(a.item("x"), object{"data": object{"k": "3"}}), code(200), data("3")),
		send(jsonPatch(a.item("x"), setOp("/data/k", "4")), code(200), data("4")),
		send(apply(a.item("x"), a.object("x").withData("k", "5")).withQuery("force=true"), code(200), data("5")),
		send(get(a.item("x")), code(200), data("5")),
		send(apply(a.item("y"), a.object("y").withData("k", "6")), code(201), data("6")),
	)
}

func checkMutatedCustomResources(ctx context.Context, a *admission) error {
	gadgets, err := a.s.dataCRs(ctx)
	if err != nil {
		return err
	}
	c := a.of(gadgets)
	q := a.mutating("a", applyMutation("Object{spec: Object.spec{size: object.spec.size + 1, color: 'by ' + object.spec.color}}")).on(ruleFor(c))
	if err := a.install(ctx, q); err != nil {
		return err
	}
	// The server may learn of the schema of the new type later than of the policy.
	if err := a.s.waitFor(ctx, c.dryRunCreate(c.withSpec("x", object{"size": 1})), code(201)); err != nil {
		return err
	}
	return a.s.expectAll(ctx,
		send(post(c.path(), c.withSpec("x", object{"size": 1})), code(201), value(object{"size": 2, "color": "by grey"}, "spec")),
		send(mergePatch(c.item("x"), object{"spec": object{"size": 5}}), code(200), value(6, "spec", "size")),
		send(apply(c.item("y"), c.withSpec("y", object{"size": 7, "color": "red"})), code(201), value(object{"size": 8, "color": "by red"}, "spec")),
	)
}

func checkMutationConstraints(ctx context.Context, a *admission) error {
	other, err := a.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	q := a.mutating("a", setDataByPolicy("by", "'policy'")).on(ruleFor(a.collection, "CREATE")).match("objectSelector", toLabel("a")).
		match("excludeResourceRules", []object{ruleFor(a.collection).with("resourceNames", []string{"free"})}).
		bind("matchResources", object{"excludeResourceRules": []object{ruleFor(a.collection).with("resourceNames", []string{"unbound"})}})
	labeled := func(c collection, name string) call {
		return c.dryRunCreate(c.object(name).withLabel("to", "a"))
	}
	unchanged := value(nil, "data")
	return a.check(ctx, these(q),
		send(labeled(a.collection, "x"), code(201), field("policy", "data", "by")),
		send(labeled(a.collection, "free"), code(201), unchanged),
		send(labeled(a.collection, "unbound"), code(201), unchanged),
		send(labeled(other, "x"), code(201), unchanged),
		send(a.try("x", "k", "1"), code(201), value(object{"k": "1"}, "data")),
		send(post(a.path(), a.object("y").withLabel("to", "a")), code(201), field("policy", "data", "by")),
		send(mergePatch(a.item("y"), object{"data": object{"by": "user"}}), code(200), field("user", "data", "by")),
	)
}

func checkManagersOfMutations(ctx context.Context, a *admission) error {
	byUser := updateEntry("user", dataFieldsAndSelf("k"))
	return a.check(ctx, these(a.mutating("a", setDataByPolicy("by", "'policy'"))),
		send(post(a.path()+"?fieldManager=user", a.object("x").withData("k", "1")), code(201), field("policy", "data", "by"), managedFieldsAre(byUser)),
		send(applyAs("applier", a.item("x"), a.object("x").withData("by", "applier")), code(200), field("policy", "data", "by"),
			managedFieldsAre(byUser, applyEntry("applier", dataFields("by")))),
	)
}

func checkMutationParams(ctx context.Context, a *admission) error {
	for name, color := range sortedByKey(map[string]string{"one": "red", "two": "green"}) {
		if err := a.s.expect(ctx, a.create(name, "color", color), code(201)); err != nil {
			return err
		}
	}
	policyWith := func(param string) *policy {
		return a.mutating(param, setDataByPolicy("color", "params.data.color + ' by ' + params.metadata.name")).match("objectSelector", toLabel(param)).params("v1", "ConfigMap", paramNamed(param, "Deny"))
	}
	return a.check(ctx, these(policyWith("one"), policyWith("two")),
		send(a.tryLabeled("x", "to", "one"), code(201), field("red by one", "data", "color")),
		send(a.tryLabeled("x", "to", "two"), code(201), field("green by two", "data", "color")),
		send(a.tryLabeled("x", "to", "other"), code(201), value(nil, "data")),
	)
}

func checkMutatedStatus(ctx context.Context, a *admission) error {
	c, err := a.s.budgets(ctx)
	if err != nil {
		return err
	}
	c = a.of(c)
	on := func(name string, resource string) *policy {
		labels := applyMutation(fmt.Sprintf("Object{metadata: Object.metadata{annotations: {'%s': request.operation}}}", name))
		return a.mutating(name, labels).on(resourceRule(c.group, "v1", []string{resource}, []string{"UPDATE"}))
	}
	status := object{"status": object{"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0}}
	return a.check(ctx, these(on("main", c.resource), on("status", c.resource+"/status")),
		send(post(c.path(), c.withSpec("x", object{"selector": object{"matchLabels": object{"none": "such"}}})), code(201)),
		send(c.tryLabel("x"), code(200), value(object{"main": "UPDATE"}, "metadata", "annotations")),
		send(mergePatch(c.item("x")+"/status", status).withQuery("dryRun=All"), code(200), value(object{"status": "UPDATE"}, "metadata", "annotations")),
	)
}
