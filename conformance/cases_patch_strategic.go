package conformance

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const strategicPackage = "apimachinery util/strategicpatch"

// strategicPatchCases are about strategic merge patches, which only built-in types have, and about patches of subresources (PA).
func strategicPatchCases() []Case {
	pods := func(c Case, check collectionCheck) Case {
		return on((*session).replicaSets, c, func(ctx context.Context, s *session, c collection) error {
			create := replicaSet(c, "a", object{
				"containers":   []object{container("c1"), container("c2").with("args", []string{"x", "y"})},
				"volumes":      []object{{"name": "v", "emptyDir": object{}}},
				"tolerations":  []object{{"key": "x", "operator": "Exists"}},
				"nodeSelector": object{"zone": "1", "disk": "ssd"},
			})
			if err := s.try(ctx, post(c.path(), create), code(http.StatusCreated)); err != nil {
				return err
			}
			return check(ctx, s, c)
		})
	}
	return []Case{
		pods(Case{
			ID: "PA-19", Level: Must, Title: "lists with a merge key merge by it, other lists are replaced",
			Why:    "a patch of one container leaves the others alone",
			Source: strategicPackage,
		}, strategicLists),
		pods(Case{
			ID: "PA-20/delete", Level: Must, Title: "$patch: delete takes an item out of a list, or all that a map holds",
			Why:    "a list that merges needs a way to lose an item",
			Source: strategicPackage,
		}, strategicDelete),
		pods(Case{
			ID: "PA-20/replace", Level: Must, Title: "$patch: replace puts a list or a map in the place of the old one",
			Why:    "a client may know the whole list",
			Source: strategicPackage,
		}, strategicReplace),
		pods(Case{
			ID: "PA-20/order", Level: Must, Title: "$setElementOrder gives the order of a list that merges",
			Why:    "the order of containers is the order in which they start",
			Source: strategicPackage,
		}, strategicOrder),
		pods(Case{
			ID: "PA-20/keys", Level: Must, Title: "$retainKeys names the keys that stay",
			Why:    "fields that exclude each other would otherwise both be there",
			Source: strategicPackage,
		}, strategicKeys),
		pods(Case{
			ID: "PA-20/primitives", Level: Must, Title: "$deleteFromPrimitiveList takes values out of a list that merges",
			Why:    "two controllers may each take their own finalizer off",
			Source: strategicPackage,
		}, strategicPrimitives),
		pods(Case{
			ID: "PA-21", Level: Must, Title: "an unknown directive, and an item without its merge key, is an error of the server",
			Why:    "what cannot be understood must not be carried out in part",
			Source: strategicPackage,
		}, strategicUnknown),
		on((*session).ingresses, Case{
			ID: "PA-22/typed", Level: Must, Title: "a patch of the status changes the status and not the spec, and the other way round",
			Why:    "users and controllers write to one object without undoing each other's work",
			Source: "API conventions, Spec and status",
		}, patchOfTypedStatus),
		on((*session).gadgets, Case{
			ID: "PA-22/custom", Level: Must, Title: "a patch of the status changes the status and not the spec, and the other way round",
			Why:    "users and controllers write to one object without undoing each other's work",
			Source: "API conventions, Spec and status",
		}, patchOfCustomStatus),
		on((*session).gadgets, Case{
			ID: "PA-22/scale/custom", Level: Must, Title: "a patch of the scale changes the number of replicas and nothing else",
			Why:    "autoscalers write to objects of which they know nothing else",
			Source: "API conventions, Subresources",
		}, patchOfScale),
	}
}

// inPod is a patch of the Pod template.
func inPod(spec object) object { return object{"spec": object{"template": object{"spec": spec}}} }

// pod is the path to a field of the Pod template.
func pod(path ...string) []string { return append([]string{"spec", "template", "spec"}, path...) }

func strategicLists(ctx context.Context, s *session, c collection) error {
	return s.all(ctx,
		ask(strategicPatch(c.item("a"), inPod(object{"containers": []object{{"name": "c2", "image": "new"}}})), code(200),
			lists([]string{"c1", "c2"}, "name", pod("containers")...), holds("new", pod("containers", "1", "image")...),
			holds([]string{"x", "y"}, pod("containers", "1", "args")...)),
		ask(strategicPatch(c.item("a"), inPod(object{"containers": []object{container("c3")}})), code(200),
			lists([]string{"c3", "c1", "c2"}, "name", pod("containers")...)),
		ask(strategicPatch(c.item("a"), inPod(object{"tolerations": []object{{"key": "y", "operator": "Exists"}}})), code(200),
			lists([]string{"y"}, "key", pod("tolerations")...)),
		ask(strategicPatch(c.item("a"), inPod(object{"containers": []object{{"name": "c2", "args": []string{"z"}}}})), code(200),
			holds([]string{"z"}, pod("containers", "2", "args")...)),
	)
}

func strategicDelete(ctx context.Context, s *session, c collection) error {
	return s.all(ctx,
		ask(strategicPatch(c.item("a"), inPod(object{"containers": []object{{"name": "c1", "$patch": "delete"}}})), code(200),
			lists([]string{"c2"}, "name", pod("containers")...)),
		ask(strategicPatch(c.item("a"), inPod(object{"nodeSelector": object{"$patch": "delete"}})), code(200),
			holds(nil, pod("nodeSelector")...)),
	)
}

