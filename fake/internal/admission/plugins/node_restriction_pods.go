package plugins

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/fake/internal/authz/node"
)

var (
	persistentVolumes = corev1.SchemeGroupVersion.WithResource("persistentvolumes")
	csiDrivers        = storagev1.SchemeGroupVersion.WithResource("csidrivers")
)

// storedPod returns a pod in the namespace of the write, or NotFound.
func (r nodeWrite) storedPod(name string) (*corev1.Pod, error) {
	obj, err := r.objects.Get(pods, r.Namespace, name)
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
		if r.OldObject.(*corev1.Pod).Spec.NodeName != r.node {
			return r.forbiddenf("node %q can only delete pods with spec.nodeName set to itself", r.node)
		}
		return nil
	}
	return r.forbiddenf("unexpected operation %q, node %q can only create and delete mirror pods", r.Operation, r.node)
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
	obj, err := r.objects.Get(nodes, "", r.node)
	if err != nil {
		return err
	}
	if uid := obj.(*corev1.Node).UID; owner.UID != uid {
		return r.forbiddenf("node %s UID mismatch: expected %s got %s", r.node, owner.UID, uid)
	}
	return r.checkReferences(pod)
}

// checkReferences refuses a pod that refers to objects which its node could then read.
func (r nodeWrite) checkReferences(pod *corev1.Pod) error {
	names := node.References(pod)
	if len(names["serviceaccounts"]) > 0 {
		return r.forbiddenf("node %q can not create pods that reference a service account", r.node)
	}
	for _, plural := range []string{"secrets", "configmaps"} {
		if len(names[plural]) > 0 {
			return r.forbiddenf("node %q can not create pods that reference %s", r.node, plural)
		}
	}
	for _, v := range pod.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.ClusterTrustBundle != nil {
				return r.forbiddenf("node %q can not create pods that reference clustertrustbundles", r.node)
			}
		}
	}
	if len(names["persistentvolumeclaims"]) > 0 {
		return r.forbiddenf("node %q can not create pods that reference persistentvolumeclaims", r.node)
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		return r.forbiddenf("node %q can not create pods that reference resourceclaims", r.node)
	}
	return nil
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

// token limits tokens to those that are bound to a pod on the node, for an audience of the pod.
func (r nodeWrite) token() error {
	request, ok := r.Object.(*authenticationv1.TokenRequest)
	if !ok || r.Operation != admissionv1.Create || r.Subresource != "token" {
		return nil
	}
	ref := request.Spec.BoundObjectRef
	switch {
	case ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "":
		return r.forbiddenf("node requested token not bound to a pod")
	case ref.UID == "":
		return r.forbiddenf("node requested token with a pod binding without a uid")
	}
	pod, err := r.storedPod(ref.Name)
	switch {
	case err != nil:
		return err
	case ref.UID != pod.UID:
		return r.forbiddenf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID)
	case pod.Spec.NodeName != r.node:
		return r.forbiddenf("node requested token bound to a pod scheduled on a different node")
	}
	return r.checkAudience(pod, request.Spec.Audiences)
}

// checkAudience refuses a token for an audience that no volume of the pod needs (KEP-4412).
func (r nodeWrite) checkAudience(pod *corev1.Pod, audiences []string) error {
	if len(audiences) > 1 {
		return r.forbiddenf("node may only request 0 or 1 audiences")
	}
	audience := ""
	if len(audiences) == 1 {
		audience = audiences[0]
	}
	for _, v := range pod.Spec.Volumes {
		if r.needsAudience(pod, &v, audience) {
			return nil
		}
	}
	return forbidden(r.Attributes, fmt.Errorf("audience %q not found in pod spec volume", audience))
}

func (r nodeWrite) needsAudience(pod *corev1.Pod, v *corev1.Volume, audience string) bool {
	switch {
	case v.Projected != nil:
		return slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
			return s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == audience
		})
	case v.CSI != nil:
		return r.driverNeedsAudience(v.CSI.Driver, audience)
	case v.PersistentVolumeClaim != nil:
		return r.claimNeedsAudience(v.PersistentVolumeClaim.ClaimName, audience)
	case v.Ephemeral != nil:
		return r.claimNeedsAudience(pod.Name+"-"+v.Name, audience)
	}
	return false
}

// claimNeedsAudience reports whether the driver of the volume of a claim needs tokens for an audience.
func (r nodeWrite) claimNeedsAudience(name, audience string) bool {
	claim, err := r.objects.Get(claims, r.Namespace, name)
	if err != nil {
		return false
	}
	volume, err := r.objects.Get(persistentVolumes, "", claim.(*corev1.PersistentVolumeClaim).Spec.VolumeName)
	if err != nil {
		return false
	}
	csi := volume.(*corev1.PersistentVolume).Spec.CSI
	return csi != nil && r.driverNeedsAudience(csi.Driver, audience)
}

func (r nodeWrite) driverNeedsAudience(name, audience string) bool {
	driver, err := r.objects.Get(csiDrivers, "", name)
	return err == nil && slices.ContainsFunc(driver.(*storagev1.CSIDriver).Spec.TokenRequests, func(t storagev1.TokenRequest) bool {
		return t.Audience == audience
	})
}
