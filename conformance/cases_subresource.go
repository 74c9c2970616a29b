package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docBinding            = "k/k registry/core/pod/storage/storage.go"
	docEviction           = "API-initiated Eviction; k/k registry/core/pod/storage/eviction.go"
	docSubresourceManager = "Server-Side Apply, Field management; apimachinery util/managedfields"
)

// subresourceCases returns the cases about subresources in general, and about the actions on a Pod
// (SU).
func subresourceCases() []Case {
	return slices.Concat(subresourceDiscoveryCases(), []Case{
		{
			ID: "SU-15/status", Level: Must, Title: "status subresources are in discovery as RESOURCE/status",
			Why: "clients look up subresources there", Source: "apiserver installer.go",
			check: checkListed("v1", metav1.APIResource{Name: "pods/status", Kind: "Pod", Verbs: metav1.Verbs{"get", "patch", "update"}}),
		},
		onScaleCRs(Case{
			ID: "SU-15/custom", Level: Must, Title: "the subresources of a custom resource are in discovery in the versions that have them",
			Why: "clients look up subresources there", Source: "apiextensions customresource_discovery_controller.go",
		}, func(ctx context.Context, s *session, c collection) error {
			status := metav1.APIResource{Name: "dials/status", Kind: "Dial", Verbs: metav1.Verbs{"get", "patch", "update"}}
			err := poll(ctx, func(ctx context.Context) error {
				return checkListed(c.apiVersion, status, scaleResource("dials/scale"))(ctx, s)
			}) // discovery is updated late
			if err != nil {
				return err
			}
			other := c.inScaleVersion("v1alpha1").apiVersion
			found, err := s.discoverResource(ctx, other, "dials/status")
			if err == nil && found != nil {
				err = fmt.Errorf("GET /apis/%s: expected no dials/status, got %v", other, found)
			}
			return err
		}),
	}, onStatusSubresource(Case{
		ID: "SU-16", Level: Must, Title: "the manager of a status update owns it with the subresource",
		Why: "an apply to the main path must not take over the status", Source: docSubresourceManager,
	}, func(ctx context.Context, s *session, c collection, body bodyFunc) error {
		if _, err := c.createWithRetry(ctx, body("a")); err != nil {
			return err
		}
		report := mergePatch(c.item("a")+"/status?fieldManager=reporter", object{"status": object{"reason": "why"}})
		fields := `{"f:status":{"f:reason":{}}}`
		if c.kind == "Dial" {
			fields = `{"f:status":{".":{},"f:reason":{}}}`
		}
		return s.expect(ctx, report, code(200), hasManagedFields("reporter", "status", fields))
	}), bindingCases(), evictionCases())
}

// subresourceDiscoveryCases returns the cases about subresources whose kind differs from that of
// their objects.
func subresourceDiscoveryCases() []Case {
	one := func(id, groupVersion, path string, want metav1.APIResource) Case {
		return Case{
			ID: id, Level: Must, Title: want.Name + " is in discovery with its kind and verbs, and the group and version of the kind",
			Why: "clients need the kind of the request body", Source: "apiserver installer.go",
			check: func(ctx context.Context, s *session) error {
				if err := s.skipUnlessPathServed(ctx, path, want.Name+" of "+groupVersion); err != nil {
					return err
				}
				return checkListed(groupVersion, want)(ctx, s)
			},
		}
	}
	const pod, create = "/api/v1/namespaces/default/pods/conformance-absent", "create"
	scale := func(id, root, groupVersion, plural string) Case {
		return one(id, groupVersion, root+"/namespaces/default/"+plural+"/conformance-absent/scale", scaleResource(plural+"/scale"))
	}
	return []Case{
		one("SU-15/binding", "v1", pod+"/binding", metav1.APIResource{Name: "pods/binding", Kind: "Binding", Verbs: metav1.Verbs{create}}),
		one("SU-15/eviction", "v1", pod+"/eviction",
			metav1.APIResource{Name: "pods/eviction", Group: "policy", Version: "v1", Kind: "Eviction", Verbs: metav1.Verbs{create}}),
		one("SU-15/finalize", "v1", "/api/v1/namespaces/conformance-absent/finalize",
			metav1.APIResource{Name: "namespaces/finalize", Kind: "Namespace", Verbs: metav1.Verbs{"update"}}),
		one("SU-15/token", "v1", "/api/v1/namespaces/default/serviceaccounts/conformance-absent/token", metav1.APIResource{
			Name: "serviceaccounts/token", Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest", Verbs: metav1.Verbs{create},
		}),
		scale("SU-15/scale/replicationcontrollers", "/api/v1", "v1", "replicationcontrollers"),
		scale("SU-15/scale/deployments", "/apis/apps/v1", "apps/v1", "deployments"),
		scale("SU-15/scale/replicasets", "/apis/apps/v1", "apps/v1", "replicasets"),
		scale("SU-15/scale/statefulsets", "/apis/apps/v1", "apps/v1", "statefulsets"),
	}
}

