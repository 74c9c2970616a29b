package conformance

import (
	"context"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docGrace = "API conventions, Verbs on Resources; apiserver rest/delete.go"

// deleteGraceCases returns the cases about grace periods (DL). Pods on a node have one; the node of
// these pods does not exist.
func deleteGraceCases() []Case {
	grace := func(id, title, why string, check func(ctx context.Context, s *session, c collection) error) Case {
		return onPods(Case{ID: id, Level: Must, Title: title, Why: why, Source: docGrace}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.createWithRetry(ctx, c.boundPod("a")); err != nil {
				return err
			}
			return check(ctx, s, c)
		})
	}
	return slices.Concat([]Case{
		grace("DL-22/given", "gracePeriodSeconds sets when the object is removed, and it exists until then",
			"its node stops the pod within that time", func(ctx context.Context, s *session, c collection) error {
				return c.deleteWithGrace(ctx, object{"gracePeriodSeconds": 60}, 60)
			}),
		grace("DL-22/default", "without gracePeriodSeconds the grace period of the object is used",
			"the author of a pod knows how long it needs", func(ctx context.Context, s *session, c collection) error {
				return c.deleteWithGrace(ctx, nil, 45)
			}),
		grace("DL-22/ended", "a finished pod has no grace period",
			"there is nothing left to stop", func(ctx context.Context, s *session, c collection) error {
				ended := object{"status": object{"phase": "Succeeded"}}
				if err := s.expect(ctx, mergePatch(c.item("a")+"/status", ended), code(200), field("Succeeded", "status", "phase")); err != nil {
					return err
				}
				if err := s.expect(ctx, delWithOptions(c.item("a"), object{"gracePeriodSeconds": 60}), code(200), isTerminating(0)); err != nil {
					return err
				}
				return c.expectNotFound(ctx, "a")
			}),
		grace("DL-23/now", "gracePeriodSeconds 0 removes the object immediately",
			"it is the only way to remove pods of a lost node", func(ctx context.Context, s *session, c collection) error {
				if err := s.expect(ctx, delWithOptions(c.item("a"), object{"gracePeriodSeconds": 0}), code(200), kind("v1", "Pod"), isTerminating(0)); err != nil {
					return err
				}
				return c.expectNotFound(ctx, "a")
			}),
		grace("DL-23/later", "gracePeriodSeconds 0 removes an object immediately whose grace period has started",
			"it is the only way to remove pods of a lost node", func(ctx context.Context, s *session, c collection) error {
				if err := s.expect(ctx, del(c.item("a")), code(200), isTerminating(45)); err != nil {
					return err
				}
				if err := s.expect(ctx, del(c.item("a")+"?gracePeriodSeconds=0"), code(200), kind("v1", "Pod"), isTerminating(0)); err != nil {
					return err
				}
				return c.expectNotFound(ctx, "a")
			}),
		grace("DL-23/events", "a pod that is removed immediately first gets a deletionTimestamp, and a watch sends both events",
			"clients that wait for the deletionTimestamp see it", func(ctx context.Context, s *session, c collection) error {
				w, err := watchFromNow(ctx, c, "")
				if err != nil {
					return err
				}
				defer w.close()
				if err := s.expect(ctx, del(c.item("a")+"?gracePeriodSeconds=0"), code(200)); err != nil {
					return err
				}
				terminating, err := w.want("MODIFIED", "a")
				if err != nil {
					return err
				}
				if seconds := terminating.meta.DeletionGracePeriodSeconds; terminating.meta.DeletionTimestamp == nil || seconds == nil || *seconds != 0 {
					return w.errorf("expected MODIFIED with a deletionTimestamp and no grace period, got %s", excerpt(terminating.Object))
				}
				_, err = w.want("DELETED", "a")
				return err
			}),
		grace("DL-24", "a started grace period can be shortened, but not extended",
			"clients rely on the announced time", checkShorterGrace),
		grace("DL-25", "a negative grace period means one second",
			"kube-apiserver stores it as one second", func(ctx context.Context, s *session, c collection) error {
				return s.expect(ctx, delWithOptions(c.item("a"), object{"gracePeriodSeconds": -5}), code(200), kind("v1", "Pod"), isTerminating(1))
			}),
	}, []Case{
		onPods(Case{
			ID: "DL-22/unbound", Level: Must, Title: "a pod without a node has no grace period, and its deletion returns it",
			Why: "there is no kubelet that would stop it", Source: "k/k registry/core/pod/strategy.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.createWithRetry(ctx, c.unscheduledPod("a")); err != nil {
				return err
			}
			err := s.expect(ctx, delWithOptions(c.item("a"), object{"gracePeriodSeconds": 60}), code(200), kind("v1", "Pod"), isTerminating(0))
			if err != nil {
				return err
			}
			return c.expectNotFound(ctx, "a")
		}),
		onPods(Case{
			ID: "DL-36/graceful", Level: Must, Title: "removing the last finalizer during the grace period does not remove the object",
			Why: "its node still runs it", Source: docStore,
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.createWithRetry(ctx, c.boundPod("a").withFinalizer()); err != nil {
				return err
			}
			if err := s.expect(ctx, del(c.item("a")), code(200), isTerminating(45), finalizers(finalizer)); err != nil {
				return err
			}
			if err := s.expect(ctx, c.removeFinalizers("a"), code(200), isTerminating(45)); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), isTerminating(45), value(nil, "metadata", "finalizers"))
		}),
	})
}

