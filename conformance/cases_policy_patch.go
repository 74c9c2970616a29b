package conformance

import (
	"context"
	"fmt"
)

// policyPatchCases returns the cases about the patches of mutating policies (AP-66 to AP-74).
func policyPatchCases() []Case {
	must := policyRules(mutatingPolicy, Must, docMutatingPolicies)
	return []Case{
		must("AP-66", "ApplyConfiguration sets the fields of the configuration and keeps the others", "a policy states what it wants", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", applyMutation("Object{metadata: Object.metadata{labels: {'by': 'policy'}}, data: {'k': object.data.k + '!', 'new': 'x'}}"))
			body := a.dataOf("x", "k", "1", "other", "2").withLabel("own", "mine")
			return a.check(ctx, these(q), send(a.dryRunCreate(body), code(201),
				value(object{"k": "1!", "other": "2", "new": "x"}, "data"), value(object{"own": "mine", "by": "policy"}, "metadata", "labels")))
		}),
		must("AP-66/nothing", "an empty configuration changes nothing", "a policy may have nothing to do", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", applyMutation("object.data.k == '1' ? Object{data: {'by': 'policy'}} : Object{}"))
			return a.check(ctx, these(q),
				send(a.try("x", "k", "1"), code(201), value(object{"k": "1", "by": "policy"}, "data")),
				send(a.try("x", "k", "2"), code(201), value(object{"k": "2"}, "data")))
		}),
		must("AP-67", "ApplyConfiguration merges lists by their keys", "a policy adds a container or changes one", checkMergedContainers),
		must("AP-67/set", "ApplyConfiguration adds to sets", "a policy adds a finalizer", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", applyMutation("Object{metadata: Object.metadata{finalizers: ['example.com/policy', 'example.com/own']}}"))
			body := a.object("x").withMeta("finalizers", []string{"example.com/own"})
			return a.check(ctx, these(q), send(a.dryRunCreate(body), code(201), func(r *response) error {
				if finalizers("example.com/own", "example.com/policy")(r) == nil {
					return nil
				}
				return finalizers("example.com/policy", "example.com/own")(r)
			}))
		}),
		must("AP-68", "ApplyConfiguration does not change atomic lists, maps and structs", "a policy does not remove what it does not know", func(ctx context.Context, a *admission) error {
			c, err := a.s.replicaSets(ctx)
			if err != nil {
				return err
			}
			c = a.of(c)
			q := a.mutating("a", applyMutation("Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'a', args: ['x']}]}}}}")).on(ruleFor(c))
			failed := a.mutationFailed("x", "a", "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.template.spec.containers")
			failed.details = c.statusDetails("x")
			return a.check(ctx, these(q), send(c.dryRunCreate(replicaSet(c, "x", object{"containers": []object{container("a")}})), failed.check))
		}),
		must("AP-69", "JSONPatch adds, replaces, removes, copies and moves", "a policy can remove fields", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", jsonPatchMutation(`[
				JSONPatch{op: 'add', path: '/data/added', value: object.metadata.name + '!'},
				JSONPatch{op: 'replace', path: '/data/replaced', value: 'new'},
				JSONPatch{op: 'remove', path: '/data/removed'},
				JSONPatch{op: 'copy', from: '/data/kept', path: '/data/copied'},
				JSONPatch{op: 'move', from: '/data/old', path: '/data/moved'}]`))
			return a.check(ctx, these(q),
				send(a.try("x", "kept", "1", "replaced", "2", "removed", "3", "old", "4"), code(201),
					value(object{"added": "x!", "kept": "1", "replaced": "new", "copied": "1", "moved": "4"}, "data")))
		}),
		must("AP-70", "the values of a JSONPatch are objects, maps, lists and other values", "all fields can be set", checkJSONPatchValues),
		must("AP-70/composed", "the list of operations can be computed", "a patch depends on the object", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", jsonPatchMutation(`object.data.filter(k, k.startsWith('drop')).map(k, JSONPatch{op: 'remove', path: '/data/' + jsonpatch.escapeKey(k)}) + (object.data.size() > 3 ? [JSONPatch{op: 'add', path: '/data/many', value: 'yes'}] : [])`))
			return a.check(ctx, these(q),
				send(a.try("x", "drop-a", "1", "drop-b", "2", "keep", "3"), code(201), value(object{"keep": "3"}, "data")),
				send(a.try("x", "a", "1", "b", "2", "c", "3", "d", "4"), code(201), field("yes", "data", "many")))
		}),
		must("AP-71", "jsonpatch.escapeKey escapes keys in paths", "names of labels have slashes", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", jsonPatchMutation(`[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/by'), value: 'policy'},
				JSONPatch{op: 'add', path: '/metadata/annotations', value: {'escaped': jsonpatch.escapeKey('a/b~c')}}]`))
			return a.check(ctx, these(q), send(a.tryLabeled("x", "own", "mine"), code(201),
				value(object{"own": "mine", "example.com/by": "policy"}, "metadata", "labels"), value(object{"escaped": "a~1b~0c"}, "metadata", "annotations")))
		}),
		must("AP-72", "a JSONPatch whose test fails changes nothing", "a patch is conditional", func(ctx context.Context, a *admission) error {
			q := a.mutating("a", jsonPatchMutation(`[JSONPatch{op: 'add', path: '/data/before', value: 'x'}, JSONPatch{op: 'test', path: '/data/k', value: '1'}, JSONPatch{op: 'add', path: '/data/after', value: 'y'}]`), setDataByPolicy("next", "'z'"))
			return a.check(ctx, these(q),
				send(a.try("x", "k", "1"), code(201), value(object{"k": "1", "before": "x", "after": "y", "next": "z"}, "data")),
				send(a.try("x", "k", "2"), code(201), value(object{"k": "2", "next": "z"}, "data")))
		}),
		must("AP-73", "a patch that cannot be applied denies, or with failurePolicy Ignore does nothing", "an object is not stored half changed", func(ctx context.Context, a *admission) error {
			return a.checkFailingMutation(ctx, jsonPatchMutation(`[JSONPatch{op: 'replace', path: '/missing/here', value: 'x'}]`), "JSON Patch: replace operation does not apply: ")
		}),
		must("AP-73/operation", "an unknown operation fails as a patch that cannot be applied", "the author finds the error", func(ctx context.Context, a *admission) error {
			return a.checkFailingMutation(ctx, jsonPatchMutation(`[JSONPatch{op: 'frobnicate', path: '/data/k', value: 'x'}]`), "JSON Patch: Unexpected kind: frobnicate")
		}),
		must("AP-74", "a mutation whose evaluation fails denies, or with failurePolicy Ignore does nothing", "an object is not stored without its defaults", func(ctx context.Context, a *admission) error {
			return a.checkFailingMutation(ctx, jsonPatchMutation(`[JSONPatch{op: 'add', path: '/data/copy', value: object.data.missing}]`),
				"expression '[JSONPatch{op: 'add', path: '/data/copy', value: object.data.missing}]' resulted in error: no such key: missing")
		}),
		must("AP-74/apply", "an ApplyConfiguration whose evaluation fails denies, or with failurePolicy Ignore does nothing", "an object is not stored without its defaults", func(ctx context.Context, a *admission) error {
			return a.checkFailingMutation(ctx, setDataByPolicy("copy", "object.data.missing"), "expression 'Object{data: {'copy': object.data.missing}}' resulted in error: no such key: missing")
		}),
		must("AP-74/type", "an object of a wrong type fails as an evaluation does", "the author finds the error", func(ctx context.Context, a *admission) error {
			return a.checkFailingMutation(ctx, applyMutation("Object{metadata: Object.spec{name: 'x'}}"), "type mismatch: ")
		}),
	}
}

// checkFailingMutation checks that a mutation fails with a text, and is ignored with failurePolicy
// Ignore.
func (a *admission) checkFailingMutation(ctx context.Context, mutation object, text string) error {
	to := func(name string) *policy { return a.mutating(name, mutation).match("objectSelector", toLabel(name)) }
	try := func(name string) call {
		return a.dryRunCreate(a.dataOf("x", "k", "1").withLabel("to", name))
	}
	unchanged := value(object{"k": "1"}, "data")
	return a.check(ctx, these(to("fail"), to("ignore").with("failurePolicy", "Ignore")),
		send(try("fail"), a.mutationFailed("x", "fail", text).check),
		send(try("ignore"), code(201), unchanged),
		send(try("other"), code(201), unchanged),
	)
}

func checkMergedContainers(ctx context.Context, a *admission) error {
	c, err := a.s.replicaSets(ctx)
	if err != nil {
		return err
	}
	c = a.of(c)
	const containers = "Object.spec.template.spec.containers"
	pod := fmt.Sprintf("Object.spec.template.spec{containers: [%s{name: 'a', image: 'example.com/changed'}, %s{name: 'c', image: 'example.com/c'}]}", containers, containers)
	q := a.mutating("a", applyMutation("Object{spec: Object.spec{template: Object.spec.template{spec: "+pod+"}}}")).on(ruleFor(c))
	spec := object{"containers": []object{container("a").with("env", []object{{"name": "E", "value": "1"}}), container("b")}}
	at := []string{"spec", "template", "spec", "containers"}
	return a.check(ctx, these(q), send(c.dryRunCreate(replicaSet(c, "x", spec)), code(201),
		itemsHave([]string{"a", "b", "c"}, "name", at...),
		itemsHave([]string{"example.com/changed", "example.com/b", "example.com/c"}, "image", at...),
		valueAt("1", append(at, "0", "env", "0", "value")...),
	))
}

func checkJSONPatchValues(ctx context.Context, a *admission) error {
	c, err := a.s.replicaSets(ctx)
	if err != nil {
		return err
	}
	c = a.of(c)
	const pod = "Object.spec.template.spec"
	q := a.mutating("a", jsonPatchMutation(`[
		JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: `+pod+`.containers{name: 'b', image: 'example.com/b', env: [`+pod+`.containers.env{name: 'E', value: '1'}]}},
		JSONPatch{op: 'add', path: '/spec/template/metadata/annotations', value: {'k': 'v'}},
		JSONPatch{op: 'add', path: '/spec/template/spec/containers/0/args', value: ['x', 'y']},
		JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1},
		JSONPatch{op: 'add', path: '/spec/template/spec/hostNetwork', value: true}]`)).on(ruleFor(c))
	at := []string{"spec", "template", "spec", "containers"}
	return a.check(ctx, these(q), send(c.dryRunCreate(replicaSet(c, "x", object{"containers": []object{container("a")}})), code(201),
		itemsHave([]string{"a", "b"}, "name", at...),
		valueAt("1", append(at, "1", "env", "0", "value")...),
		valueAt([]string{"x", "y"}, append(at, "0", "args")...),
		valueAt(object{"k": "v"}, "spec", "template", "metadata", "annotations"),
		valueAt(1, "spec", "replicas"),
		valueAt(true, "spec", "template", "spec", "hostNetwork"),
	))
}
