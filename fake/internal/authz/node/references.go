package node

import (
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// references finds the objects that are related to a node: its pods, and what they refer to.
type references struct {
	view                        func() memstore.View
	podResource, volumeResource *resource.Resource
	// attachments, slices and certificateRequests name their node themselves.
	attachments, slices, certificateRequests *resource.Resource
	// pods and volumes have the references of records.
	pods    *recordcache.Cache[*podReferences]
	volumes *recordcache.Cache[*volumeReferences]
}

func newReferences(view func() memstore.View, table *resource.Table) *references {
	return &references{
		view:        view,
		podResource: table.Lookup("", "v1", "pods"), volumeResource: table.Lookup("", "v1", "persistentvolumes"),
		attachments:         table.Lookup(storagev1.GroupName, "v1", "volumeattachments"),
		slices:              table.Lookup(resourcev1.GroupName, "v1", "resourceslices"),
		certificateRequests: table.Lookup(certificatesv1.GroupName, "v1", "podcertificaterequests"),
		pods:                recordcache.New[*podReferences](), volumes: recordcache.New[*volumeReferences](),
	}
}

// isRelated reports whether an object is related to a node. plural is its resource. An object need
// not exist.
func (r *references) isRelated(node, plural, namespace, name string) bool {
	view := r.view()
	switch plural {
	case "pods":
		rec := view.Get(codec.Key(r.podResource, namespace, name))
		return rec != nil && isOn(rec, node)
	case "volumeattachments":
		return hasNode(view, r.attachments, "", name, func(a *storagev1.VolumeAttachment) bool { return a.Spec.NodeName == node })
	case "podcertificaterequests":
		return hasNode(view, r.certificateRequests, namespace, name, func(p *certificatesv1.PodCertificateRequest) bool {
			return string(p.Spec.NodeName) == node
		})
	case "resourceslices":
		return hasNode(view, r.slices, "", name, func(s *resourcev1.ResourceSlice) bool {
			return s.Spec.NodeName != nil && *s.Spec.NodeName == node
		})
	case "persistentvolumes":
		rec := view.Get(codec.Key(r.volumeResource, "", name))
		return rec != nil && r.isVolumeOfPod(view, node, r.volumeReferences(rec))
	case "secrets":
		return r.isReferred(view, node, plural, namespace, name) || r.isVolumeSecret(view, node, types.NamespacedName{Namespace: namespace, Name: name})
	}
	return r.isReferred(view, node, plural, namespace, name)
}

// hasNode reports whether an object exists and names a node.
func hasNode[T any](view memstore.View, res *resource.Resource, namespace, name string, isOn func(T) bool) bool {
	rec := view.Get(codec.Key(res, namespace, name))
	if rec == nil {
		return false
	}
	obj, err := codec.DecodeStored(res, rec)
	return err == nil && isOn(obj.(T))
}

// isOn reports whether a pod is on a node.
func isOn(pod *memstore.Record, node string) bool {
	name, _ := pod.Fields.Get("spec.nodeName")
	return name == node
}

// isReferred reports whether a pod on the node refers to an object in its namespace.
func (r *references) isReferred(view memstore.View, node, plural, namespace, name string) bool {
	if namespace == "" {
		return false
	}
	for rec := range view.Range(codec.Key(r.podResource, namespace, ""), "") {
		if isOn(rec, node) && slices.Contains(r.podReferences(rec).names[plural], name) {
			return true
		}
	}
	return false
}

// isVolumeOfPod reports whether a pod on the node has the claim of a volume.
func (r *references) isVolumeOfPod(view memstore.View, node string, v *volumeReferences) bool {
	return v.claim.Name != "" && r.isReferred(view, node, "persistentvolumeclaims", v.claim.Namespace, v.claim.Name)
}

// isVolumeSecret reports whether a volume of a pod on the node needs a secret.
func (r *references) isVolumeSecret(view memstore.View, node string, secret types.NamespacedName) bool {
	for rec := range view.Range(codec.Key(r.volumeResource, "", ""), "") {
		if v := r.volumeReferences(rec); slices.Contains(v.secrets, secret) && r.isVolumeOfPod(view, node, v) {
			return true
		}
	}
	return false
}

// podReferences has the names of the objects that a pod refers to, by resource.
type podReferences struct{ names map[string][]string }

func (p *podReferences) add(plural, name string) {
	if name != "" {
		p.names[plural] = append(p.names[plural], name)
	}
}

// podReferences returns the references of a pod. Those of a mirror pod do not count, because a
// kubelet creates it.
func (r *references) podReferences(rec *memstore.Record) *podReferences {
	if found, ok := r.pods.Get(rec); ok {
		return found
	}
	p := &podReferences{names: map[string][]string{}}
	obj, err := codec.DecodeStored(r.podResource, rec)
	if err != nil {
		return p
	}
	pod := obj.(*corev1.Pod)
	if _, isMirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; !isMirror {
		p.addPod(pod)
	}
	r.pods.Put(rec, p)
	return p
}

// References returns the names of the objects in its namespace that a pod refers to, by resource.
func References(pod *corev1.Pod) map[string][]string {
	p := &podReferences{names: map[string][]string{}}
	p.addPod(pod)
	return p.names
}

func (p *podReferences) addPod(pod *corev1.Pod) {
	p.add("serviceaccounts", pod.Spec.ServiceAccountName)
	for _, secret := range pod.Spec.ImagePullSecrets {
		p.add("secrets", secret.Name)
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		p.addEnvironment(c.Env, c.EnvFrom)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		p.addEnvironment(c.Env, c.EnvFrom)
	}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		p.addVolume(&v.VolumeSource)
		if v.Ephemeral != nil {
			p.add("persistentvolumeclaims", ephemeral.VolumeClaimName(pod, v))
		}
	}
	for i := range pod.Spec.ResourceClaims {
		if name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i]); err == nil && name != nil {
			p.add("resourceclaims", *name)
		}
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		p.add("resourceclaims", extended.ResourceClaimName)
	}
}

