package conformance

import (
	"context"
	"fmt"
	"strings"
)

const docKubernetesCEL = "kubernetes.io, Common Expression Language in Kubernetes"

// policyExpressionCases returns the cases about variables, failures and the values in expressions
// (AP-40 to AP-51).
func policyExpressionCases() []Case {
	must := policyRules(validatingPolicy, Must, docValidatingPolicies)
	should := policyRules(validatingPolicy, Should, docValidatingPolicies)
	return []Case{
		must("AP-40", "expressions can use variables, which can use those before them", "an expression is written once", func(ctx context.Context, a *admission) error {
			variables := []object{variable("k", "object.data.k"), variable("parts", "variables.k.split('-')"), variable("first", "variables.parts[0]")}
			q := a.validating("a", valid("variables.first != 'x' && variables.parts.size() < 3").with("messageExpression", "variables.first + ' of ' + string(variables.parts.size())")).
				with("variables", variables).with("matchConditions", []object{variable("c", "object.metadata.name != 'free'")})
			return a.check(ctx, these(q),
				send(a.try("a", "k", "a-b"), code(201)),
				send(a.try("a", "k", "x-b"), a.denied("a", "a", "x of 2").check),
				send(a.try("a", "k", "a-b-c"), a.denied("a", "a", "a of 3").check),
				send(a.try("free", "k", "x"), code(201)))
		}),
		must("AP-41", "a variable is evaluated only if an expression uses it", "a variable may fail where it is not needed", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.metadata.name == 'free' || variables.number < 5").with("message", "too large")).with("variables", []object{variable("number", "int(object.data.k)")})
			return a.check(ctx, these(q),
				send(a.try("free", "k", "text"), code(201)),
				send(a.try("x", "k", "4"), code(201)),
				send(a.try("x", "k", "5"), a.denied("x", "a", "too large").check))
		}),
		must("AP-42", "with failurePolicy Fail, the default, an expression that fails denies", "what cannot be checked is not allowed", func(ctx context.Context, a *admission) error {
			v := valid("object.data.k == '1'").with("message", "plain").with("reason", "Forbidden")
			return a.check(ctx, these(a.validating("a", v)),
				send(a.try("x", "k", "1"), code(201)),
				send(a.try("x", "other", "1"), a.denied("x", "a", "expression 'object.data.k == '1'' resulted in error: no such key: k").check))
		}),
		must("AP-42/variable", "a variable that fails makes the expression fail", "what cannot be checked is not allowed", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("variables.number < 5")).with("variables", []object{variable("number", "int(object.data.k)")})
			failed := a.denied("x", "a", "")
			failed.message, failed.contains = "", "denied request: expression 'variables.number < 5' resulted in error: "
			failed.causes[0].Message = "expression 'variables.number < 5' resulted in error: "
			return a.check(ctx, these(q), send(a.try("x", "k", "4"), code(201)), send(a.try("x", "k", "four"), failed.check))
		}),
		must("AP-43", "with failurePolicy Ignore an expression that fails is ignored; the others apply", "a policy does not block what it cannot check", func(ctx context.Context, a *admission) error {
			q := a.validating("a", valid("object.data.k == '1'"), valid("object.metadata.name != 'x'").with("message", "not x")).with("failurePolicy", "Ignore")
			return a.check(ctx, these(q),
				send(a.try("y"), code(201)),
				send(a.try("y", "k", "2"), a.denied("y", "a", "failed expression: object.data.k == '1'").check),
				send(a.try("x"), a.denied("x", "a", "not x").check))
		}),
		should("AP-44", "with Warn an expression that fails is a warning, with Audit it is nothing", "a policy can be tried", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.validating("w", valid("object.data.k == '1'")).actions("Warn"), a.validating("a", valid("object.data.k == '2'")).actions("Audit")),
				send(a.try("x", "other", "1"), code(201), warningsAre(a.warning("w", "expression 'object.data.k == '1'' resulted in error: no such key: k"))))
		}),
		should("AP-45", "an expression that costs too much fails", "a policy does not slow the server down", checkCostLimit),
		must("AP-46", "object is null for DELETE, oldObject for CREATE", "an expression is about a transition", checkOldObject),
		must("AP-47", "request has the attributes of the request", "a policy depends on who does what", checkRequestAttributes),
		must("AP-47/generated", "a generated name is known to a validating policy", "a policy is about names", func(ctx context.Context, a *admission) error {
			generated := a.dryRunCreate(a.object("").withMeta("generateName", "base-"))
			denied := a.denied("", "a", "")
			denied.message, denied.details = "", nil
			denied.contains, denied.causes[0].Message = "denied request: 10 true base-", "denied request: 10 true base-"
			return a.check(ctx, these(a.validating("a", invalid("string(object.metadata.name.size()) + ' ' + string(request.name == object.metadata.name) + ' ' + object.metadata.name"))), send(generated, denied.check))
		}),
		must("AP-48", "policies apply to dry runs, and request.dryRun tells them", "a dry run shows what would happen", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.validating("a", valid("!request.dryRun").with("message", "no dry runs"))),
				send(a.try("x"), a.denied("x", "a", "no dry runs").check),
				send(a.create("x"), code(201)))
		}),
		must("AP-49", "namespaceObject is the namespace of the object", "a policy depends on labels of the namespace", checkNamespaceObject),
		must("AP-49/cluster", "namespaceObject is null for cluster-scoped objects", "they have no namespace", func(ctx context.Context, a *admission) error {
			roles := a.clusterRoles()
			q := a.validating("a", invalid("namespaceObject == null ? 'none' : 'some'")).on(ruleFor(roles)).match("objectSelector", a.selector())
			return a.check(ctx, these(q), send(roles.dryRunCreate(roles.object(a.name("dry")).withLabel(policyLabel, a.namespace)), a.deniedIn(roles, a.name("dry"), "a", "none").check))
		}),
		must("AP-50", "authorizer tells what the user, or a service account, may do", "a policy protects single fields by rights", checkAuthorizer),
		must("AP-51", "validating policies see defaults and are evaluated after the validation against the schema", "expressions can rely on the types", checkPolicyAfterSchema),
	}
}

