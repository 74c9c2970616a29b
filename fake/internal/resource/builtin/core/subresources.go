package core

import (
	"context"

	"cmp"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
)

// podSubresources returns the subresources of pods. A log and the connections need a kubelet.
func podSubresources() []resource.Subresource {
	connect := func(name, options string) resource.Subresource {
		return resource.Subresource{
			Name: name, IsConnect: true, Verbs: []string{"create", "get"},
			Kind: schema.GroupVersionKind{Version: "v1", Kind: options},
		}
	}
	return []resource.Subresource{
		connect("attach", "PodAttachOptions"),
		{Name: "binding", Verbs: []string{"create"}, Kind: schema.GroupVersionKind{Version: "v1", Kind: "Binding"}},
		ephemeralContainersSubresource(),
		{
			Name: "eviction", Verbs: []string{"create"},
			Kind: policyv1.SchemeGroupVersion.WithKind("Eviction"), ConvertAccepted: convertEviction,
		},
		connect("exec", "PodExecOptions"),
		{Name: "log", Verbs: []string{"get"}},
		connect("portforward", "PodPortForwardOptions"),
		proxySubresource("PodProxyOptions"),
		resizeSubresource(),
		podStatusSubresource(),
	}
}

// convertEviction converts an Eviction of policy/v1beta1, which a server still accepts although it
// does not serve that version.
func convertEviction(sent runtime.Object) runtime.Object {
	if old, ok := sent.(*policyv1beta1.Eviction); ok {
		return &policyv1.Eviction{ObjectMeta: old.ObjectMeta, DeleteOptions: old.DeleteOptions}
	}
	return nil
}

// tokenSubresource issues tokens for a service account.
func tokenSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "token", Verbs: []string{"create"},
		Kind:        authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"),
		SetDefaults: resource.Defaults(setTokenRequestDefaults),
	}
}

// setTokenRequestDefaults sets the lifetime to an hour.
func setTokenRequestDefaults(request *authenticationv1.TokenRequest) {
	if request.Spec.ExpirationSeconds == nil {
		request.Spec.ExpirationSeconds = new(int64(60 * 60))
	}
}

// proxySubresource forwards requests to an HTTP server in the cluster.
func proxySubresource(options string) resource.Subresource {
	return resource.Subresource{
		Name: "proxy", IsConnect: true,
		Kind:  schema.GroupVersionKind{Version: "v1", Kind: options},
		Verbs: []string{"create", "delete", "get", "patch", "update"},
	}
}

// serviceStatusSubresource is the status subresource with warnings.
func serviceStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource()
	s.WarningsOnUpdate = resource.UpdateWarnings(serviceStatusWarnings)
	return s
}

// podStatusSubresource keeps the owner references, ignores a deletionTimestamp, and restores what
// old kubelets omit from the status: the quality of service class, the observed generations
// (KEP-5067), and the claims that a scheduler allocated (kubernetes/kubernetes#139876).
func podStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource("metadata.ownerReferences")
	s.ResetFields = append(s.ResetFields, "metadata.deletionTimestamp")
	s.PrepareForUpdate = resource.OnUpdate(func(_ context.Context, pod, old *corev1.Pod) {
		pod.Spec, pod.OwnerReferences, pod.DeletionTimestamp = old.Spec, old.OwnerReferences, old.DeletionTimestamp
		newStatus, oldStatus := &pod.Status, &old.Status
		newStatus.QOSClass = cmp.Or(newStatus.QOSClass, oldStatus.QOSClass)
		newStatus.ObservedGeneration = cmp.Or(newStatus.ObservedGeneration, oldStatus.ObservedGeneration)
		copyObservedGenerations(newStatus.Conditions, oldStatus.Conditions)
		keepClaimStatuses(newStatus, oldStatus)
		dropDisabledPodStatusFields(newStatus, oldStatus)
	})
	s.ValidateUpdate = resource.UpdateValidationWithContext(validatePodStatusUpdate)
	return s
}

// copyObservedGenerations sets the generations of conditions that have none to those of
// oldConditions. Conditions of equal type are matched by their order.
func copyObservedGenerations(conditions, oldConditions []corev1.PodCondition) {
	seen := map[corev1.PodConditionType][]int64{}
	for _, c := range oldConditions {
		seen[c.Type] = append(seen[c.Type], c.ObservedGeneration)
	}
	for i := range conditions {
		c := &conditions[i]
		if before := seen[c.Type]; len(before) > 0 {
			c.ObservedGeneration = cmp.Or(c.ObservedGeneration, before[0])
			seen[c.Type] = before[1:]
		}
	}
}

// keepClaimStatuses restores what is known about the claims of a pod if the status has no field for
// it. A list that is empty removes what is known.
func keepClaimStatuses(status, old *corev1.PodStatus) {
	if status.ResourceClaimStatuses == nil {
		status.ResourceClaimStatuses = old.ResourceClaimStatuses
	}
	if status.ExtendedResourceClaimStatus == nil {
		status.ExtendedResourceClaimStatus = old.ExtendedResourceClaimStatus
	}
	if status.NodeAllocatableResourceClaimStatuses == nil {
		status.NodeAllocatableResourceClaimStatuses = old.NodeAllocatableResourceClaimStatuses
	}
}