func strategicReplace(ctx context.Context, s *session, c collection) error {
	return s.all(ctx,
		ask(strategicPatch(c.item("a"), inPod(object{"nodeSelector": object{"$patch": "replace", "zone": "2"}})), code(200),
			holds(object{"zone": "2"}, pod("nodeSelector")...)),
		ask(strategicPatch(c.item("a"), inPod(object{"containers": []object{{"$patch": "replace"}, container("c3")}})), code(200),
			lists([]string{"c3"}, "name", pod("containers")...)),
	)
}

func strategicOrder(ctx context.Context, s *session, c collection) error {
	return s.try(ctx, strategicPatch(c.item("a"), inPod(object{
		"$setElementOrder/containers": []object{{"name": "c3"}, {"name": "c2"}, {"name": "c1"}},
		"containers":                  []object{container("c3")},
	})), code(200), lists([]string{"c3", "c2", "c1"}, "name", pod("containers")...))
}

func strategicKeys(ctx context.Context, s *session, c collection) error {
	return s.try(ctx, strategicPatch(c.item("a"), inPod(object{
		"volumes": []object{{"$retainKeys": []string{"name", "secret"}, "name": "v", "secret": object{"secretName": "s"}}},
	})), code(200), holds(nil, pod("volumes", "0", "emptyDir")...), holds("s", pod("volumes", "0", "secret", "secretName")...))
}

func strategicPrimitives(ctx context.Context, s *session, c collection) error {
	const one, two = "conformance.example.com/one", "conformance.example.com/two"
	return s.all(ctx,
		ask(strategicPatch(c.item("a"), object{"metadata": object{"finalizers": []string{one, finalizer}}}), code(200)),
		ask(strategicPatch(c.item("a"), object{"metadata": object{"finalizers": []string{two}}}), code(200),
			holds([]string{two, one, finalizer}, "metadata", "finalizers")),
		ask(strategicPatch(c.item("a"), object{"metadata": object{"$deleteFromPrimitiveList/finalizers": []string{one}}}), code(200),
			holds([]string{two, finalizer}, "metadata", "finalizers")),
	)
}

// strategicUnknown has the codes of kube-apiserver, which takes these mistakes of a client for its own.
func strategicUnknown(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	failed := func(message string) expectation { return refusal{code: 500, message: message}.check }
	return s.all(ctx,
		ask(strategicPatch(c.item("a"), object{"spec": object{"template": object{"$patch": "bogus"}}}),
			failed("unknown patch type: bogus in map: map[$patch:bogus]")),
		ask(strategicPatch(c.item("a"), inPod(object{"nodeSelector": object{"$patch": "merge"}})),
			failed("unknown patch type: merge in map: map[$patch:merge]")),
		ask(strategicPatch(c.item("a"), inPod(object{"containers": []object{{"image": "nameless"}}})),
			failed("map: map[image:nameless] does not contain declared merge key: name")),
		ask(get(c.item("a")), code(200), unchanged(before)),
	)
}

func patchOfTypedStatus(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, ingress(c, "a")); err != nil {
		return err
	}
	address := object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}}
	other := object{"ingressClassName": "other.conformance.example.com"}
	return s.all(ctx,
		ask(mergePatch(c.item("a")+"/status", object{"spec": other, "status": address}), code(200),
			holds("none.conformance.example.com", "spec", "ingressClassName"), lists([]string{"192.0.2.1"}, "ip", "status", "loadBalancer", "ingress")),
		ask(mergePatch(c.item("a"), object{"spec": other, "status": object{"loadBalancer": nil}}), code(200),
			holds("other.conformance.example.com", "spec", "ingressClassName"), lists([]string{"192.0.2.1"}, "ip", "status", "loadBalancer", "ingress")),
	)
}

func patchOfCustomStatus(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a").with("spec", object{"size": 1})); err != nil {
		return err
	}
	change := func(size int, phase string) object {
		return object{"spec": object{"size": size}, "status": object{"phase": phase}}
	}
	return s.all(ctx,
		ask(mergePatch(c.item("a")+"/status", change(2, "new")), code(200), holds(1, "spec", "size"), holds("new", "status", "phase")),
		ask(mergePatch(c.item("a"), change(3, "newer")), code(200), holds(3, "spec", "size"), holds("new", "status", "phase")),
	)
}

func patchOfScale(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a").data("k", "1").with("spec", object{"replicas": 1, "size": 1})); err != nil {
		return err
	}
	var before metav1.PartialObjectMetadata
	a, err := s.do(ctx, get(c.item("a")), code(200))
	if err == nil {
		err = a.decode(&before)
	}
	if err != nil {
		return err
	}
	return s.all(ctx,
		ask(mergePatch(c.item("a")+"/scale", object{"spec": object{"replicas": 4, "size": 5}}), code(200),
			kind("autoscaling/v1", "Scale"), holds(4, "spec", "replicas"), field(string(before.UID), "metadata", "uid")),
		ask(get(c.item("a")), code(200), holds(4, "spec", "replicas"), holds(1, "spec", "size"), holds("1", "data", "k")),
	)
}