// policyLibraryCases returns the cases about the functions in expressions (AP-52).
func policyLibraryCases() []Case {
	must := policyRules(validatingPolicy, Must, docKubernetesCEL)
	of := func(word, title, expression, want string) Case {
		return must("AP-52/"+word, "expressions can use "+title, "existing policies use them", func(ctx context.Context, a *admission) error {
			return a.check(ctx, these(a.validating("a", invalid(expression))), send(a.try("x", "k", "1"), a.denied("x", "a", want).check))
		})
	}
	return []Case{
		of("macros", "the macros of CEL", `string([1, 2].all(x, x > 0)) + ' ' + string([1, 2].exists(x, x > 2)) + ' ' + string([1, 2].exists_one(x, x > 1)) + ' ' + string([1, 2].map(x, x * 2)[1]) + ' ' + string([1, 2].filter(x, x > 1).size()) + ' ' + string(has(object.data.k))`,
			"true false true 4 1 true"),
		of("comprehensions", "comprehensions of two variables", `string({'a': 'b'}.all(k, v, k != v)) + ' ' + string([5, 6].transformList(i, v, i + v)[1]) + ' ' + {'a': 'b'}.transformMap(k, v, k + v)['a']`, "true 7 ab"),
		of("strings", "the functions of strings", `'a,b'.split(',').join('-') + ' ' + 'Abc'.lowerAscii() + ' ' + 'Abc'.upperAscii() + ' ' + 'abc'.charAt(1) + ' ' + 'abab'.replace('b', 'x', 1) + ' ' + 'abc'.substring(1) + ' ' + ' x '.trim() + ' ' + string('abab'.lastIndexOf('b')) + ' ' + '%d of %s'.format([1, 'x'])`,
			"a-b abc ABC b axab bc x 3 1 of x"),
		of("lists", "the functions of lists", `string([1, 3, 2].isSorted()) + ' ' + string([1, 2, 3].sum()) + ' ' + string([4, 2].min()) + ' ' + string([4, 2].max()) + ' ' + string([1, 2, 1].indexOf(1)) + ' ' + string([1, 2, 1].lastIndexOf(1))`,
			"false 6 2 4 0 2"),
		of("regex", "the functions of regular expressions", `'a1b22'.find('[0-9]+') + ' ' + 'a1b22'.findAll('[0-9]+').join(',') + ' ' + string('abc'.matches('^a.c$'))`, "1 1,22 true"),
		of("urls", "the functions of URLs", `url('https://example.com:80/x%20y?q=1').getHostname() + ' ' + url('https://example.com:80/').getPort() + ' ' + url('https://example.com/x%20y').getEscapedPath() + ' ' + url('https://example.com/?q=1').getQuery()['q'][0] + ' ' + string(isURL('no url'))`,
			"example.com 80 /x%20y 1 false"),
		of("quantities", "the functions of quantities", `string(quantity('1Gi').isGreaterThan(quantity('1G'))) + ' ' + string(quantity('50k').add(quantity('1k')).asInteger()) + ' ' + string(quantity('1Gi').compareTo(quantity('1024Mi'))) + ' ' + string(isQuantity('1x'))`,
			"true 51000 0 false"),
		of("addresses", "the functions of IP addresses and networks", `string(ip('::1').family()) + ' ' + string(ip('127.0.0.1').isLoopback()) + ' ' + string(isIP('1.2.3')) + ' ' + string(cidr('10.0.0.0/8').containsIP('10.1.2.3')) + ' ' + string(cidr('10.0.0.0/8').containsIP('11.1.2.3')) + ' ' + string(cidr('10.0.0.0/8').prefixLength())`,
			"6 true false true false 8"),
		of("versions", "the functions of semantic versions", `string(semver('1.10.0').isGreaterThan(semver('1.9.0'))) + ' ' + string(semver('1.2.3').minor()) + ' ' + string(isSemver('1.2')) + ' ' + string(semver('1.0.0').compareTo(semver('1.0.0')))`,
			"true 2 false 0"),
		of("formats", "the functions of named formats", `string(format.dns1123Label().validate('a-b').hasValue()) + ' ' + string(format.dns1123Label().validate('A_b').hasValue()) + ' ' + string(format.named('uuid').hasValue()) + ' ' + string(format.named('nothing').hasValue())`,
			"false true true false"),
		of("sets", "the functions of sets", `string(sets.contains([1, 2], [2])) + ' ' + string(sets.equivalent([1, 2], [2, 1, 1])) + ' ' + string(sets.intersects([1], [2]))`, "true true false"),
		of("optionals", "optional values", `object.?data.?k.orValue('none') + ' ' + object.?data.?missing.orValue('none') + ' ' + string(object.?data.?missing.hasValue()) + ' ' + optional.ofNonZeroValue('').orValue('zero') + ' ' + {'a': 'b'}[?'c'].orValue('no c')`,
			"1 none false zero no c"),
		of("times", "durations and timestamps", `string(duration('90m').getHours()) + ' ' + string(timestamp('2026-01-02T03:04:05Z').getFullYear()) + ' ' + string(timestamp('2026-01-01T00:00:00Z') < timestamp('2026-01-02T00:00:00Z')) + ' ' + string(timestamp(object.metadata.creationTimestamp) > timestamp('1999-01-01T00:00:00Z'))`,
			"1 2026 true true"),
	}
}