// skipUnlessPathServed skips the case if the path does not exist, whatever discovery contains. The
// errors for objects that do not exist (404) and for resources without GET (405) differ from that
// for an unknown path.
func (s *session) skipUnlessPathServed(ctx context.Context, path, what string) error {
	r, err := s.do(ctx, get(path), code(200, 404, 405))
	if err != nil {
		return err
	}
	absent := r.code == 404
	if absent && r.expect(mediaType("application/json")) == nil {
		absent = r.expect(field("the server could not find the requested resource", "message")) == nil
	}
	if absent {
		return s.skipf("the server does not serve %s", what)
	}
	return nil
}

func scaleResource(name string) metav1.APIResource {
	return metav1.APIResource{Name: name, Group: "autoscaling", Version: "v1", Kind: "Scale", Verbs: metav1.Verbs{"get", "patch", "update"}}
}

// checkListed returns a check that the discovery document of a group version has these
// subresources.
func checkListed(groupVersion string, want ...metav1.APIResource) checkFunc {
	return func(ctx context.Context, s *session) error {
		for _, w := range want {
			w.Namespaced = w.Kind != "Namespace"
			got, err := s.discoverResource(ctx, groupVersion, w.Name)
			if err != nil {
				return err
			}
			if got != nil {
				slices.Sort(got.Verbs)
			}
			if got == nil || fmt.Sprint(*got) != fmt.Sprint(w) {
				return fmt.Errorf("discovery of %s: expected %v, got %v", groupVersion, w, got)
			}
		}
		return nil
	}
}

// hasManagedFields expects exactly these managed fields of a manager and a subresource.
func hasManagedFields(manager, subresource, fields string) expectation {
	return func(r *response) error {
		var o metav1.PartialObjectMetadata
		if err := r.decode(&o); err != nil {
			return err
		}
		for _, m := range o.ManagedFields {
			if m.Manager == manager && m.Subresource == subresource && m.FieldsV1 != nil && equalJSON(m.FieldsV1.GetRawBytes(), []byte(fields)) {
				return nil
			}
		}
		return fmt.Errorf("expected managed fields of %s through %s, %s, got %v", manager, subresource, fields, o.ManagedFields)
	}
}

// binding returns a request to bind the pod "a" to a node.
func (c collection) binding(node string) call {
	body := newObject("v1", "Binding", "a")
	body["target"] = object{"apiVersion": "v1", "kind": "Node", "name": node}
	return post(c.item("a")+"/binding", body)
}

// bindingConflict is the failure of a binding.
func bindingConflict(text string) failure {
	return failure{
		code: 409, reason: metav1.StatusReasonConflict, message: `Operation cannot be fulfilled on pods/binding "a": pod a ` + text,
		details: &metav1.StatusDetails{Name: "a", Kind: "pods/binding"},
	}
}

