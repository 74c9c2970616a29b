package conformance

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// eviction returns a request to evict the pod "a".
func (c collection) eviction() call {
	return post(c.item("a")+"/eviction", newObject("policy/v1", "Eviction", "a"))
}

// evictionCases returns the cases about the eviction of pods (SU). Pods with budgets are on a node
// that does not exist and have the phase Running, because pods that do not run are evicted whatever
// their budgets are.
func evictionCases() []Case {
	evict := func(id, title, why string, check collectionCheck) Case {
		return ifServed("v1", "pods/eviction", onPods(Case{ID: id, Level: Must, Title: title, Why: why, Source: docEviction}, check))
	}
	return []Case{
		evict("SU-14/evicts", "an eviction deletes a pod that no budget protects", "nodes are drained this way",
			func(ctx context.Context, s *session, c collection) error {
				if _, err := c.createWithRetry(ctx, c.unscheduledPod("a")); err != nil {
					return err
				}
				if err := s.expect(ctx, c.eviction(), isActionSuccess); err != nil {
					return err
				}
				return c.expectNotFound(ctx, "a")
			}),
		evict("SU-14/pending", "a pod that does not run is evicted whatever its budget is", "the budget does not count it",
			func(ctx context.Context, s *session, c collection) error {
				if err := c.createWithBudgets(ctx, c.unscheduledPod("a"), "one", "two"); err != nil {
					return err
				}
				if err := s.expect(ctx, c.eviction(), isActionSuccess); err != nil {
					return err
				}
				return c.expectNotFound(ctx, "a")
			}),
		evict("SU-14/blocked", "an eviction that a budget does not allow is rejected, and a cause names the budget", "the client retries later",
			func(ctx context.Context, s *session, c collection) error {
				return c.expectEvictionRejected(ctx, failure{
					code: 429, reason: metav1.StatusReasonTooManyRequests, message: "Cannot evict pod as it would violate the pod's disruption budget.",
					causes: []metav1.StatusCause{{Type: "DisruptionBudget", Message: "The disruption budget one "}},
				}, "one")
			}),
		evict("SU-14/two", "the eviction of a pod with two budgets is rejected", "the API does not support it",
			func(ctx context.Context, s *session, c collection) error {
				return c.expectEvictionRejected(ctx, failure{
					code: 500, message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
				}, "one", "two")
			}),
		evict("SU-14/dry", "a dry run of an eviction keeps the pod", "users preview an eviction with it",
			func(ctx context.Context, s *session, c collection) error {
				if _, err := c.createWithRetry(ctx, c.unscheduledPod("a")); err != nil {
					return err
				}
				dry := c.eviction()
				dry.path += "?dryRun=All"
				if err := s.expect(ctx, dry, isActionSuccess); err != nil {
					return err
				}
				return s.expect(ctx, get(c.item("a")), code(200), value(nil, "metadata", "deletionTimestamp"))
			}),
		evict("SU-14/options", "an eviction applies the preconditions in its deleteOptions", "a new pod of the same name must not be evicted instead of the old one",
			func(ctx context.Context, s *session, c collection) error {
				if _, err := c.createWithRetry(ctx, c.unscheduledPod("a")); err != nil {
					return err
				}
				request := c.eviction()
				request.body.(object)["deleteOptions"] = object{"preconditions": object{"uid": "1"}}
				if err := s.expect(ctx, request, preconditionConflict(c, "a", "the UID in the precondition (1)").check); err != nil {
					return err
				}
				return s.expect(ctx, get(c.item("a")), code(200), value(nil, "metadata", "deletionTimestamp"))
			}),
		evict("SU-14/condition", "an evicted pod gets the condition DisruptionTarget", "controllers distinguish a drain from a plain deletion by it",
			func(ctx context.Context, s *session, c collection) error {
				if _, err := c.createWithRetry(ctx, c.boundPod("a")); err != nil { // a pod on a node has a grace period
					return err
				}
				if err := s.expect(ctx, c.eviction(), isActionSuccess); err != nil {
					return err
				}
				return s.expect(ctx, get(c.item("a")), code(200), hasDisruptionCondition)
			}),
		evict("SU-14/absent", "the eviction of a pod that does not exist is NotFound", "the client treats it as success",
			func(ctx context.Context, s *session, c collection) error {
				return s.expect(ctx, c.eviction(), notFound(c, "a").check)
			}),
		evict("SU-14/name", "an eviction must name the pod of the URL", "another pod could be evicted by mistake",
			func(ctx context.Context, s *session, c collection) error {
				if _, err := c.createWithRetry(ctx, c.unscheduledPod("a")); err != nil {
					return err
				}
				other := c.eviction()
				other.body = newObject("policy/v1", "Eviction", "b")
				if err := s.expect(ctx, other, badRequest("name in URL does not match name in Eviction object")); err != nil {
					return err
				}
				return s.expect(ctx, get(c.item("a")), code(200))
			}),
	}
}

// createWithBudgets creates budgets with these names that allow no disruptions, and a pod.
func (c collection) createWithBudgets(ctx context.Context, pod object, budgets ...string) error {
	labels := object{"app": "x"}
	for _, name := range budgets {
		budget := newObject("policy/v1", "PodDisruptionBudget", name)
		budget["spec"] = object{"minAvailable": 1, "selector": object{"matchLabels": labels}}
		if err := c.s.expect(ctx, post("/apis/policy/v1/namespaces/"+c.namespace+"/poddisruptionbudgets", budget), code(201)); err != nil {
			return err
		}
	}
	_, err := c.createWithRetry(ctx, pod.withMeta("labels", labels))
	return err
}

// expectEvictionRejected expects that a pod with the phase Running is not evicted with these
// budgets.
func (c collection) expectEvictionRejected(ctx context.Context, want failure, budgets ...string) error {
	if err := c.createWithBudgets(ctx, c.boundPod("a"), budgets...); err != nil {
		return err
	}
	running := object{"status": object{"phase": "Running"}}
	if err := c.s.expect(ctx, mergePatch(c.item("a")+"/status", running), code(200), field("Running", "status", "phase")); err != nil {
		return err
	}
	if err := c.s.expect(ctx, c.eviction(), want.check); err != nil {
		return err
	}
	return c.s.expect(ctx, get(c.item("a")), code(200), value(nil, "metadata", "deletionTimestamp"))
}

// hasDisruptionCondition expects the condition DisruptionTarget of an evicted pod.
func hasDisruptionCondition(r *response) error {
	var pod struct {
		Status struct{ Conditions []metav1.Condition }
	}
	if err := r.decode(&pod); err != nil {
		return err
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == "DisruptionTarget" && c.Status == metav1.ConditionTrue && c.Reason == "EvictionByEvictionAPI" {
			return nil
		}
	}
	return fmt.Errorf("expected the condition DisruptionTarget, True for EvictionByEvictionAPI, got %v", pod.Status.Conditions)
}
