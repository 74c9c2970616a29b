package conformance

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// noParams is the text about a binding whose parameters do not exist.
const noParams = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"

// policyParamCases returns the cases about parameters of policies (AP-30 to AP-38).
func policyParamCases() []Case {
	must := policyRules(validatingPolicy, Must, docValidatingPolicies)
	should := policyRules(validatingPolicy, Should, docValidatingPolicies)
	return []Case{
		must("AP-30", "a parameter without a namespace is in the namespace of the request", "each namespace has its own limits", checkParamOfNamespace),
		must("AP-30/namespace", "a parameter may be in another namespace", "limits are kept where users cannot change them", func(ctx context.Context, a *admission) error {
			other, err := a.inNewNamespace(ctx)
			if err != nil {
				return err
			}
			if err := a.s.expectAll(ctx, send(a.create("limit", "most", "1"), code(201)), send(post(other.path(), other.object("limit").withData("most", "5")), code(201))); err != nil {
				return err
			}
			q := a.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Deny").with("namespace", other.namespace))
			return a.check(ctx, these(q),
				send(a.try("x", "k", "6"), a.denied("x", "a", "at most 5 by limit of "+other.namespace).check),
				send(a.try("x", "k", "5"), code(201)))
		}),
		must("AP-31", "a change of the parameter becomes effective", "limits are changed without changing the policy", checkChangedParam),
		must("AP-32", "parameters may be custom resources", "limits have a schema", func(ctx context.Context, a *admission) error {
			gadgets, err := a.s.dataCRs(ctx)
			if err != nil {
				return err
			}
			c := a.of(gadgets)
			if err := a.s.expect(ctx, post(c.path(), c.withSpec("limit", object{"size": 3})), code(201)); err != nil {
				return err
			}
			v := valid("int(object.data.k) <= params.spec.size").with("messageExpression", "'at most ' + string(params.spec.size) + ' by ' + params.kind")
			return a.checkAfter(ctx, a.validating("a", v).params(c.apiVersion, c.kind, paramNamed("limit", "Deny")),
				send(a.try("x", "k", "4"), a.denied("x", "a", "at most 3 by Gadget").check),
				send(a.try("x", "k", "3"), code(201)))
		}),
		must("AP-32/cluster", "parameters may be cluster-scoped", "a limit is for all namespaces", checkClusterParam),
		must("AP-33", "with a selector all selected parameters apply", "limits are composed", checkSelectedParams),
		must("AP-33/none", "with a selector that selects nothing parameterNotFoundAction applies", "a limit may be missing", func(ctx context.Context, a *admission) error {
			none := func(action string) object {
				return object{"selector": object{"matchLabels": object{"none": "such"}}, "parameterNotFoundAction": action}
			}
			return a.check(ctx, these(a.limit("deny").match("objectSelector", toLabel("deny")).params("v1", "ConfigMap", none("Deny")), a.limit("allow").match("objectSelector", toLabel("allow")).params("v1", "ConfigMap", none("Allow"))),
				send(a.tryLabeled("x", "to", "deny"), a.denied("x", "deny", noParams).check),
				send(a.tryLabeled("x", "to", "allow"), code(201)))
		}),
		must("AP-34", "a missing parameter denies with parameterNotFoundAction Deny", "a policy is never without its limits", func(ctx context.Context, a *admission) error {
			q := a.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Deny"))
			if err := a.check(ctx, these(q), send(a.try("x", "k", "1"), a.denied("x", "a", noParams).check)); err != nil {
				return err
			}
			ignoring := mergePatch(q.path(), object{"spec": object{"failurePolicy": "Ignore"}})
			if err := a.change(ctx, q.kind, ignoring); err != nil {
				return err
			}
			return a.s.expect(ctx, a.try("x", "k", "1"), code(201))
		}),
		must("AP-35", "a binding whose parameter is missing does nothing with parameterNotFoundAction Allow", "a limit is optional", func(ctx context.Context, a *admission) error {
			q := a.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Allow"))
			if err := a.check(ctx, these(q, a.validating("b", invalid("'b'")).actions("Warn")), send(a.try("x", "k", "9"), code(201), warningsAre(a.warning("b", "b")))); err != nil {
				return err
			}
			limit := a.dataOf("limit", "most", "5", "k", "0")
			if err := a.s.waitFor(ctx, post(a.path(), limit), code(201)); err != nil {
				return err
			}
			return a.s.waitFor(ctx, a.try("x", "k", "9"), a.denied("x", "a", "at most 5 by limit of "+a.namespace).check)
		}),
		should("AP-36", "params is null if the binding has no paramRef, or the policy no paramKind", "a policy can be bound without limits", func(ctx context.Context, a *admission) error {
			without := a.validating("a", valid("params == null || object.data.k != '1'")).with("paramKind", object{"apiVersion": "v1", "kind": "ConfigMap"})
			unused := a.validating("b", valid("object.data.k != '2'")).bind("paramRef", paramNamed("limit", "Deny"))
			return a.check(ctx, these(without, unused),
				send(a.try("x", "k", "1"), code(201)),
				send(a.try("x", "k", "2"), a.denied("x", "b", "failed expression: object.data.k != '2'").check))
		}),
		should("AP-37", "a policy whose paramKind is not served fails as its failurePolicy says", "the type may be installed later", checkUnknownParamKind),
		should("AP-38", "a namespaced parameter without a namespace fails for cluster-scoped objects", "there is no namespace to look in", func(ctx context.Context, a *admission) error {
			roles := a.clusterRoles()
			name := a.name("dry")
			q := a.validating("a", valid("params.data.k != ''")).on(ruleFor(roles)).match("objectSelector", a.selector()).params("v1", "ConfigMap", paramNamed("limit", "Allow"))
			denied := a.deniedIn(roles, name, "a", "failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
			return a.check(ctx, these(q),
				send(roles.dryRunCreate(roles.object(name).withLabel(policyLabel, a.namespace)), denied.check),
				send(roles.dryRunCreate(roles.object(name)), code(201)))
		}),
		must("AP-39", "bindings of a policy may have different parameters", "environments have different limits", checkParamsOfBindings),
	}
}

// paramNamed returns a reference to a parameter by name.
func paramNamed(name, notFound string) object {
	return object{"name": name, "parameterNotFoundAction": notFound}
}

// toLabel selects by the label "to".
func toLabel(to string) object { return object{"matchLabels": object{"to": to}} }

// dataOf returns the body of a ConfigMap with data.
func (a *admission) dataOf(name string, data ...string) object {
	return a.object(name).withData(data...)
}

// limit returns a policy that limits the number k in the data to "most" of the parameter.
func (a *admission) limit(name string) *policy {
	v := valid("!has(object.data.k) || int(object.data.k) <= int(params.data.most)").
		with("messageExpression", "'at most ' + params.data.most + ' by ' + params.metadata.name + ' of ' + params.metadata.namespace")
	return a.validating(name, v).with("paramKind", object{"apiVersion": "v1", "kind": "ConfigMap"})
}

// newKindTimeout limits how long a server may take to find a new custom resource as the kind of
// parameters. A kube-apiserver looks for new types every 30 seconds.
const newKindTimeout = 25 * time.Second

// unknownParamKind is the text about a paramKind that the server has not found.
const unknownParamKind = "failed to configure policy: failed to find resource referenced by paramKind: "

// checkAfter is like check for a policy whose parameters are custom resources. It repeats each
// request until the response is as expected, because a server may learn of parameters later than of
// policies. The case is skipped if the server has not found their kind.
func (a *admission) checkAfter(ctx context.Context, q *policy, requests ...exchange) error {
	if err := a.install(ctx, q); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, newKindTimeout)
	defer cancel()
	for _, one := range requests {
		err := a.s.waitFor(ctx, one.call, one.expect...)
		if err != nil && strings.Contains(err.Error(), unknownParamKind) {
			return a.s.skipf("the server did not find the new paramKind within %v", newKindTimeout)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkParamOfNamespace(ctx context.Context, a *admission) error {
	other, err := a.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	if err := a.s.expectAll(ctx,
		send(mergePatch(namespacePath(other.namespace), object{"metadata": object{"labels": object{policyLabel: a.namespace}}}), code(200)),
		send(a.create("limit", "most", "3"), code(201)),
		send(post(other.path(), other.object("limit").withData("most", "5")), code(201)),
	); err != nil {
		return err
	}
	elsewhere := func(k string) call { return other.dryRunCreate(other.object("x").withData("k", k)) }
	return a.check(ctx, these(a.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Deny"))),
		send(a.try("x", "k", "4"), a.denied("x", "a", "at most 3 by limit of "+a.namespace).check),
		send(a.try("x", "k", "3"), code(201)),
		send(elsewhere("6"), a.deniedIn(other, "x", "a", "at most 5 by limit of "+other.namespace).check),
		send(elsewhere("5"), code(201)),
	)
}

func checkChangedParam(ctx context.Context, a *admission) error {
	q := a.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Deny"))
	if err := a.s.expect(ctx, a.create("limit", "most", "3"), code(201)); err != nil {
		return err
	}
	if err := a.check(ctx, these(q), send(a.try("x", "k", "4"), a.denied("x", "a", "at most 3 by limit of "+a.namespace).check)); err != nil {
		return err
	}
	if err := a.s.expect(ctx, mergePatch(a.item("limit"), object{"data": object{"most": "8"}}), code(200)); err != nil {
		return err
	}
	if err := a.s.waitFor(ctx, a.try("x", "k", "4"), code(201)); err != nil {
		return err
	}
	if err := a.s.expect(ctx, a.try("x", "k", "9"), a.denied("x", "a", "at most 8 by limit of "+a.namespace).check); err != nil {
		return err
	}
	if err := a.s.expect(ctx, del(a.item("limit")), code(200)); err != nil {
		return err
	}
	return a.s.waitFor(ctx, a.try("x", "k", "4"), a.denied("x", "a", noParams).check)
}

func checkClusterParam(ctx context.Context, a *admission) error {
	limits, err := a.s.limitCRs(ctx)
	if err != nil {
		return err
	}
	name := a.name("limit")
	if err := a.s.waitFor(ctx, post(limits.path(), limits.withSpec(name, object{"most": 3})), code(201)); err != nil {
		return err
	}
	v := valid("int(object.data.k) <= params.spec.most").with("messageExpression", "'at most ' + string(params.spec.most) + (has(params.metadata.namespace) ? ' namespaced' : ' everywhere')")
	return a.checkAfter(ctx, a.validating("a", v).params(limits.apiVersion, limits.kind, paramNamed(name, "Deny")),
		send(a.try("x", "k", "4"), a.denied("x", "a", "at most 3 everywhere").check),
		send(a.try("x", "k", "3"), code(201)))
}

func checkSelectedParams(ctx context.Context, a *admission) error {
	gadgets, err := a.s.dataCRs(ctx)
	if err != nil {
		return err
	}
	c := a.of(gadgets)
	for name, k := range sortedByKey(map[string]string{"one": "1", "two": "2", "other": "3"}) {
		set := "mine"
		if name == "other" {
			set = "others"
		}
		if err := a.s.expect(ctx, post(c.path(), c.object(name).withData("not", k).withLabel("set", set)), code(201)); err != nil {
			return err
		}
	}
	v := valid("object.data.k != params.data.not").with("messageExpression", "'not ' + params.data.not")
	ref := object{"selector": object{"matchLabels": object{"set": "mine"}}, "parameterNotFoundAction": "Deny"}
	return a.checkAfter(ctx, a.validating("a", v).params(c.apiVersion, c.kind, ref),
		send(a.try("x", "k", "1"), a.denied("x", "a", "not 1").check),
		send(a.try("x", "k", "2"), a.denied("x", "a", "not 2").check),
		send(a.try("x", "k", "3"), code(201)),
	)
}

func checkUnknownParamKind(ctx context.Context, a *admission) error {
	group := "absent." + a.s.run.crdGroup()
	unknown := func(name string) *policy {
		return a.validating(name, valid("true")).match("objectSelector", toLabel(name)).params(group+"/v1", "Nothing", paramNamed("x", "Deny"))
	}
	text := fmt.Sprintf(unknownParamKind+"'%s/v1, Kind=Nothing'", group)
	denied := a.deniedBy(a.collection, "x", fmt.Sprintf("ValidatingAdmissionPolicy '%s'", a.name("fail")), text)
	return a.check(ctx, these(unknown("fail"), unknown("ignore").with("failurePolicy", "Ignore")),
		send(a.tryLabeled("x", "to", "fail"), denied.check),
		send(a.tryLabeled("x", "to", "ignore"), code(201)),
		send(a.tryLabeled("x", "to", "other"), code(201)),
	)
}

func checkParamsOfBindings(ctx context.Context, a *admission) error {
	q := a.limit("a").params("v1", "ConfigMap", paramNamed("a", "Deny")).bind("matchResources", object{"objectSelector": toLabel("a")})
	second := a.binding(q.kind, "b", "a", "Deny")
	second["spec"].(object).with("paramRef", paramNamed("b", "Deny")).with("matchResources", object{"objectSelector": toLabel("b")})
	q.bindings = append(q.bindings, second)
	if err := a.s.expectAll(ctx, send(a.create("a", "most", "1"), code(201)), send(a.create("b", "most", "2"), code(201))); err != nil {
		return err
	}
	try := func(to, k string) call {
		return a.dryRunCreate(a.dataOf("x", "k", k).withLabel("to", to))
	}
	byB := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s'", a.name("a"), a.name("b"))
	return a.check(ctx, these(q),
		send(try("a", "2"), a.denied("x", "a", "at most 1 by a of "+a.namespace).check),
		send(try("b", "2"), code(201)),
		send(try("b", "3"), a.deniedBy(a.collection, "x", byB, "at most 2 by b of "+a.namespace).check),
	)
}