// deleteWithGrace deletes the pod with these options, and expects a grace period in seconds.
func (c collection) deleteWithGrace(ctx context.Context, options any, seconds int) error {
	r, err := c.s.do(ctx, delWithOptions(c.item("a"), options), code(200), kind("v1", "Pod"), isTerminating(seconds), value(2, "metadata", "generation"))
	if err != nil {
		return err
	}
	if err := r.expect(deletionIn(seconds)); err != nil {
		return err
	}
	return c.s.expect(ctx, get(c.item("a")), code(200), isTerminating(seconds))
}

// deletionIn expects a deletionTimestamp this many seconds after the response, with a tolerance of
// 5 s.
func deletionIn(seconds int) expectation {
	return func(r *response) error {
		sent, err := http.ParseTime(r.header.Get("Date"))
		if err != nil {
			return nil // the server sends no Date
		}
		var o metav1.PartialObjectMetadata
		if err := r.decode(&o); err != nil {
			return err
		}
		left := o.DeletionTimestamp.Sub(sent)
		if off := left - time.Duration(seconds)*time.Second; off.Abs() > 5*time.Second {
			return r.errorf("expected a deletionTimestamp in %d s, got %s, which is in %v", seconds, o.DeletionTimestamp, left)
		}
		return nil
	}
}

func checkShorterGrace(ctx context.Context, s *session, c collection) error {
	first, err := s.doObject(ctx, delWithOptions(c.item("a"), object{"gracePeriodSeconds": 60}), code(200), isTerminating(60))
	if err != nil {
		return err
	}
	for _, not := range []any{object{"gracePeriodSeconds": 90}, object{"gracePeriodSeconds": 60}, nil} {
		if err := s.expect(ctx, delWithOptions(c.item("a"), not), code(200), isTerminating(60), atResourceVersion(first.ResourceVersion)); err != nil {
			return err
		}
	}
	r, err := s.do(ctx, delWithOptions(c.item("a"), object{"gracePeriodSeconds": 30}), code(200), isTerminating(30))
	if err != nil {
		return err
	}
	var second metav1.PartialObjectMetadata
	if err := r.decode(&second); err != nil {
		return err
	}
	if by := first.DeletionTimestamp.Sub(second.DeletionTimestamp.Time); by != 30*time.Second {
		return r.errorf("expected a deletionTimestamp 30 s before %s, got %s", first.DeletionTimestamp, second.DeletionTimestamp)
	}
	return s.expect(ctx, get(c.item("a")), code(200), isTerminating(30), atResourceVersion(second.ResourceVersion))
}
