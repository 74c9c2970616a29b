package conformance

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docScale = "CustomResourceDefinitions, Scale subresource; k/k registry/apps/deployment/storage"

// onScale returns two cases of one rule: one for Deployments, which are paused so that no pods run,
// and one for the custom resource with subresources. Both start with one replica.
func onScale(c Case, check collectionCheck) []Case {
	typed, custom := typedAndCustom(c)
	typed.check = func(ctx context.Context, s *session) error {
		if err := s.skipUnlessServed(ctx, "apps/v1", "deployments/scale"); err != nil {
			return err
		}
		in := collection{root: "/apis/apps/v1", apiVersion: "apps/v1", group: "apps", kind: "Deployment", resource: "deployments"}
		in, err := s.newCollection(ctx, in, nil)
		if err != nil {
			return err
		}
		if _, err := in.create(ctx, in.pausedDeployment("a")); err != nil {
			return err
		}
		return check(ctx, s, in)
	}
	custom = onScaleCRs(custom, func(ctx context.Context, s *session, c collection) error {
		if _, err := c.create(ctx, c.scaleCR("a")); err != nil {
			return err
		}
		return check(ctx, s, c)
	})
	return []Case{typed, custom}
}

// pausedDeployment returns the body of a Deployment. A paused Deployment has no ReplicaSet, and so
// no Pods.
func (c collection) pausedDeployment(name string) object {
	labels := object{"app": "x"}
	o := c.object(name)
	o["spec"] = object{
		"replicas": 1, "paused": true, "selector": object{"matchLabels": labels},
		"template": object{"metadata": object{"labels": labels}, "spec": c.unscheduledPod("")["spec"]},
	}
	return o
}

// scaleBody returns a Scale of the object "a" with this spec.
func scaleBody(spec object) object {
	o := newObject("autoscaling/v1", "Scale", "a")
	o["spec"] = spec
	return o
}

// isScale expects a Scale of the object "a" with this number of replicas.
func isScale(c collection, replicas int) expectation {
	return func(r *response) error {
		for _, e := range []expectation{
			code(200), kind("autoscaling/v1", "Scale"), field("a", "metadata", "name"), field(c.namespace, "metadata", "namespace"),
			value(replicas, "spec", "replicas"),
		} {
			if err := e(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// scaleCases returns the cases about the scale subresource (SU).
func scaleCases() []Case {
	return slices.Concat(
		onScale(Case{
			ID: "SU-08", Level: Must, Title: "the scale of an object has its name, uid, resourceVersion, replicas and selector",
			Why: "autoscalers read nothing else", Source: docScale,
		}, checkScale),
		[]Case{onScaleCRs(Case{
			ID: "SU-08/status/custom", Level: Must, Title: "the scale of a custom resource has the replicas and the selector of its status",
			Why: "autoscalers find the pods with it", Source: docScale,
		}, checkScaleStatus)},
		onScale(Case{
			ID: "SU-09", Level: Must, Title: "an update of the scale changes only the replicas, and increments the generation",
			Why: "autoscalers have permission for the scale only", Source: docScale,
		}, checkScaleUpdate),
		onScale(Case{
			ID: "SU-10", Level: Must, Title: "a scale of another kind is rejected, one without kind and apiVersion is a Scale",
			Why: "an object of another kind would be decoded as a scale to zero", Source: docScale,
		}, checkScaleOfOtherKind),
		onScale(Case{
			ID: "SU-11/zero", Level: Must, Title: "PUT of a scale without replicas sets zero replicas",
			Why: "zero is omitted in the encoding of a scale", Source: docScale,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.expect(ctx, put(c.item("a")+"/scale", scaleBody(object{})), code(200), kind("autoscaling/v1", "Scale"), value(nil, "spec", "replicas")); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), value(0, "spec", "replicas"))
		}),
		[]Case{onScaleCRs(Case{
			ID: "SU-11/unset/custom", Level: Must, Title: "a custom resource without replicas has no scale until replicas are set",
			Why: "an unset value must not be treated as zero", Source: docScale,
		}, checkUnsetScale)},
		onScale(Case{
			ID: "SU-12/stale", Level: Must, Title: "a scale update with an older resourceVersion is rejected",
			Why: "two autoscalers must not overwrite each other", Source: docScale,
		}, checkStaleScale),
		onScale(Case{
			ID: "SU-12/unset", Level: Must, Title: "a scale update without a resourceVersion overwrites",
			Why: "kubectl scale sends no resourceVersion", Source: docScale,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.expect(ctx, put(c.item("a")+"/scale", scaleBody(object{"replicas": 3})), isScale(c, 3)); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), value(3, "spec", "replicas"))
		}),
		onScale(Case{
			ID: "SU-12/negative", Level: Must, Title: "a scale with negative replicas is rejected",
			Why: "controllers rely on it", Source: docScale,
		}, checkNegativeScale),
		onScale(Case{
			ID: "SU-16/scale", Level: Must, Title: "the manager of a scale update owns the replicas, with the subresource",
			Why: "an apply of the object conflicts with the autoscaler", Source: docSubresourceManager,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.expect(ctx, put(c.item("a")+"/scale?fieldManager=scaler", scaleBody(object{"replicas": 3})), code(200)); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), hasManagedFields("scaler", "scale", `{"f:spec":{"f:replicas":{}}}`))
		}),
	)
}

// retryIfChanged repeats a check that failed because a controller changed the object.
func retryIfChanged(check func() error) error {
	var err error
	for range 5 {
		if err = check(); err == nil {
			break
		}
	}
	return err
}

