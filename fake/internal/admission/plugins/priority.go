package plugins

import (
	"bytes"
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/admission"
)

var priorityClasses = schedulingv1.SchemeGroupVersion.WithResource("priorityclasses")

// priority sets the priority and the preemptionPolicy of pods by their PriorityClass, or by the one
// that is the default, and refuses a second default.
type priority struct {
	objects Objects
}

func newPriority(d Dependencies) admission.Interface { return &priority{d.Objects} }

func (p *priority) Name() string { return "Priority" }

func (p *priority) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create, admissionv1.Update) ||
		isWriteOf(attrs, priorityClasses, admissionv1.Create, admissionv1.Update)
}

func (p *priority) Admit(_ context.Context, attrs *admission.Attributes) error {
	pod, ok := attrs.Object.(*corev1.Pod)
	if !ok {
		return nil
	}
	if old, ok := attrs.OldObject.(*corev1.Pod); ok {
		keepPriority(pod, old)
		return nil
	}
	class, err := p.classOf(attrs, pod)
	if err != nil {
		return err
	}
	name, value, policy := "", int32(0), new(corev1.PreemptLowerPriority)
	if class != nil {
		name, value, policy = class.Name, class.Value, class.PreemptionPolicy
	}
	pod.Spec.PriorityClassName = name
	if set := pod.Spec.Priority; set != nil && *set != value {
		return forbiddenf(attrs, "the integer value of priority (%d) must not be provided in pod spec; "+
			"priority admission controller computed %d from the given PriorityClass name", *set, value)
	}
	pod.Spec.Priority = &value
	if policy == nil {
		return nil
	}
	if set := pod.Spec.PreemptionPolicy; set != nil && *set != *policy {
		return forbiddenf(attrs, "the string value of PreemptionPolicy (%s) must not be provided in pod spec; "+
			"priority admission controller computed %s from the given PriorityClass name", *set, *policy)
	}
	pod.Spec.PreemptionPolicy = policy
	return nil
}

// keepPriority sets what an update of a pod leaves out.
func keepPriority(pod, old *corev1.Pod) {
	if pod.Spec.Priority == nil {
		pod.Spec.Priority = old.Spec.Priority
	}
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = old.Spec.PreemptionPolicy
	}
}

// classOf returns the PriorityClass of a new pod, nil without a class and a default.
func (p *priority) classOf(attrs *admission.Attributes, pod *corev1.Pod) (*schedulingv1.PriorityClass, error) {
	name := pod.Spec.PriorityClassName
	if name == "" {
		return p.defaultClass()
	}
	obj, err := p.objects.Get(priorityClasses, "", name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, forbiddenf(attrs, "no PriorityClass with name %v was found", name)
	case err != nil:
		return nil, fmt.Errorf("failed to resolve PriorityClass with name %s: %w", name, err)
	}
	return obj.(*schedulingv1.PriorityClass), nil
}

// isGlobalDefault is in the encoding of every PriorityClass that is the default.
var isGlobalDefault = []byte(`"globalDefault":true`)

// defaultClass returns the PriorityClass that is the default, nil if there is none. Of several, it
// is the one with the lowest value.
func (p *priority) defaultClass() (found *schedulingv1.PriorityClass, err error) {
	for rec := range p.objects.Records(priorityClasses, "") {
		if !bytes.Contains(rec.Data, isGlobalDefault) {
			continue
		}
		obj, err := p.objects.Decode(priorityClasses, rec)
		if err != nil {
			return nil, err
		}
		class := obj.(*schedulingv1.PriorityClass)
		if class.GlobalDefault && (found == nil || found.Value > class.Value) {
			found = class
		}
	}
	return found, nil
}

func (p *priority) Validate(_ context.Context, attrs *admission.Attributes) error {
	class, ok := attrs.Object.(*schedulingv1.PriorityClass)
	if !ok || !class.GlobalDefault {
		return nil
	}
	found, err := p.defaultClass()
	if err != nil {
		return fmt.Errorf("failed to get default priority class: %w", err)
	}
	if found != nil && (attrs.Operation == admissionv1.Create || found.Name != class.Name) {
		return forbiddenf(attrs, "PriorityClass %v is already marked as default. Only one default can exist", found.Name)
	}
	return nil
}
