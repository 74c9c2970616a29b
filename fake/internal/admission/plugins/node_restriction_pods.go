package plugins

import (
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/fake/internal/authz/node"
)

// storedPod returns a pod in the namespace of the write, or the NotFound of listed.
func (r nodeWrite) storedPod(name string) (*corev1.Pod, error) {
	obj, err := r.listed(pods, "pod", r.Namespace, name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Pod), nil
}

// pod limits writes of pods to those on the node.
func (r nodeWrite) pod() error {
	switch {
	case r.Subresource == "status":
		return r.podStatus()
	case r.Subresource == "eviction":
		return r.podEviction()
	case r.Subresource != "":
		return r.forbiddenf("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", r.Subresource)
	case r.Operation == admissionv1.Create:
		return r.newPod(r.Object.(*corev1.Pod))
	case r.Operation == admissionv1.Delete:
		return r.deletedPod()
	}
	return r.forbiddenf("unexpected operation %q, node %q can only create and delete mirror pods", r.Operation, r.node)
}

// deletedPod limits deletions to pods on the node. As in kube-apiserver, it reads the pod by the
// name in the path. That of a collection has no name, so that a kubelet deletes no pods with it.
func (r nodeWrite) deletedPod() error {
	pod, err := r.storedPod(r.Name)
	switch {
	case err != nil:
		return err
	case pod.Spec.NodeName != r.node:
		return r.forbiddenf("node %q can only delete pods with spec.nodeName set to itself", r.node)
	}
	return nil
}

// newPod limits new pods to mirror pods that refer to no other object.
func (r nodeWrite) newPod(pod *corev1.Pod) error {
	switch {
	case !isMirrorPod(pod):
		return r.forbiddenf("pod does not have %q annotation, node %q can only create mirror pods", corev1.MirrorPodAnnotationKey, r.node)
	case pod.Spec.NodeName != r.node:
		return r.forbiddenf("node %q can only create pods with spec.nodeName set to itself", r.node)
	case len(pod.OwnerReferences) > 1:
		return r.forbiddenf("node %q can only create pods with a single owner reference set to itself", r.node)
	case len(pod.OwnerReferences) == 0:
		return r.forbiddenf("node %q can only create pods with an owner reference set to itself", r.node)
	}
	owner := pod.OwnerReferences[0]
	switch {
	case owner.APIVersion != "v1" || owner.Kind != "Node" || owner.Name != r.node:
		return r.forbiddenf("node %q can only create pods with an owner reference set to itself", r.node)
	case owner.Controller == nil || !*owner.Controller:
		return r.forbiddenf("node %q can only create pods with a controller owner reference set to itself", r.node)
	case owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion:
		return r.forbiddenf("node %q must not set blockOwnerDeletion on an owner reference", r.node)
	}
	obj, err := r.listed(nodes, "node", "", r.node)
	if err != nil {
		return err
	}
	if uid := obj.(*corev1.Node).UID; owner.UID != uid {
		return r.forbiddenf("node %s UID mismatch: expected %s got %s", r.node, owner.UID, uid)
	}
	return r.checkReferences(pod)
}

// checkReferences refuses a pod that refers to objects of the API: its node could then read them.
func (r nodeWrite) checkReferences(pod *corev1.Pod) error {
	if what := objectReference(pod); what != "" {
		return r.forbiddenf("node %q can not create pods that reference %s", r.node, what)
	}
	return nil
}

// objectReference returns what the first reference of a pod to an object of the API is to, "" if it
// has none.
func objectReference(pod *corev1.Pod) string {
	names := node.References(pod)
	for _, plural := range []string{"serviceaccounts", "secrets", "configmaps"} {
		if len(names[plural]) > 0 {
			return plural
		}
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		return "resourceclaims"
	}
	for i := range pod.Spec.Volumes {
		if what := volumeReference(&pod.Spec.Volumes[i]); what != "" {
			return what
		}
	}
	return ""
}

// volumeReference is objectReference for a volume. Those to objects without a name remain to be
// found.
func volumeReference(v *corev1.Volume) string {
	switch {
	case v.ConfigMap != nil:
		return "configmaps (via configmap volumes)"
	case v.Secret != nil:
		return "secrets (via secret volumes)"
	case v.CSI != nil:
		return "csidrivers (via CSI volumes)"
	case v.Glusterfs != nil:
		return "endpoints (via glusterFS volumes)"
	case v.PersistentVolumeClaim != nil:
		return "persistentvolumeclaims"
	case v.Ephemeral != nil:
		return "persistentvolumeclaims (via ephemeral volumes)"
	case v.AzureFile != nil:
		return "secrets (via azureFile volumes)"
	case v.Projected == nil:
		return ""
	}
	for _, s := range v.Projected.Sources {
		switch {
		case s.ConfigMap != nil:
			return "configmaps (via projected volumes)"
		case s.Secret != nil:
			return "secrets (via projected volumes)"
		case s.ServiceAccountToken != nil:
			return "serviceaccounts (via projected volumes)"
		case s.ClusterTrustBundle != nil:
			return "clustertrustbundles"
		case s.PodCertificate != nil:
			return "podcertificates"
		}
	}
	return ""
}

func (r nodeWrite) podStatus() error {
	old, isOld := r.OldObject.(*corev1.Pod)
	now, isNow := r.Object.(*corev1.Pod)
	switch {
	case r.Operation != admissionv1.Update || !isOld || !isNow:
		return r.forbiddenf("unexpected operation %q", r.Operation)
	case old.Spec.NodeName != r.node:
		return r.forbiddenf("node %q can only update pod status for pods with spec.nodeName set to itself", r.node)
	case !labels.Equals(old.Labels, now.Labels):
		return r.forbiddenf("node %q cannot update labels through pod status", r.node)
	case !equality.Semantic.DeepEqual(old.Status.ResourceClaimStatuses, now.Status.ResourceClaimStatuses):
		return r.forbiddenf("node %q cannot update resource claim statues", r.node)
	case !equality.Semantic.DeepEqual(old.Status.ExtendedResourceClaimStatus, now.Status.ExtendedResourceClaimStatus):
		return r.forbiddenf("node %q cannot update extended resource claim status", r.node)
	case !equality.Semantic.DeepEqual(old.Status.NodeAllocatableResourceClaimStatuses, now.Status.NodeAllocatableResourceClaimStatuses):
		return r.forbiddenf("node %q cannot update node allocatable resource claim statuses", r.node)
	}
	return nil
}

func (r nodeWrite) podEviction() error {
	if r.Operation != admissionv1.Create {
		return r.forbiddenf("unexpected operation %s", r.Operation)
	}
	pod, err := r.storedPod(r.Name)
	switch {
	case err != nil:
		return err
	case pod.Spec.NodeName != r.node:
		return r.forbiddenf("node %s can only evict pods with spec.nodeName set to itself", r.node)
	}
	return nil
}