func checkScale(ctx context.Context, s *session, c collection) error {
	selector := any(nil)
	if c.kind == "Deployment" {
		selector = "app=x"
	}
	return retryIfChanged(func() error {
		o, err := s.doObject(ctx, get(c.item("a")), code(200))
		if err != nil {
			return err
		}
		return s.expect(ctx, get(c.item("a")+"/scale"), isScale(c, 1), field(string(o.UID), "metadata", "uid"), atResourceVersion(o.ResourceVersion),
			hasField("metadata", "creationTimestamp"), value(0, "status", "replicas"), value(selector, "status", "selector"))
	})
}

func checkScaleStatus(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.scaleCR("a")); err != nil {
		return err
	}
	status := object{"status": object{"replicas": 4, "selector": "app=y"}}
	if err := s.expect(ctx, mergePatch(c.item("a")+"/status", status), code(200)); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")+"/scale"), isScale(c, 1), value(4, "status", "replicas"), field("app=y", "status", "selector"))
}

func checkScaleUpdate(ctx context.Context, s *session, c collection) error {
	var before object
	r, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	if err := r.decode(&before); err != nil {
		return err
	}
	sent := scaleBody(object{"replicas": 3}).withLabel("app", "y")
	sent["status"] = object{"replicas": 7, "selector": "app=y"}
	patch := object{"spec": object{"replicas": 5}, "status": object{"replicas": 7}, "metadata": object{"labels": object{"app": "y"}}}
	for i, one := range []struct {
		call     call
		replicas int
	}{{put(c.item("a")+"/scale", sent), 3}, {mergePatch(c.item("a")+"/scale", patch), 5}} {
		if err := s.expect(ctx, one.call, isScale(c, one.replicas), value(0, "status", "replicas")); err != nil {
			return err
		}
		spec := before["spec"].(map[string]any)
		spec["replicas"] = one.replicas
		err := s.expect(ctx, get(c.item("a")), code(200), value(spec, "spec"), value(i+2, "metadata", "generation"), value(nil, "metadata", "labels"))
		if err != nil {
			return err
		}
	}
	return nil
}

func checkScaleOfOtherKind(ctx context.Context, s *session, c collection) error {
	want := failure{code: 400, reason: metav1.StatusReasonBadRequest}
	switch c.kind {
	case "Deployment":
		want.contains = `Deployment in version "v1" cannot be handled as a Scale`
	case "Dial": // the error of custom resources is about the type
		want.contains = "no kind is registered for the type v1.Scale in scheme"
	}
	body := c.object("a")
	body["spec"] = object{"replicas": 3}
	if err := s.expect(ctx, put(c.item("a")+"/scale", body), want.check); err != nil {
		return err
	}
	untyped := object{"metadata": object{"name": "a"}, "spec": object{"replicas": 3}}
	return s.expectAll(ctx,
		send(get(c.item("a")), code(200), value(1, "spec", "replicas")),
		send(put(c.item("a")+"/scale", untyped), isScale(c, 3)),
	)
}

func checkUnsetScale(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	const text = `the spec replicas field ".spec.replicas" does not exist`
	err := s.expect(ctx, get(c.item("a")+"/scale"), failure{
		code: 500, reason: metav1.StatusReasonInternalError, message: "Internal error occurred: " + text, causes: []metav1.StatusCause{{Message: text}},
	}.check)
	if err != nil {
		return err
	}
	err = s.expect(ctx, mergePatch(c.item("a")+"/scale", object{}), badRequest(`the spec replicas field ".spec.replicas" cannot be empty`))
	if err != nil {
		return err
	}
	return s.expect(ctx, mergePatch(c.item("a")+"/scale", object{"spec": object{"replicas": 2}}), isScale(c, 2))
}

func checkStaleScale(ctx context.Context, s *session, c collection) error {
	old, err := s.doObject(ctx, get(c.item("a")+"/scale"), code(200))
	if err != nil {
		return err
	}
	at := func(version string, replicas int) call {
		return put(c.item("a")+"/scale", scaleBody(object{"replicas": replicas}).withMeta("resourceVersion", version))
	}
	if err := s.expect(ctx, put(c.item("a")+"/scale", scaleBody(object{"replicas": 3})), isScale(c, 3)); err != nil {
		return err
	}
	if err := s.expect(ctx, at(old.ResourceVersion, 4), modifiedConflict(c, "a").check); err != nil {
		return err
	}
	if err := s.expect(ctx, get(c.item("a")+"/scale"), isScale(c, 3)); err != nil {
		return err
	}
	return retryIfChanged(func() error {
		now, err := s.doObject(ctx, get(c.item("a")+"/scale"), code(200))
		if err != nil {
			return err
		}
		return s.expect(ctx, at(now.ResourceVersion, 5), isScale(c, 5))
	})
}

func checkNegativeScale(ctx context.Context, s *session, c collection) error {
	want := failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "a", Group: "autoscaling", Kind: "Scale"},
		causes: []metav1.StatusCause{{
			Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.replicas", Message: "Invalid value: -1: must be greater than or equal to 0",
		}},
	}
	if c.kind == "Dial" { // custom resources have another message
		want.details = &metav1.StatusDetails{Name: "a", Group: c.group, Kind: c.kind}
		want.causes[0].Field, want.causes[0].Message = ".spec.replicas", "Invalid value: -1: should be a non-negative integer"
	}
	if err := s.expect(ctx, put(c.item("a")+"/scale", scaleBody(object{"replicas": -1})), want.check); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), value(1, "spec", "replicas"))
}
