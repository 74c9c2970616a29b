package quota

import (
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var resourceClaims = schema.GroupResource{Group: resourcev1.GroupName, Resource: "resourceclaims"}

// resourceClaimEvaluator returns the evaluator of ResourceClaims. Their devices count by class, and
// as the extended resource of the class, together with those that pods request. stored is nil if
// neither a usage nor the names of extended resources are needed.
func resourceClaimEvaluator(stored Lister) *evaluator {
	count := countName(resourceClaims)
	d := &devices{stored: stored, listed: map[schema.GroupResource][]runtime.Object{}, classes: sync.OnceValue(func() map[string]string {
		if stored == nil {
			return nil
		}
		return stored.DeviceClasses()
	})}
	return &evaluator{
		handles: isCreateOrUpdate,
		matches: func(name corev1.ResourceName) bool {
			return name == count || strings.HasSuffix(string(name), corev1.ResourceClaimsPerClass) || d.isExtendedResource(name)
		},
		counted: []corev1.ResourceName{count},
		usage: func(obj runtime.Object, now time.Time) corev1.ResourceList {
			list, claim := corev1.ResourceList{count: one()}, obj.(*resourcev1.ResourceClaim)
			for _, request := range claim.Spec.Devices.Requests {
				add(list, deviceUsage(&request))
			}
			add(list, increase(d.extendedUsage(list), d.ownerUsage(claim, now)))
			return list
		},
	}
}

// ClassesByName returns DeviceClasses in the form of Lister.
func ClassesByName(classes []runtime.Object) map[string]string {
	byName := make(map[string]string, len(classes))
	for _, obj := range classes {
		class := obj.(*resourcev1.DeviceClass)
		if byName[class.Name] = ""; class.Spec.ExtendedResourceName != nil {
			byName[class.Name] = *class.Spec.ExtendedResourceName
		}
	}
	return byName
}

// devices finds what the ResourceClaims of one namespace have to do with extended resources.
type devices struct {
	stored Lister
	listed map[schema.GroupResource][]runtime.Object // by list
	// classes returns the extended resources by DeviceClass, "" for a class without one.
	classes func() map[string]string
}

// isExtendedResource reports whether a name of spec.hard is about an extended resource whose
// devices are those of a DeviceClass.
func (d *devices) isExtendedResource(name corev1.ResourceName) bool {
	request, ok := extendedRequest(name)
	if !ok {
		return false
	}
	for class, extended := range d.classes() {
		if request == resourcev1.ResourceDeviceClassPrefix+class || request == extended {
			return true
		}
	}
	return false
}

// extendedUsage returns the devices of a usage as extended resources. Every class has the one with
// its name, and may have another one.
func (d *devices) extendedUsage(usage corev1.ResourceList) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range names(usage) {
		class, ok := strings.CutSuffix(string(name), corev1.ResourceClaimsPerClass)
		if !ok {
			continue
		}
		list[corev1.ResourceName(corev1.ResourceImplicitExtendedClaimsPerClass+class)] = usage[name]
		if extended := d.classes()[class]; extended != "" {
			list[corev1.ResourceName(corev1.DefaultResourceRequestsPrefix+extended)] = usage[name]
		}
	}
	return list
}

// ownerUsage returns the usage of the pod for whose extended resources a scheduler has created a
// claim, nil for other claims: what the pod requests counts already.
func (d *devices) ownerUsage(claim *resourcev1.ResourceClaim, now time.Time) corev1.ResourceList {
	owner := ownerOfExtended(claim)
	if owner == nil {
		return nil
	}
	pods, err := d.list(schema.GroupResource{Resource: "pods"}, claim.Namespace)
	i := slices.IndexFunc(pods, func(obj runtime.Object) bool {
		pod := obj.(*corev1.Pod)
		return pod.Name == owner.Name && pod.UID == owner.UID
	})
	if err != nil || i < 0 {
		return nil
	}
	pod := pods[i].(*corev1.Pod)
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil {
		if status.ResourceClaimName != claim.Name {
			return nil
		}
	} else if d.isPreceded(claim, owner.UID) {
		return nil
	}
	return podUsage(pod, now)
}

// list returns the objects of a resource, which it reads once for all claims.
func (d *devices) list(gr schema.GroupResource, namespace string) ([]runtime.Object, error) {
	if objects, ok := d.listed[gr]; ok {
		return objects, nil
	}
	objects, err := d.stored.List(gr, namespace)
	if err == nil {
		d.listed[gr] = objects
	}
	return objects, err
}

// ownerOfExtended returns the reference to the pod for whose extended resources a claim is, nil for
// other claims.
func ownerOfExtended(claim *resourcev1.ResourceClaim) *metav1.OwnerReference {
	owner := metav1.GetControllerOfNoCopy(claim)
	if claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] != "true" || owner == nil || owner.Kind != "Pod" || owner.APIVersion != "v1" {
		return nil
	}
	return owner
}

// isPreceded reports whether there is an earlier claim for the extended resources of the same pod,
// or one of the same time whose name is lower.
func (d *devices) isPreceded(claim *resourcev1.ResourceClaim, pod types.UID) bool {
	claims, err := d.list(resourceClaims, claim.Namespace)
	return err != nil || slices.ContainsFunc(claims, func(obj runtime.Object) bool {
		other := obj.(*resourcev1.ResourceClaim)
		if owner := ownerOfExtended(other); owner == nil || owner.UID != pod {
			return false
		}
		if c := other.CreationTimestamp.Time.Compare(claim.CreationTimestamp.Time); c != 0 {
			return c < 0
		}
		return other.Name < claim.Name
	})
}

// deviceUsage returns the devices of a request by class. Of alternatives, each class counts with
// the one that has the most.
func deviceUsage(request *resourcev1.DeviceRequest) corev1.ResourceList {
	list := corev1.ResourceList{}
	atLeast := func(class string, mode resourcev1.DeviceAllocationMode, count int64) {
		if mode == resourcev1.DeviceAllocationModeAll {
			count = resourcev1.AllocationResultsMaxSize
		}
		name := corev1.ResourceName(class + corev1.ResourceClaimsPerClass)
		if known := list[name]; known.Value() < count {
			list[name] = *apiresource.NewQuantity(count, apiresource.DecimalSI)
		}
	}
	if exact := request.Exactly; exact != nil {
		atLeast(exact.DeviceClassName, exact.AllocationMode, exact.Count)
	}
	for _, one := range request.FirstAvailable {
		atLeast(one.DeviceClassName, one.AllocationMode, one.Count)
	}
	return list
}
