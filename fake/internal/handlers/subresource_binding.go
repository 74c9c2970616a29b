package handlers

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/status"
)

// bind assigns a pod to a node (SU-13), at pods/NAME/binding or at bindings, where only the body
// has the name. As on a real server, the nodeName has no owner in managedFields.
func (a *API) bind(q *request) error {
	body := q.res
	if q.sub != nil {
		body = q.sub.BodyResource()
	}
	opts, obj, admission, err := a.decodePost(q.withBodyResource(body))
	if err != nil {
		return err
	}
	binding := obj.(*corev1.Binding)
	if name := q.info.Name; name != "" && name != binding.Name {
		return apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if errs := validateBinding(binding); len(errs) > 0 {
		return errs.ToAggregate() // a real server does not return a 422 either
	}
	if err := admission.validate(binding, nil); err != nil {
		return err
	}
	if err := status.InvalidName(binding.Name); err != nil {
		return err
	}
	pods := a.types.Table().Lookup("", "v1", "pods")
	_, err = a.store.GuaranteedUpdate(q.r.Context(), pods, codec.Key(pods, q.namespace(), binding.Name), isDryRun(opts.DryRun), func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(pods.GroupResource(), binding.Name)
		}
		pod := old.(*corev1.Pod)
		if err := checkBindingPreconditions(binding, pod); err != nil {
			return nil, err
		}
		return pod, assignPod(pod, binding, a.clock.Timestamp())
	})
	if err != nil {
		return err
	}
	return q.replyStatus(status.Created())
}

func validateBinding(b *corev1.Binding) (errs field.ErrorList) {
	path := field.NewPath("target")
	if kind := b.Target.Kind; kind != "" && kind != "Node" {
		errs = append(errs, field.NotSupported(path.Child("kind"), kind, []string{"Node", "<empty>"}))
	}
	switch kind, name := b.Target.Kind, b.Target.Name; {
	case name == "":
		errs = append(errs, field.Required(path.Child("name"), ""))
	case kind == "" || kind == "Node":
		for _, message := range validation.IsDNS1123Subdomain(name) {
			errs = append(errs, field.Invalid(path.Child("name"), name, message))
		}
	}
	return errs
}

// checkBindingPreconditions returns a Conflict if pod has another uid or resourceVersion than the
// binding, where they are preconditions.
func checkBindingPreconditions(b *corev1.Binding, pod *corev1.Pod) error {
	conflict := func(field string, sent, stored any) error {
		path := "/registry/pods/" + pod.Namespace + "/" + pod.Name
		return status.StoragePreconditionFailed(schema.GroupResource{Resource: "pods"}, pod.Name, path, field, sent, stored)
	}
	switch {
	case b.UID != "" && b.UID != pod.UID:
		return conflict("UID", b.UID, pod.UID)
	case b.ResourceVersion != "" && b.ResourceVersion != pod.ResourceVersion:
		return conflict("ResourceVersion", b.ResourceVersion, pod.ResourceVersion)
	}
	return nil
}

// assignPod applies a binding to pod. The error is a Conflict if the pod cannot be assigned.
func assignPod(pod *corev1.Pod, b *corev1.Binding, now metav1.Time) error {
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
		return status.PodNotAssignable(pod.Name, problem)
	}
	pod.Spec.NodeName = b.Target.Name
	pod.Status.NominatedNodeName = ""
	if pod.Annotations == nil && len(b.Annotations) > 0 {
		pod.Annotations = map[string]string{}
	}
	maps.Copy(pod.Annotations, b.Annotations)
	core.DropInitContainerAnnotations(pod.Annotations)
	if pod.Labels == nil && len(b.Labels) > 0 {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, b.Labels) // the topology of the node
	setPodCondition(pod, now, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	return nil
}

// setPodCondition sets a condition in the status of pod. lastTransitionTime becomes now if the
// status of the condition changes.
func setPodCondition(pod *corev1.Pod, now metav1.Time, c corev1.PodCondition) {
	c.LastTransitionTime = now
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
