package conformance

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docStrategicPatch = "apimachinery util/strategicpatch"

// strategicPatchCases returns the cases about strategic merge patches, which only built-in types
// support, and about patches of subresources (PA).
func strategicPatchCases() []Case {
	pods := func(c Case, check collectionCheck) Case {
		return onCollection((*session).replicaSets, c, func(ctx context.Context, s *session, c collection) error {
			create := replicaSet(c, "a", object{
				"containers":   []object{container("c1"), container("c2").with("args", []string{"x", "y"})},
				"volumes":      []object{{"name": "v", "emptyDir": object{}}},
				"tolerations":  []object{{"key": "x", "operator": "Exists"}},
				"nodeSelector": object{"zone": "1", "disk": "ssd"},
			})
			if err := s.expect(ctx, post(c.path(), create), code(http.StatusCreated)); err != nil {
				return err
			}
			return check(ctx, s, c)
		})
	}
	return []Case{
		pods(Case{
			ID: "PA-19", Level: Must, Title: "lists with a merge key are merged by it, other lists are replaced",
			Why:    "a patch of one container keeps the others",
			Source: docStrategicPatch,
		}, checkStrategicLists),
		pods(Case{
			ID: "PA-20/delete", Level: Must, Title: "$patch: delete removes a list item, or the content of a map",
			Why:    "a merged list needs a way to remove items",
			Source: docStrategicPatch,
		}, checkStrategicDelete),
		pods(Case{
			ID: "PA-20/replace", Level: Must, Title: "$patch: replace replaces a list or a map",
			Why:    "a client may send the complete list",
			Source: docStrategicPatch,
		}, checkStrategicReplace),
		pods(Case{
			ID: "PA-20/order", Level: Must, Title: "$setElementOrder sets the order of a merged list",
			Why:    "containers start in this order",
			Source: docStrategicPatch,
		}, checkStrategicOrder),
		pods(Case{
			ID: "PA-20/keys", Level: Must, Title: "$retainKeys lists the keys that stay",
			Why:    "mutually exclusive fields would otherwise both be set",
			Source: docStrategicPatch,
		}, checkStrategicKeys),
		pods(Case{
			ID: "PA-20/primitives", Level: Must, Title: "$deleteFromPrimitiveList removes values from a merged list",
			Why:    "two controllers may each remove their own finalizer",
			Source: docStrategicPatch,
		}, checkStrategicPrimitives),
		pods(Case{
			ID: "PA-21", Level: Must, Title: "an unknown directive and an item without its merge key are answered 500",
			Why:    "a patch with errors must not be applied in part",
			Source: docStrategicPatch,
		}, checkStrategicErrors),
		onCollection((*session).ingresses, Case{
			ID: "PA-22/typed", Level: Must, Title: "a patch of the status changes only the status, and a patch of the main path all but the status",
			Why:    "users and controllers write to one object independently",
			Source: "API conventions, Spec and status",
		}, checkPatchOfTypedStatus),
		onCollection((*session).dataCRs, Case{
			ID: "PA-22/custom", Level: Must, Title: "a patch of the status changes only the status, and a patch of the main path all but the status",
			Why:    "users and controllers write to one object independently",
			Source: "API conventions, Spec and status",
		}, checkPatchOfCustomStatus),
		onCollection((*session).dataCRs, Case{
			ID: "PA-22/scale/custom", Level: Must, Title: "a patch of the scale changes only the number of replicas",
			Why:    "autoscalers do not know the type of the object",
			Source: "API conventions, Subresources",
		}, checkPatchOfScale),
	}
}

// podTemplatePatch returns a patch of the Pod template.
func podTemplatePatch(spec object) object {
	return object{"spec": object{"template": object{"spec": spec}}}
}

// podTemplatePath returns the path of a field of the Pod template.
func podTemplatePath(path ...string) []string {
	return append([]string{"spec", "template", "spec"}, path...)
}

func checkStrategicLists(ctx context.Context, s *session, c collection) error {
	return s.expectAll(ctx,
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"containers": []object{{"name": "c2", "image": "new"}}})), code(200),
			itemsHave([]string{"c1", "c2"}, "name", podTemplatePath("containers")...), valueAt("new", podTemplatePath("containers", "1", "image")...),
			valueAt([]string{"x", "y"}, podTemplatePath("containers", "1", "args")...)),
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"containers": []object{container("c3")}})), code(200),
			itemsHave([]string{"c3", "c1", "c2"}, "name", podTemplatePath("containers")...)),
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"tolerations": []object{{"key": "y", "operator": "Exists"}}})), code(200),
			itemsHave([]string{"y"}, "key", podTemplatePath("tolerations")...)),
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"containers": []object{{"name": "c2", "args": []string{"z"}}}})), code(200),
			valueAt([]string{"z"}, podTemplatePath("containers", "2", "args")...)),
	)
}

func checkStrategicDelete(ctx context.Context, s *session, c collection) error {
	return s.expectAll(ctx,
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"containers": []object{{"name": "c1", "$patch": "delete"}}})), code(200),
			itemsHave([]string{"c2"}, "name", podTemplatePath("containers")...)),
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"nodeSelector": object{"$patch": "delete"}})), code(200),
			valueAt(nil, podTemplatePath("nodeSelector")...)),
	)
}

