package quota

import (
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	volumehelper "k8s.io/component-helpers/storage/volume"
)

// isCreateOrUpdate is the handles of resources whose usage an update can increase.
func isCreateOrUpdate(w *Write) bool {
	return w.Subresource == "" && (w.Operation == admissionv1.Create || w.Operation == admissionv1.Update)
}

func serviceEvaluator() *evaluator {
	count := countName(schema.GroupResource{Resource: "services"})
	return &evaluator{
		handles: isCreateOrUpdate,
		matches: func(name corev1.ResourceName) bool {
			return name == count || name == corev1.ResourceServices || name == corev1.ResourceServicesNodePorts ||
				name == corev1.ResourceServicesLoadBalancers
		},
		counted: []corev1.ResourceName{count, corev1.ResourceServices},
		usage: func(obj runtime.Object, _ time.Time) corev1.ResourceList {
			list := corev1.ResourceList{count: one(), corev1.ResourceServices: one()}
			ports, balancers := serviceUsage(obj.(*corev1.Service))
			list[corev1.ResourceServicesNodePorts] = *apiresource.NewQuantity(ports, apiresource.DecimalSI)
			list[corev1.ResourceServicesLoadBalancers] = *apiresource.NewQuantity(balancers, apiresource.DecimalSI)
			return list
		},
	}
}

// serviceUsage returns how many node ports and load balancers a Service asks for.
func serviceUsage(service *corev1.Service) (ports, balancers int64) {
	ports = int64(len(service.Spec.Ports))
	switch service.Spec.Type {
	case corev1.ServiceTypeNodePort:
		return ports, 0
	case corev1.ServiceTypeLoadBalancer:
		if allocate := service.Spec.AllocateLoadBalancerNodePorts; allocate == nil || *allocate {
			return ports, 1
		}
		ports = 0
		for _, p := range service.Spec.Ports {
			if p.NodePort != 0 {
				ports++
			}
		}
		return ports, 1
	}
	return 0, 0
}

// storageClassInfix is between the storage class and the rest of a name that counts the claims of
// the class.
const storageClassInfix = ".storageclass.storage.k8s.io/"

func claimEvaluator() *evaluator {
	count := countName(schema.GroupResource{Resource: "persistentvolumeclaims"})
	return &evaluator{
		handles: isCreateOrUpdate,
		matches: func(name corev1.ResourceName) bool {
			if _, rest, ok := strings.Cut(string(name), storageClassInfix); ok {
				name = corev1.ResourceName(rest)
			}
			return name == count || name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
		},
		counted: []corev1.ResourceName{count, corev1.ResourcePersistentVolumeClaims},
		usage: func(obj runtime.Object, _ time.Time) corev1.ResourceList {
			claim := obj.(*corev1.PersistentVolumeClaim)
			list := corev1.ResourceList{corev1.ResourcePersistentVolumeClaims: one()}
			if size, ok := claimSize(claim); ok {
				list[corev1.ResourceRequestsStorage] = size
			}
			if class := volumehelper.GetPersistentVolumeClaimClass(claim); class != "" {
				for _, name := range names(list) {
					list[corev1.ResourceName(class+storageClassInfix)+name] = list[name]
				}
			}
			list[count] = one()
			return list
		},
		inScope: func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool {
			return scope.ScopeName == corev1.ResourceQuotaScopeVolumeAttributesClass &&
				isSelected(scope, attributesClasses(obj.(*corev1.PersistentVolumeClaim))...)
		},
	}
}

// claimSize returns the size of a claim in whole bytes: the larger one of what is requested and
// what is allocated.
func claimSize(claim *corev1.PersistentVolumeClaim) (size apiresource.Quantity, ok bool) {
	size, ok = claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if allocated := claim.Status.AllocatedResources[corev1.ResourceStorage]; ok && allocated.Cmp(size) > 0 {
		size = allocated
	}
	size = size.DeepCopy()
	size.RoundUp(0)
	return size, ok
}

// attributesClasses returns the VolumeAttributesClasses that a claim has or wants.
func attributesClasses(claim *corev1.PersistentVolumeClaim) (classes []string) {
	for _, name := range []*string{claim.Spec.VolumeAttributesClassName, claim.Status.CurrentVolumeAttributesClassName} {
		if name != nil {
			classes = append(classes, *name)
		}
	}
	if s := claim.Status.ModifyVolumeStatus; s != nil {
		classes = append(classes, s.TargetVolumeAttributesClassName)
	}
	return classes
}