func checkCostLimit(ctx context.Context, a *admission) error {
	const expensive = "variables.all.all(a, variables.all.all(b, variables.all.all(c, a + b + c != 'x')))"
	costing := func(name string) *policy {
		return a.validating(name, valid(expensive), valid("false").with("message", "the next one")).match("objectSelector", toLabel(name)).
			with("variables", []object{variable("all", "object.data.k.split('')")})
	}
	try := func(to string, length int) call {
		return a.dryRunCreate(a.dataOf("x", "k", strings.Repeat("k", length)).withLabel("to", to))
	}
	return a.check(ctx, these(costing("fail"), costing("ignore").with("failurePolicy", "Ignore")),
		send(try("fail", 2), a.denied("x", "fail", "the next one").check),
		send(try("fail", 150), a.denied("x", "fail", fmt.Sprintf("expression '%s' resulted in error: operation cancelled: actual cost limit exceeded", expensive)).check),
		send(try("ignore", 150), a.denied("x", "ignore", "the next one").check),
	)
}

func checkOldObject(ctx context.Context, a *admission) error {
	values := "(object == null ? 'none' : object.data.k) + ' after ' + (oldObject == null ? 'none' : oldObject.data.k)"
	q := a.validating("a", invalid(values)).on(ruleFor(a.collection, "*")).with("matchConditions", []object{variable("dry", "request.dryRun")})
	update := mergePatch(a.item("x"), object{"data": object{"k": "2"}}).withQuery("dryRun=All")
	return a.check(ctx, these(q),
		send(a.create("x", "k", "1"), code(201)),
		send(a.try("y", "k", "1"), a.denied("y", "a", "1 after none").check),
		send(update, a.denied("x", "a", "2 after 1").check),
		send(del(a.item("x")).withQuery("dryRun=All"), a.denied("x", "a", "none after 1").check),
	)
}

