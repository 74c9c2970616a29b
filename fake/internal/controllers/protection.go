package controllers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// protectionFinalizer returns the finalizer that the admission plugin StorageObjectInUseProtection
// adds to the type, "" for other types.
func protectionFinalizer(p location) string {
	switch {
	case p.isResource("persistentvolumeclaims"):
		return "kubernetes.io/pvc-protection"
	case p.isResource("persistentvolumes"):
		return "kubernetes.io/pv-protection"
	}
	return ""
}

// isProtected reports whether an object that is deleted waits until it is no longer in use.
func isProtected(p location, meta *metav1.ObjectMeta) bool {
	return meta.DeletionTimestamp != nil && len(meta.Finalizers) > 0 && slices.Contains(meta.Finalizers, protectionFinalizer(p))
}

// unprotect removes the protecting finalizer of a claim that no scheduled pod uses, or of a volume
// that is not bound.
func (m *Controllers) unprotect(it *item) error {
	if inUse, err := m.isInUse(it); err != nil || inUse {
		return err
	}
	finalizer := protectionFinalizer(it.location)
	return m.writer.ChangeKey(it.res, it.rec.Key, it.rec.UID, "", func(obj runtime.Object) {
		meta := resource.Accessor(obj)
		meta.SetFinalizers(slices.DeleteFunc(meta.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

func (m *Controllers) isInUse(it *item) (bool, error) {
	if it.isResource("persistentvolumes") {
		obj, err := codec.DecodeStored(it.res, it.rec)
		if err != nil {
			return false, err
		}
		return obj.(*corev1.PersistentVolume).Status.Phase == corev1.VolumeBound, nil
	}
	pods := m.table().Lookup("", "v1", "pods")
	for rec := range m.store.View().Range(codec.Key(pods, it.namespace, ""), "") {
		uses, err := usesClaim(pods, rec, it.name)
		if err != nil || uses {
			return uses, err
		}
	}
	return false, nil
}

// usesClaim reports whether a pod is scheduled and has a volume of a claim.
func usesClaim(res *resource.Resource, rec *memstore.Record, claim string) (bool, error) {
	if node, _ := rec.Fields.Get("spec.nodeName"); node == "" {
		return false, nil
	}
	obj, err := codec.DecodeStored(res, rec)
	if err != nil {
		return false, err
	}
	pod := obj.(*corev1.Pod)
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim ||
			v.Ephemeral != nil && pod.Name+"-"+v.Name == claim
	}), nil
}

// enqueueProtectedClaims queues the claims in a namespace that wait for the end of a pod.
func (m *Controllers) enqueueProtectedClaims(namespace string) {
	claims := m.table().Lookup("", "v1", "persistentvolumeclaims")
	for rec := range m.store.View().Range(codec.Key(claims, namespace, ""), "") {
		if codec.HasOwnersOrDeletion(rec) {
			m.enqueue(rec.Key)
		}
	}
}
