package handlers

import (
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/status"
)

// bind assigns a pod to a node (SU-13): at pods/NAME/binding, or at bindings, where
// the name stands in the body only. As on a real server nobody owns the nodeName.
func (a *API) bind(q *request) error {
	body := q.res
	if q.sub != nil {
		body = q.sub.BodyResource()
	}
	opts, sent, admit, err := a.decodePost(q.withBodyResource(body))
	if err != nil {
		return err
	}
	binding := sent.(*corev1.Binding)
	switch name := q.info.Name; {
	case name == "" && binding.Name == "":
		return apierrors.NewBadRequest("Name parameter required.")
	case name != "" && name != binding.Name:
		return apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if errs := validateBinding(binding); len(errs) > 0 {
		return errs.ToAggregate() // no 422 on a real server either
	}
	if err := admit.validate(binding, nil); err != nil {
		return err
	}
	pods := a.types.Table().Lookup("", "v1", "pods")
	_, err = a.updateStore(pods, codec.Key(pods, q.namespace(), binding.Name), isDryRun(opts.DryRun), func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(pods.GroupResource(), binding.Name)
		}
		pod := old.(*corev1.Pod)
		if err := checkBindingPreconditions(binding, pod); err != nil {
			return nil, err
		}
		return pod, assignPod(pod, binding, a.now())
	})
	if err != nil {
		return err
	}
	return q.replyStatus(status.Created())
}

// decodePost reads the options and the body of a POST that creates no object of its
// own, refuses it in a namespace that does not take any (NS-01, NS-02), and lets the
// plugins change it. That they allow it is left to be asked.
func (a *API) decodePost(q *request) (opts metav1.CreateOptions, sent runtime.Object, admit *admissionRunner, err error) {
	if _, err := q.readBody(); err != nil { // its size comes before the options (CR-14)
		return opts, nil, nil, err
	}
	if err := q.decodeOptions(&opts); err != nil {
		return opts, nil, nil, err
	}
	if err := invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(&opts)); err != nil {
		return opts, nil, nil, err
	}
	if sent, err = q.decodeBody(opts.FieldValidation); err != nil {
		return opts, nil, nil, err
	}
	if err := q.ensureNamespace(accessor(sent)); err != nil {
		return opts, nil, nil, err
	}
	if !isLocalReview(q.res) {
		if err := a.checkNamespaceActive(q.parent, q.namespace(), accessor(sent)); err != nil {
			return opts, nil, nil, err
		}
	}
	admit = a.newAdmissionRunner(q, writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation})
	sent, err = admit.mutate(sent, nil)
	return opts, sent, admit, err
}

func validateBinding(b *corev1.Binding) (errs field.ErrorList) {
	path := field.NewPath("target")
	if kind := b.Target.Kind; kind != "" && kind != "Node" {
		errs = append(errs, field.NotSupported(path.Child("kind"), kind, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	return errs
}

// checkBindingPreconditions refuses a binding of another pod, or of another state of it, than
// the client saw: its uid and resourceVersion are preconditions.
func checkBindingPreconditions(b *corev1.Binding, pod *corev1.Pod) error {
	refuse := func(what string, sent, have any) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, pod.Name, fmt.Errorf(
			"StorageError: invalid object, Code: 4, Key: /registry/pods/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
				"Precondition failed: %s in precondition: %v, %s in object meta: %v", pod.Namespace, pod.Name, what, sent, what, have))
	}
	switch {
	case b.UID != "" && b.UID != pod.UID:
		return refuse("UID", b.UID, pod.UID)
	case b.ResourceVersion != "" && b.ResourceVersion != pod.ResourceVersion:
		return refuse("ResourceVersion", b.ResourceVersion, pod.ResourceVersion)
	}
	return nil
}

// assignPod does what a binding says, if the pod can still be assigned.
func assignPod(pod *corev1.Pod, b *corev1.Binding, at metav1.Time) error {
	var problem string
	switch {
	case pod.DeletionTimestamp != nil:
		problem = "pod " + pod.Name + " is being deleted, cannot be assigned to a host"
	case pod.Spec.NodeName != "":
		problem = fmt.Sprintf("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		problem = "pod " + pod.Name + " has non-empty .spec.schedulingGates"
	}
	if problem != "" {
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, pod.Name, errors.New(problem))
	}
	pod.Spec.NodeName = b.Target.Name
	pod.Status.NominatedNodeName = "" // the hint has served
	if pod.Annotations == nil && len(b.Annotations) > 0 {
		pod.Annotations = map[string]string{}
	}
	maps.Copy(pod.Annotations, b.Annotations)
	if pod.Labels == nil && len(b.Labels) > 0 {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, b.Labels) // the topology of the node
	setPodCondition(pod, at, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	return nil
}

// setPodCondition puts a condition of this generation into the status of a pod. The
// time of its last transition stays while its status does.
func setPodCondition(pod *corev1.Pod, at metav1.Time, c corev1.PodCondition) {
	c.ObservedGeneration, c.LastTransitionTime = pod.Generation, at
	for i := range pod.Status.Conditions {
		if old := &pod.Status.Conditions[i]; old.Type == c.Type {
			if old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			*old = c
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, c)
}
