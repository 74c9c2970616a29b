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
		must("AP-30/namespace", "a parameter may be in another namespace", "limits are kept where users cannot change them", func(ctx context.Context, p *admission) error {
			other, err := p.inNewNamespace(ctx)
			if err != nil {
				return err
			}
			if err := p.s.expectAll(ctx, send(p.create("limit", "most", "1"), code(201)), send(post(other.path(), other.object("limit").withData("most", "5")), code(201))); err != nil {
				return err
			}
			q := p.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Deny").with("namespace", other.namespace))
			return p.check(ctx, these(q),
				send(p.try("x", "k", "6"), p.denied("x", "a", "at most 5 by limit of "+other.namespace).check),
				send(p.try("x", "k", "5"), code(201)))
		}),
		must("AP-31", "a change of the parameter becomes effective", "limits are changed without changing the policy", checkChangedParam),
		must("AP-32", "parameters may be custom resources", "limits have a schema", func(ctx context.Context, p *admission) error {
			gadgets, err := p.s.dataCRs(ctx)
			if err != nil {
				return err
			}
			c := p.of(gadgets)
			if err := p.s.expect(ctx, post(c.path(), c.withSpec("limit", object{"size": 3})), code(201)); err != nil {
				return err
			}
			v := valid("int(object.data.k) <= params.spec.size").with("messageExpression", "'at most ' + string(params.spec.size) + ' by ' + params.kind")
			return p.checkAfter(ctx, p.validating("a", v).params(c.apiVersion, c.kind, paramNamed("limit", "Deny")),
				send(p.try("x", "k", "4"), p.denied("x", "a", "at most 3 by Gadget").check),
				send(p.try("x", "k", "3"), code(201)))
		}),
		must("AP-32/cluster", "parameters may be cluster-scoped", "a limit is for all namespaces", checkClusterParam),
		must("AP-33", "with a selector all selected parameters apply", "limits are composed", checkSelectedParams),
		must("AP-33/none", "with a selector that selects nothing parameterNotFoundAction applies", "a limit may be missing", func(ctx context.Context, p *admission) error {
			none := func(action string) object {
				return object{"selector": object{"matchLabels": object{"none": "such"}}, "parameterNotFoundAction": action}
			}
			return p.check(ctx, these(p.limit("deny").match("objectSelector", toLabel("deny")).params("v1", "ConfigMap", none("Deny")), p.limit("allow").match("objectSelector", toLabel("allow")).params("v1", "ConfigMap", none("Allow"))),
				send(p.tryLabeled("x", "to", "deny"), p.denied("x", "deny", noParams).check),
				send(p.tryLabeled("x", "to", "allow"), code(201)))
		}),
		must("AP-34", "a missing parameter denies with parameterNotFoundAction Deny", "a policy is never without its limits", func(ctx context.Context, p *admission) error {
			q := p.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Deny"))
			if err := p.check(ctx, these(q), send(p.try("x", "k", "1"), p.denied("x", "a", noParams).check)); err != nil {
				return err
			}
			ignoring := mergePatch(q.path(), object{"spec": object{"failurePolicy": "Ignore"}})
			if err := p.change(ctx, q.kind, ignoring); err != nil {
				return err
			}
			return p.s.expect(ctx, p.try("x", "k", "1"), code(201))
		}),
		must("AP-35", "a binding whose parameter is missing does nothing with parameterNotFoundAction Allow", "a limit is optional", func(ctx context.Context, p *admission) error {
			q := p.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Allow"))
			if err := p.check(ctx, these(q, p.validating("b", invalid("'b'")).actions("Warn")), send(p.try("x", "k", "9"), code(201), warningsAre(p.warning("b", "b")))); err != nil {
				return err
			}
			limit := p.dataOf("limit", "most", "5", "k", "0")
			if err := p.s.waitFor(ctx, post(p.path(), limit), code(201)); err != nil {
				return err
			}
			return p.s.waitFor(ctx, p.try("x", "k", "9"), p.denied("x", "a", "at most 5 by limit of "+p.namespace).check)
		}),
		should("AP-36", "params is null if the binding has no paramRef, or the policy no paramKind", "a policy can be bound without limits", func(ctx context.Context, p *admission) error {
			without := p.validating("a", valid("params == null || object.data.k != '1'")).with("paramKind", object{"apiVersion": "v1", "kind": "ConfigMap"})
			unused := p.validating("b", valid("object.data.k != '2'")).bind("paramRef", paramNamed("limit", "Deny"))
			return p.check(ctx, these(without, unused),
				send(p.try("x", "k", "1"), code(201)),
				send(p.try("x", "k", "2"), p.denied("x", "b", "failed expression: object.data.k != '2'").check))
		}),
		should("AP-37", "a policy whose paramKind is not served fails as its failurePolicy says", "the type may be installed later", checkUnknownParamKind),
		should("AP-38", "a namespaced parameter without a namespace fails for cluster-scoped objects", "there is no namespace to look in", func(ctx context.Context, p *admission) error {
			roles := p.clusterRoles()
			name := p.name("dry")
			q := p.validating("a", valid("params.data.k != ''")).on(ruleFor(roles)).match("objectSelector", p.selector()).params("v1", "ConfigMap", paramNamed("limit", "Allow"))
			denied := p.deniedIn(roles, name, "a", "failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
			return p.check(ctx, these(q),
				send(roles.dryRunCreate(roles.object(name).withLabel(policyLabel, p.namespace)), denied.check),
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
func (p *admission) dataOf(name string, data ...string) object {
	return p.object(name).withData(data...)
}

// limit returns a policy that limits the number k in the data to "most" of the parameter.
func (p *admission) limit(name string) *policy {
	v := valid("!has(object.data.k) || int(object.data.k) <= int(params.data.most)").
		with("messageExpression", "'at most ' + params.data.most + ' by ' + params.metadata.name + ' of ' + params.metadata.namespace")
	return p.validating(name, v).with("paramKind", object{"apiVersion": "v1", "kind": "ConfigMap"})
}

// newKindTimeout limits how long a server may take to find a new custom resource as the kind of
// parameters. A kube-apiserver looks for new types every 30 seconds.
const newKindTimeout = 25 * time.Second

// unknownParamKind is the text about a paramKind that the server has not found.
const unknownParamKind = "failed to configure policy: failed to find resource referenced by paramKind: "

// checkAfter is like check for a policy whose parameters are custom resources. It repeats each
// request until the response is as expected, because a server may learn of parameters later than of
// policies. The case is skipped if the server has not found their kind.
func (p *admission) checkAfter(ctx context.Context, q *policy, requests ...exchange) error {
	if err := p.install(ctx, q); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, newKindTimeout)
	defer cancel()
	for _, one := range requests {
		err := p.s.waitFor(ctx, one.call, one.expect...)
		if err != nil && strings.Contains(err.Error(), unknownParamKind) {
			return p.s.skipf("the server did not find the new paramKind within %v", newKindTimeout)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkParamOfNamespace(ctx context.Context, p *admission) error {
	other, err := p.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	if err := p.s.expectAll(ctx,
		send(mergePatch(namespacePath(other.namespace), object{"metadata": object{"labels": object{policyLabel: p.namespace}}}), code(200)),
		send(p.create("limit", "most", "3"), code(201)),
		send(post(other.path(), other.object("limit").withData("most", "5")), code(201)),
	); err != nil {
		return err
	}
	elsewhere := func(k string) call { return other.dryRunCreate(other.object("x").withData("k", k)) }
	return p.check(ctx, these(p.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Deny"))),
		send(p.try("x", "k", "4"), p.denied("x", "a", "at most 3 by limit of "+p.namespace).check),
		send(p.try("x", "k", "3"), code(201)),
		send(elsewhere("6"), p.deniedIn(other, "x", "a", "at most 5 by limit of "+other.namespace).check),
		send(elsewhere("5"), code(201)),
	)
}

func checkChangedParam(ctx context.Context, p *admission) error {
	q := p.limit("a").params("v1", "ConfigMap", paramNamed("limit", "Deny"))
	if err := p.s.expect(ctx, p.create("limit", "most", "3"), code(201)); err != nil {
		return err
	}
	if err := p.check(ctx, these(q), send(p.try("x", "k", "4"), p.denied("x", "a", "at most 3 by limit of "+p.namespace).check)); err != nil {
		return err
	}
	if err := p.s.expect(ctx, mergePatch(p.item("limit"), object{"data": object{"most": "8"}}), code(200)); err != nil {
		return err
	}
	if err := p.s.waitFor(ctx, p.try("x", "k", "4"), code(201)); err != nil {
		return err
	}
	if err := p.s.expect(ctx, p.try("x", "k", "9"), p.denied("x", "a", "at most 8 by limit of "+p.namespace).check); err != nil {
		return err
	}
	if err := p.s.expect(ctx, del(p.item("limit")), code(200)); err != nil {
		return err
	}
	return p.s.waitFor(ctx, p.try("x", "k", "4"), p.denied("x", "a", noParams).check)
}

func checkClusterParam(ctx context.Context, p *admission) error {
	limits, err := p.s.limitCRs(ctx)
	if err != nil {
		return err
	}
	name := p.name("limit")
	if err := p.s.waitFor(ctx, post(limits.path(), limits.withSpec(name, object{"most": 3})), code(201)); err != nil {
		return err
	}
	v := valid("int(object.data.k) <= params.spec.most").with("messageExpression", "'at most ' + string(params.spec.most) + (has(params.metadata.namespace) ? ' namespaced' : ' everywhere')")
	return p.checkAfter(ctx, p.validating("a", v).params(limits.apiVersion, limits.kind, paramNamed(name, "Deny")),
		send(p.try("x", "k", "4"), p.denied("x", "a", "at most 3 everywhere").check),
		send(p.try("x", "k", "3"), code(201)))
}

func checkSelectedParams(ctx context.Context, p *admission) error {
	gadgets, err := p.s.dataCRs(ctx)
	if err != nil {
		return err
	}
	c := p.of(gadgets)
	for name, k := range sortedByKey(map[string]string{"one": "1", "two": "2", "other": "3"}) {
		set := "mine"
		if name == "other" {
			set = "others"
		}
		if err := p.s.expect(ctx, post(c.path(), c.object(name).withData("not", k).withLabel("set", set)), code(201)); err != nil {
			return err
		}
	}
	v := valid("object.data.k != params.data.not").with("messageExpression", "'not ' + params.data.not")
	ref := object{"selector": object{"matchLabels": object{"set": "mine"}}, "parameterNotFoundAction": "Deny"}
	return p.checkAfter(ctx, p.validating("a", v).params(c.apiVersion, c.kind, ref),
		send(p.try("x", "k", "1"), p.denied("x", "a", "not 1").check),
		send(p.try("x", "k", "2"), p.denied("x", "a", "not 2").check),
		send(p.try("x", "k", "3"), code(201)),
	)
}

func checkUnknownParamKind(ctx context.Context, p *admission) error {
	group := "absent." + p.s.run.crdGroup()
	unknown := func(name string) *policy {
		return p.validating(name, valid("true")).match("objectSelector", toLabel(name)).params(group+"/v1", "Nothing", paramNamed("x", "Deny"))
	}
	text := fmt.Sprintf(unknownParamKind+"'%s/v1, Kind=Nothing'", group)
	denied := p.deniedBy(p.collection, "x", fmt.Sprintf("ValidatingAdmissionPolicy '%s'", p.name("fail")), text)
	return p.check(ctx, these(unknown("fail"), unknown("ignore").with("failurePolicy", "Ignore")),
		send(p.tryLabeled("x", "to", "fail"), denied.check),
		send(p.tryLabeled("x", "to", "ignore"), code(201)),
		send(p.tryLabeled("x", "to", "other"), code(201)),
	)
}

func checkParamsOfBindings(ctx context.Context, p *admission) error {
	q := p.limit("a").params("v1", "ConfigMap", paramNamed("a", "Deny")).bind("matchResources", object{"objectSelector": toLabel("a")})
	second := p.binding(q.kind, "b", "a", "Deny")
	second["spec"].(object).with("paramRef", paramNamed("b", "Deny")).with("matchResources", object{"objectSelector": toLabel("b")})
	q.bindings = append(q.bindings, second)
	if err := p.s.expectAll(ctx, send(p.create("a", "most", "1"), code(201)), send(p.create("b", "most", "2"), code(201))); err != nil {
		return err
	}
	try := func(to, k string) call {
		return p.dryRunCreate(p.dataOf("x", "k", k).withLabel("to", to))
	}
	byB := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s'", p.name("a"), p.name("b"))
	return p.check(ctx, these(q),
		send(try("a", "2"), p.denied("x", "a", "at most 1 by a of "+p.namespace).check),
		send(try("b", "2"), code(201)),
		send(try("b", "3"), p.deniedBy(p.collection, "x", byB, "at most 2 by b of "+p.namespace).check),
	)
}