// isActionSuccess expects the Status Success of an action.
func isActionSuccess(r *response) error {
	for _, e := range []expectation{code(201), kind("v1", "Status"), field("Success", "status"), value(201, "code")} {
		if err := e(r); err != nil {
			return err
		}
	}
	return nil
}

func bindingCases() []Case {
	binding := func(id, title, why string, check collectionCheck) Case {
		return ifServed("v1", "pods/binding", onPods(Case{ID: id, Level: Must, Title: title, Why: why, Source: docBinding}, check))
	}
	bound := func(id, title, why string, check collectionCheck) Case {
		return binding(id, title, why, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.createWithRetry(ctx, c.unscheduledPod("a").withFinalizer()); err != nil {
				return err
			}
			return check(ctx, s, c)
		})
	}
	return []Case{
		bound("SU-13/binds", "a binding assigns a pod to a node", "schedulers assign pods this way",
			func(ctx context.Context, s *session, c collection) error {
				if err := s.expect(ctx, c.binding(noNode), isActionSuccess); err != nil {
					return err
				}
				return s.expect(ctx, get(c.item("a")), code(200), field(noNode, "spec", "nodeName"), isScheduled)
			}),
		bound("SU-13/bound", "a pod that is assigned to a node cannot be bound again", "two schedulers must not assign it twice",
			func(ctx context.Context, s *session, c collection) error {
				if err := s.expect(ctx, c.binding(noNode), isActionSuccess); err != nil {
					return err
				}
				err := s.expect(ctx, c.binding(noNode+"-2"), bindingConflict(fmt.Sprintf("is already assigned to node %q", noNode)).check)
				if err != nil {
					return err
				}
				return s.expect(ctx, get(c.item("a")), code(200), field(noNode, "spec", "nodeName"))
			}),
		bound("SU-13/terminating", "a terminating pod cannot be bound", "the pod must not start",
			func(ctx context.Context, s *session, c collection) error {
				if err := s.expect(ctx, del(c.item("a")), code(200)); err != nil {
					return err
				}
				return s.expect(ctx, c.binding(noNode), bindingConflict("is being deleted, cannot be assigned to a host").check)
			}),
		bound("SU-13/stale", "a binding with the uid of another pod of the same name is rejected", "the scheduler decided about a pod that was deleted",
			func(ctx context.Context, s *session, c collection) error {
				stale := c.binding(noNode)
				stale.body.(object).withMeta("uid", "1")
				want := failure{
					code: 409, reason: metav1.StatusReasonConflict, details: c.statusDetails("a"),
					contains: "Precondition failed: UID in precondition: 1, UID in object meta: ",
				}
				if err := s.expect(ctx, stale, want.check); err != nil {
					return err
				}
				return s.expect(ctx, get(c.item("a")), code(200), value(nil, "spec", "nodeName"))
			}),
		binding("SU-13/gated", "a pod with scheduling gates cannot be bound", "a controller has not released it yet", func(ctx context.Context, s *session, c collection) error {
			gated := c.unscheduledPod("a")
			gated["spec"].(object)["schedulingGates"] = []object{{"name": "conformance.example.com/gate"}}
			if _, err := c.createWithRetry(ctx, gated); err != nil {
				return err
			}
			return s.expect(ctx, c.binding(noNode), bindingConflict("has non-empty .spec.schedulingGates").check)
		}),
		binding("SU-13/absent", "binding a pod that does not exist is NotFound", "schedulers then forget the pod", func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, c.binding(noNode), notFound(c, "a").check)
		}),
	}
}

// isScheduled expects a pod with the condition PodScheduled.
func isScheduled(r *response) error {
	var pod struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := r.decode(&pod); err != nil {
		return err
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "True" {
			return nil
		}
	}
	return fmt.Errorf("expected the condition PodScheduled to be True, got %v", pod.Status.Conditions)
}
