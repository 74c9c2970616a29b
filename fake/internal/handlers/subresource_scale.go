package handlers

import (
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// getScale shows how many replicas an object wants and has (SU-08).
func (a *API) getScale(q *request) error {
	var opts metav1.GetOptions
	if err := q.decodeOptions(&opts); err != nil {
		return err
	}
	if err := q.checkName(); err != nil {
		return err
	}
	view, err := a.viewAtLeast(q, opts.ResourceVersion)
	if err != nil {
		return err
	}
	rec := view.Get(q.key())
	if rec == nil {
		return scaleNotFound(q)
	}
	obj, err := a.objects.get(q.res, rec)
	if err != nil {
		return err
	}
	scale, err := q.scaleFromObject(obj)
	if err != nil {
		return err
	}
	return q.withBodyResource(q.sub.BodyResource()).replyObject(http.StatusOK, scale)
}

// updateScale replaces the number of replicas (SU-09, SU-12).
func (a *API) updateScale(q *request) error {
	scale := q.withBodyResource(q.sub.BodyResource())
	w, err := scale.parseUpdate()
	if err != nil {
		return err
	}
	return a.runScaleUpdate(q, scale, w)
}

// patchScale patches the Scale of an object as any object is patched (PA-22).
func (a *API) patchScale(q *request) error {
	scale := q.withBodyResource(q.sub.BodyResource())
	w, err := scale.parsePatch()
	if err != nil {
		return err
	}
	return a.runScaleUpdate(q, scale, w)
}

// runScaleUpdate commits a rewrite of the Scale of an object, and answers with it.
func (a *API) runScaleUpdate(q, scaleRequest *request, w *updatedObjectInfo) error {
	admit := a.newAdmissionRunner(scaleRequest, w.options)
	_, out, err := a.tryUpdate(q, &updatedObjectInfo{
		options:       w.options,
		mayCreate:     true, // so that it is asked where there is nothing to scale
		skipAdmission: true,
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			if old == nil {
				return nil, scaleNotFound(q)
			}
			return q.applyScale(old, func(before runtime.Object) (runtime.Object, error) {
				return w.objectToStore(scaleRequest, admit, before)
			}, admit)
		},
	})
	if err != nil {
		return err
	}
	obj := out.obj
	if e := out.event; e != nil && e.Record != nil {
		if obj, err = a.objects.get(q.res, e.Record); err != nil {
			return err
		}
	}
	scale, err := q.scaleFromObject(obj)
	if err != nil {
		return err
	}
	return q.withBodyResource(q.sub.BodyResource()).replyObject(http.StatusOK, scale)
}

// applyScale gives the object that a change of its Scale makes of it, if the plugins
// allow the Scale.
func (q *request) applyScale(old runtime.Object, next updateFunc, admit *admissionRunner) (runtime.Object, error) {
	m := accessor(old)
	entries := newScaleHandler(q.res, m.GetManagedFields())
	before, err := q.scaleBeforeUpdate(old)
	if err != nil {
		return nil, err
	}
	before.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale")) // a patch may change it
	if before.ManagedFields, err = entries.ToSubresource(); err != nil {
		return nil, err
	}
	changed, err := next(before)
	if err != nil {
		return nil, err
	}
	scale, ok := changed.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected input object type to be Scale, but %T", changed))
	}
	if q.res.Custom == nil { // whose schema has a word to say, and nobody else
		if err := validateScale(scale, m.GetName()); err != nil {
			return nil, err
		}
	}
	if scale.UID != "" && scale.UID != m.GetUID() {
		//lint:ignore ST1005 the words of a real server
		return nil, apierrors.NewConflict(scaleResource(q), m.GetName(), fmt.Errorf(
			"Precondition failed: UID in precondition: %v, UID in object meta: %v", scale.UID, m.GetUID()))
	}
	if err := admit.validate(scale, before); err != nil {
		return nil, err
	}
	obj := old.DeepCopyObject()
	if err := setReplicas(q.res, obj, scale.Spec.Replicas); err != nil {
		return nil, err
	}
	kept, err := entries.ToParent(scale.ManagedFields)
	if err != nil {
		return nil, err
	}
	accessor(obj).SetManagedFields(kept)
	if q.res.Custom == nil || scale.ResourceVersion != "" {
		accessor(obj).SetResourceVersion(scale.ResourceVersion)
	}
	return obj, nil
}

func validateScale(scale *autoscalingv1.Scale, name string) error {
	errs := validation.ValidateObjectMeta(&scale.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if n := scale.Spec.Replicas; n < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), n, "must be greater than or equal to 0"))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: autoscalingv1.GroupName, Kind: "Scale"}, name, errs)
}

// scaleResource is what errors about a Scale name: the kind is that of the parent.
func scaleResource(q *request) schema.GroupResource {
	if q.res.Custom != nil { // here the store itself answers
		return q.res.GroupResource()
	}
	return schema.GroupResource{Group: q.res.Group, Resource: q.res.Plural + "/scale"}
}

func scaleNotFound(q *request) error { return apierrors.NewNotFound(scaleResource(q), q.info.Name) }

// replicasField is where an object keeps how many it wants.
func replicasField(obj runtime.Object) **int32 {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &o.Spec.Replicas
	case *appsv1.StatefulSet:
		return &o.Spec.Replicas
	case *corev1.ReplicationController:
		return &o.Spec.Replicas
	}
	panic(fmt.Sprintf("%T has a scale and no replicas", obj)) // a test asks for every scale
}

// scaleFromObject makes the Scale of an object.
func scaleFromBuiltin(obj runtime.Object) (*autoscalingv1.Scale, error) {
	m := accessor(obj)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
		ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp(),
	}}
	scale.Spec.Replicas = 1 // the default of all that have it
	if n := *replicasField(obj); n != nil {
		scale.Spec.Replicas = *n
	}
	var selector *metav1.LabelSelector
	switch o := obj.(type) {
	case *appsv1.Deployment:
		scale.Status.Replicas, selector = o.Status.Replicas, o.Spec.Selector
	case *appsv1.ReplicaSet:
		scale.Status.Replicas, selector = o.Status.Replicas, o.Spec.Selector
	case *appsv1.StatefulSet:
		scale.Status.Replicas, selector = o.Status.Replicas, o.Spec.Selector
	case *corev1.ReplicationController:
		scale.Status.Replicas = o.Status.Replicas
		scale.Status.Selector = labels.SelectorFromSet(o.Spec.Selector).String()
		return scale, nil
	}
	if selector == nil {
		return scale, nil
	}
	text, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, err
	}
	scale.Status.Selector = text.String()
	return scale, nil
}