func (p *podReferences) addEnvironment(env []corev1.EnvVar, from []corev1.EnvFromSource) {
	for _, e := range env {
		if e.ValueFrom == nil {
			continue
		}
		if ref := e.ValueFrom.SecretKeyRef; ref != nil {
			p.add("secrets", ref.Name)
		}
		if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil {
			p.add("configmaps", ref.Name)
		}
	}
	for _, e := range from {
		if e.SecretRef != nil {
			p.add("secrets", e.SecretRef.Name)
		}
		if e.ConfigMapRef != nil {
			p.add("configmaps", e.ConfigMapRef.Name)
		}
	}
}

// addVolume adds the references of a volume of a pod.
func (p *podReferences) addVolume(v *corev1.VolumeSource) {
	if ref := localSecretOf(v); ref != nil {
		p.add("secrets", ref.Name)
	}
	switch {
	case v.Secret != nil:
		p.add("secrets", v.Secret.SecretName)
	case v.AzureFile != nil:
		p.add("secrets", v.AzureFile.SecretName)
	case v.ConfigMap != nil:
		p.add("configmaps", v.ConfigMap.Name)
	case v.PersistentVolumeClaim != nil:
		p.add("persistentvolumeclaims", v.PersistentVolumeClaim.ClaimName)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if source.Secret != nil {
				p.add("secrets", source.Secret.Name)
			}
			if source.ConfigMap != nil {
				p.add("configmaps", source.ConfigMap.Name)
			}
		}
	}
}

// localSecretOf returns the secretRef of a volume, nil if it has none.
func localSecretOf(v *corev1.VolumeSource) *corev1.LocalObjectReference {
	switch {
	case v.CephFS != nil:
		return v.CephFS.SecretRef
	case v.Cinder != nil:
		return v.Cinder.SecretRef
	case v.FlexVolume != nil:
		return v.FlexVolume.SecretRef
	case v.RBD != nil:
		return v.RBD.SecretRef
	case v.ScaleIO != nil:
		return v.ScaleIO.SecretRef
	case v.ISCSI != nil:
		return v.ISCSI.SecretRef
	case v.StorageOS != nil:
		return v.StorageOS.SecretRef
	case v.CSI != nil:
		return v.CSI.NodePublishSecretRef
	}
	return nil
}

// volumeReferences has the claim that a PersistentVolume is bound to, and the secrets that a
// kubelet needs for it.
type volumeReferences struct {
	claim   types.NamespacedName
	secrets []types.NamespacedName
}

func (r *references) volumeReferences(rec *memstore.Record) *volumeReferences {
	if found, ok := r.volumes.Get(rec); ok {
		return found
	}
	v := &volumeReferences{}
	obj, err := codec.DecodeStored(r.volumeResource, rec)
	if err != nil {
		return v
	}
	if spec := &obj.(*corev1.PersistentVolume).Spec; spec.ClaimRef != nil {
		v.claim = types.NamespacedName{Namespace: spec.ClaimRef.Namespace, Name: spec.ClaimRef.Name}
		v.addSecrets(&spec.PersistentVolumeSource)
	}
	r.volumes.Put(rec, v)
	return v
}

// addSecrets adds the secrets of a volume. A secret without a namespace is in that of the claim.
func (v *volumeReferences) addSecrets(s *corev1.PersistentVolumeSource) {
	var refs []*corev1.SecretReference
	switch {
	case s.AzureFile != nil:
		ref := &corev1.SecretReference{Name: s.AzureFile.SecretName}
		if s.AzureFile.SecretNamespace != nil {
			ref.Namespace = *s.AzureFile.SecretNamespace
		}
		refs = append(refs, ref)
	case s.CephFS != nil:
		refs = append(refs, s.CephFS.SecretRef)
	case s.Cinder != nil:
		refs = append(refs, s.Cinder.SecretRef)
	case s.FlexVolume != nil:
		refs = append(refs, s.FlexVolume.SecretRef)
	case s.RBD != nil:
		refs = append(refs, s.RBD.SecretRef)
	case s.ScaleIO != nil:
		refs = append(refs, s.ScaleIO.SecretRef)
	case s.ISCSI != nil:
		refs = append(refs, s.ISCSI.SecretRef)
	case s.StorageOS != nil && s.StorageOS.SecretRef != nil:
		refs = append(refs, &corev1.SecretReference{Namespace: s.StorageOS.SecretRef.Namespace, Name: s.StorageOS.SecretRef.Name})
	case s.CSI != nil:
		refs = append(refs, s.CSI.NodePublishSecretRef, s.CSI.NodeStageSecretRef, s.CSI.NodeExpandSecretRef)
	}
	for _, ref := range refs {
		if ref == nil || ref.Name == "" {
			continue
		}
		secret := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
		if secret.Namespace == "" {
			secret.Namespace = v.claim.Namespace
		}
		v.secrets = append(v.secrets, secret)
	}
}