func checkStrategicReplace(ctx context.Context, s *session, c collection) error {
	return s.expectAll(ctx,
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"nodeSelector": object{"$patch": "replace", "zone": "2"}})), code(200),
			valueAt(object{"zone": "2"}, podTemplatePath("nodeSelector")...)),
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"containers": []object{{"$patch": "replace"}, container("c3")}})), code(200),
			itemsHave([]string{"c3"}, "name", podTemplatePath("containers")...)),
	)
}

func checkStrategicOrder(ctx context.Context, s *session, c collection) error {
	return s.expect(ctx, strategicPatch(c.item("a"), podTemplatePatch(object{
		"$setElementOrder/containers": []object{{"name": "c3"}, {"name": "c2"}, {"name": "c1"}},
		"containers":                  []object{container("c3")},
	})), code(200), itemsHave([]string{"c3", "c2", "c1"}, "name", podTemplatePath("containers")...))
}

func checkStrategicKeys(ctx context.Context, s *session, c collection) error {
	return s.expect(ctx, strategicPatch(c.item("a"), podTemplatePatch(object{
		"volumes": []object{{"$retainKeys": []string{"name", "secret"}, "name": "v", "secret": object{"secretName": "s"}}},
	})), code(200), valueAt(nil, podTemplatePath("volumes", "0", "emptyDir")...), valueAt("s", podTemplatePath("volumes", "0", "secret", "secretName")...))
}

func checkStrategicPrimitives(ctx context.Context, s *session, c collection) error {
	const one, two = "conformance.example.com/one", "conformance.example.com/two"
	return s.expectAll(ctx,
		send(strategicPatch(c.item("a"), object{"metadata": object{"finalizers": []string{one, finalizer}}}), code(200)),
		send(strategicPatch(c.item("a"), object{"metadata": object{"finalizers": []string{two}}}), code(200),
			valueAt([]string{two, one, finalizer}, "metadata", "finalizers")),
		send(strategicPatch(c.item("a"), object{"metadata": object{"$deleteFromPrimitiveList/finalizers": []string{one}}}), code(200),
			valueAt([]string{two, finalizer}, "metadata", "finalizers")),
	)
}

// checkStrategicErrors expects the codes of kube-apiserver, which answers these errors with 500.
func checkStrategicErrors(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	failed := func(message string) expectation { return failure{code: 500, message: message}.check }
	return s.expectAll(ctx,
		send(strategicPatch(c.item("a"), object{"spec": object{"template": object{"$patch": "bogus"}}}),
			failed("unknown patch type: bogus in map: map[$patch:bogus]")),
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"nodeSelector": object{"$patch": "merge"}})),
			failed("unknown patch type: merge in map: map[$patch:merge]")),
		send(strategicPatch(c.item("a"), podTemplatePatch(object{"containers": []object{{"image": "nameless"}}})),
			failed("map: map[image:nameless] does not contain declared merge key: name")),
		send(get(c.item("a")), code(200), isUnchanged(before)),
	)
}

func checkPatchOfTypedStatus(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, ingress(c, "a")); err != nil {
		return err
	}
	address := object{"loadBalancer": object{"ingress": []object{{"ip": "192.0.2.1"}}}}
	other := object{"ingressClassName": "other.conformance.example.com"}
	return s.expectAll(ctx,
		send(mergePatch(c.item("a")+"/status", object{"spec": other, "status": address}), code(200),
			valueAt("none.conformance.example.com", "spec", "ingressClassName"), itemsHave([]string{"192.0.2.1"}, "ip", "status", "loadBalancer", "ingress")),
		send(mergePatch(c.item("a"), object{"spec": other, "status": object{"loadBalancer": nil}}), code(200),
			valueAt("other.conformance.example.com", "spec", "ingressClassName"), itemsHave([]string{"192.0.2.1"}, "ip", "status", "loadBalancer", "ingress")),
	)
}

func checkPatchOfCustomStatus(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a").with("spec", object{"size": 1})); err != nil {
		return err
	}
	change := func(size int, phase string) object {
		return object{"spec": object{"size": size}, "status": object{"phase": phase}}
	}
	return s.expectAll(ctx,
		send(mergePatch(c.item("a")+"/status", change(2, "new")), code(200), valueAt(1, "spec", "size"), valueAt("new", "status", "phase")),
		send(mergePatch(c.item("a"), change(3, "newer")), code(200), valueAt(3, "spec", "size"), valueAt("new", "status", "phase")),
	)
}

func checkPatchOfScale(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a").withData("k", "1").with("spec", object{"replicas": 1, "size": 1})); err != nil {
		return err
	}
	var before metav1.PartialObjectMetadata
	r, err := s.do(ctx, get(c.item("a")), code(200))
	if err == nil {
		err = r.decode(&before)
	}
	if err != nil {
		return err
	}
	return s.expectAll(ctx,
		send(mergePatch(c.item("a")+"/scale", object{"spec": object{"replicas": 4, "size": 5}}), code(200),
			kind("autoscaling/v1", "Scale"), valueAt(4, "spec", "replicas"), field(string(before.UID), "metadata", "uid")),
		send(get(c.item("a")), code(200), valueAt(4, "spec", "replicas"), valueAt(1, "spec", "size"), valueAt("1", "data", "k")),
	)
}
