package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pathVersionCases returns the cases about one object in several versions of its group (PV-29).
func pathVersionCases() []Case {
	agree := func(id, title string, check checkFunc) Case {
		return Case{
			ID: id, Level: Must, Title: title,
			Why:    "a client that changes to another version must find the same objects",
			Source: "Kubernetes API Concepts, API versioning", check: check,
		}
	}
	return []Case{
		agree("PV-29/custom", "a custom object has one uid, resourceVersion and name in all versions", checkVersionsOfCR),
		agree("PV-29/events", "an event has one uid, resourceVersion and name in core/v1 and events.k8s.io/v1", checkVersionsOfEvent),
		agree("PV-29/autoscaler", "an autoscaler has one uid, resourceVersion and name in autoscaling/v1 and v2", checkVersionsOfAutoscaler),
	}
}

func checkVersionsOfCR(ctx context.Context, s *session) error {
	c, err := s.basicCRs(ctx)
	if err != nil {
		return err
	}
	return checkSameInVersions(ctx, c, crdBasic{group: c.group}.in("v1beta1"), c.object("a"))
}

func checkVersionsOfEvent(ctx context.Context, s *session) error {
	if err := s.skipUnlessServed(ctx, "events.k8s.io/v1", "events"); err != nil {
		return err
	}
	c, err := s.newCollection(ctx, collection{root: "/api/v1", apiVersion: "v1", kind: "Event", resource: "events"}, nil)
	if err != nil {
		return err
	}
	e := c.object("a")
	e["involvedObject"] = object{"apiVersion": "v1", "kind": "Pod", "namespace": c.namespace, "name": "p"}
	e["reason"], e["message"], e["type"] = "Tested", "versions agree", "Normal"
	other := collection{
		root: "/apis/events.k8s.io/v1", apiVersion: "events.k8s.io/v1", group: "events.k8s.io", kind: "Event", resource: "events",
	}
	return checkSameInVersions(ctx, c, other, e)
}

func checkVersionsOfAutoscaler(ctx context.Context, s *session) error {
	v2, v1, err := s.autoscalers(ctx)
	if err != nil {
		return err
	}
	return checkSameInVersions(ctx, v2, v1, autoscaler(v2, "a"))
}

// checkSameInVersions creates an object in one version and reads it in two. Name, uid and
// resourceVersion must be equal.
func checkSameInVersions(ctx context.Context, c, other collection, body object) error {
	if _, err := c.create(ctx, body); err != nil {
		return err
	}
	other.s, other.namespace = c.s, c.namespace
	var seen []metav1.PartialObjectMetadata
	var last *response
	for _, in := range []collection{c, other} {
		r, err := c.s.do(ctx, get(in.item("a")), code(200), kind(in.apiVersion, in.kind))
		if err != nil {
			return err
		}
		var o metav1.PartialObjectMetadata
		if err := r.decode(&o); err != nil {
			return err
		}
		seen, last = append(seen, o), r
	}
	first, second := seen[0], seen[1]
	if first.UID != second.UID || first.ResourceVersion != second.ResourceVersion || first.Name != second.Name {
		return last.errorf("expected uid %s, resourceVersion %s, name %s as in %s",
			first.UID, first.ResourceVersion, first.Name, c.apiVersion)
	}
	return nil
}