func checkRequestAttributes(ctx context.Context, a *admission) error {
	attributes := []string{
		"request.operation", "'[' + request.kind.group + ']'", "request.kind.version", "request.kind.kind", "'[' + request.resource.group + ']'", "request.resource.version", "request.resource.resource",
		"request.requestKind.kind", "request.requestResource.resource", "(has(request.subResource) ? request.subResource : 'none')", "request.name", "request.namespace",
		"string(request.dryRun)", "string(request.options.kind)", "(request.userInfo.username != '' ? 'user' : 'none')", "(request.userInfo.groups.exists(g, g.startsWith('system:')) ? 'group' : 'none')",
	}
	q := a.validating("a", invalid(strings.Join(attributes, " + ' ' + "))).with("matchConditions", []object{variable("c", "object.metadata.name != 'y'")})
	text := func(operation, dry, options string) expectation {
		return a.denied("x", "a", fmt.Sprintf("%s [] v1 ConfigMap [] v1 configmaps ConfigMap configmaps none x %s %s %s user group", operation, a.namespace, dry, options)).check
	}
	if err := a.s.expect(ctx, a.create("x"), code(201)); err != nil {
		return err
	}
	return a.check(ctx, these(q),
		send(a.try("x"), text("CREATE", "true", "CreateOptions")),
		send(a.create("x"), text("CREATE", "false", "CreateOptions")),
		send(a.tryLabel("x"), text("UPDATE", "true", "UpdateOptions")),
		send(put(a.item("x"), a.object("x").withData("k", "1")), text("UPDATE", "false", "UpdateOptions")),
		send(a.try("y"), code(201)),
	)
}

func checkNamespaceObject(ctx context.Context, a *admission) error {
	v := invalid("namespaceObject.metadata.name + ' ' + namespaceObject.metadata.labels['level']").with("expression", "!('level' in namespaceObject.metadata.labels)")
	if err := a.check(ctx, these(a.validating("a", v)), send(a.try("x"), code(201))); err != nil {
		return err
	}
	level := object{"metadata": object{"labels": object{"level": "high"}}}
	if err := a.s.expect(ctx, mergePatch(namespacePath(a.namespace), level), code(200)); err != nil {
		return err
	}
	return a.s.waitFor(ctx, a.try("x"), a.denied("x", "a", a.namespace+" high").check)
}

// checkAuthorizer checks that the user may create ConfigMaps by the authorizer, and that the answer
// about a service account is the same as that of two other ways to ask.
func checkAuthorizer(ctx context.Context, a *admission) error {
	account := fmt.Sprintf("authorizer.serviceAccount('%s', 'robot').group('').resource('configmaps').namespace('%s').check('create')", a.namespace, a.namespace)
	checks := []object{
		valid("authorizer.requestResource.check(request.operation.lowerAscii()).allowed()").with("message", "request resource"),
		valid(fmt.Sprintf("authorizer.group('').resource('configmaps').namespace('%s').check('create').allowed()", a.namespace)).with("message", "resource"),
		valid(fmt.Sprintf("!authorizer.group('').resource('configmaps').namespace('%s').name('x').check('create').errored()", a.namespace)).with("message", "errored"),
		valid("authorizer.path('/version').check('get').allowed()").with("message", "path"),
		valid("object.metadata.name != 'z'").with("message", "evaluated to the end"),
	}
	asked := a.validating("b", valid(account+".allowed()").with("message", "the account is not allowed to")).match("objectSelector", toLabel("allowed"))
	denied := a.validating("c", valid("!"+account+".allowed()").with("message", "the account is allowed to")).match("objectSelector", toLabel("denied"))
	if err := a.check(ctx, these(a.validating("a", checks...), asked, denied),
		send(a.try("x"), code(201)),
		send(a.try("z"), a.denied("z", "a", "evaluated to the end").check),
	); err != nil {
		return err
	}
	if err := a.s.expect(ctx, a.tryLabeled("x", "to", "allowed"), code(201)); err == nil {
		return a.s.expect(ctx, a.tryLabeled("x", "to", "denied"), a.denied("x", "c", "the account is allowed to").check)
	}
	return a.s.expectAll(ctx,
		send(a.tryLabeled("x", "to", "allowed"), a.denied("x", "b", "the account is not allowed to").check),
		send(a.tryLabeled("x", "to", "denied"), code(201)),
	)
}

func checkPolicyAfterSchema(ctx context.Context, a *admission) error {
	gadgets, err := a.s.dataCRs(ctx)
	if err != nil {
		return err
	}
	c := a.of(gadgets)
	return a.check(ctx, these(a.validating("a", invalid("string(object.spec.color)")).on(ruleFor(c))),
		send(c.dryRunCreate(c.withSpec("x", object{"size": 1})), a.deniedIn(c, "x", "a", "grey").check),
		send(c.dryRunCreate(c.withSpec("x", object{"size": -1})), code(422), fieldCause("spec.size")),
	)
}

// fieldCause expects a failure with a single cause, which is about a field.
func fieldCause(path string) expectation {
	return func(r *response) error {
		if err := valueAt(path, "details", "causes", "0", "field")(r); err != nil {
			return err
		}
		return valueAt(nil, "details", "causes", "1")(r)
	}
}
