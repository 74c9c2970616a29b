package handlers

import (
	"cmp"
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

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/status"
)

// getScale returns the Scale of an object (SU-08).
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
		return apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
	}
	obj, err := a.decodeForGet(q.res, rec, opts.ResourceVersion)
	if err != nil {
		return err
	}
	scale, found, err := q.scaleFromObject(obj)
	if err != nil {
		return err
	}
	if !found {
		return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", q.res.Custom.Scale().SpecReplicasPath))
	}
	return q.withBodyResource(q.sub.BodyResource()).replyObject(http.StatusOK, scale)
}

// updateScale replaces the Scale of an object (SU-09, SU-12).
func (a *API) updateScale(q *request) error { return a.writeScale(q, (*request).parseUpdate) }

// patchScale patches the Scale of an object (PA-22).
func (a *API) patchScale(q *request) error { return a.writeScale(q, (*request).parsePatch) }

// writeScale serves an update or a patch of the Scale of an object, which parse parses.
func (a *API) writeScale(q *request, parse func(*request) (*updatedObjectInfo, error)) error {
	scaleRequest := q.withBodyResource(q.sub.BodyResource())
	info, err := parse(scaleRequest)
	if err != nil {
		return err
	}
	info.admission = a.newAdmissionRunner(scaleRequest, info.options)
	info.admission.scaleOf = q.scaleForReview
	_, result, err := a.guaranteedUpdate(q, &updatedObjectInfo{
		options:    info.options,
		admission:  info.admission,
		isAdmitted: true,
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			return q.applyScale(old, scaleRequest, info)
		},
	})
	if err != nil {
		return err
	}
	obj := cmp.Or(result.Stored, result.Object)
	if obj == nil {
		if obj, err = a.store.Decode(q.res, result.Event.Record); err != nil {
			return withoutReason(err)
		}
	}
	scale, _, err := q.scaleFromObject(obj) // without replicas if the schema drops them
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if result.Stored != nil { // without its resourceVersion
		scale.ResourceVersion = result.Event.Record.Revision.String()
	}
	return scaleRequest.replyObject(http.StatusOK, scale)
}

// scaleForReview returns the Scale of an object for validating admission.
func (q *request) scaleForReview(obj runtime.Object) (runtime.Object, error) {
	scale, _, err := q.scaleFromObject(obj)
	if err != nil { // a nil *Scale would not be a nil runtime.Object
		return nil, err
	}
	return scale, nil
}

// applyScale returns old with its Scale updated by info. Mutating admission runs on the Scale.
func (q *request) applyScale(old runtime.Object, scaleRequest *request, info *updatedObjectInfo) (runtime.Object, error) {
	m := resource.Accessor(old)
	handler, err := q.scaleHandler()
	if err != nil {
		return nil, err
	}
	before, found, err := q.scaleFromObject(old)
	if err != nil {
		return nil, err
	}
	if !found {
		before.Spec.Replicas = unsetReplicas
	}
	before.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale")) // a patch may change it
	if before.ManagedFields, err = handler.ToSubresource(old); err != nil {
		return nil, err
	}
	updated, err := info.admittedObject(scaleRequest, before)
	if err != nil {
		return nil, err
	}
	scale, ok := updated.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected input object type to be Scale, but %T", updated))
	}
	if q.res.Custom == nil { // custom resources are validated by their schema, and patches of their uid are ignored
		if err := validateScale(scale, m.GetName()); err != nil {
			return nil, err
		}
		if scale.UID != "" && scale.UID != m.GetUID() {
			gr := schema.GroupResource{Group: q.res.Group, Resource: q.res.Plural + "/scale"}
			return nil, status.PreconditionFailed(gr, m.GetName(), "UID", scale.UID, m.GetUID())
		}
	}
	obj := old.DeepCopyObject()
	if err := setReplicas(q.res, obj, scale.Spec.Replicas); err != nil {
		return nil, err
	}
	if err := handler.ToParent(obj, scale.ManagedFields); err != nil {
		return nil, err
	}
	if q.res.Custom == nil || scale.ResourceVersion != "" {
		resource.Accessor(obj).SetResourceVersion(scale.ResourceVersion)
	}
	return obj, nil
}

func validateScale(scale *autoscalingv1.Scale, name string) error {
	errs := validation.ValidateObjectMeta(&scale.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	for i, finalizer := range scale.Finalizers {
		errs = append(errs, validate.StandardFinalizer(finalizer, (*validate.Path)(nil).Child("metadata").Child("finalizers").Index(i))...)
	}
	if n := scale.Spec.Replicas; n < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), n, "must be greater than or equal to 0"))
	}
	return status.Invalid(schema.GroupKind{Group: autoscalingv1.GroupName, Kind: "Scale"}, name, errs)
}

// replicasField returns the field with the desired replicas of a built-in object.
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
	panic(fmt.Sprintf("%T has a Scale and no replicas", obj)) // a test covers every scale
}

// scaleFromBuiltin returns the Scale of a built-in object.
func scaleFromBuiltin(obj runtime.Object) (*autoscalingv1.Scale, error) {
	m := resource.Accessor(obj)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
		ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp(),
	}}
	scale.Spec.Replicas = 1 // the default of all built-in objects
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
