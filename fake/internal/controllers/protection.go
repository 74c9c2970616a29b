package controllers

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/storage/ephemeral"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// isProtected reports whether an object that is deleted waits until it is no longer in use.
func isProtected(p location, meta *metav1.ObjectMeta) bool {
	return meta.DeletionTimestamp != nil && p.res.ProtectionFinalizer != "" && slices.Contains(meta.Finalizers, p.res.ProtectionFinalizer)
}

// unprotect removes the protecting finalizer of an object, unless it is in use. One that is in use
// is examined again when an object that may use it has changed, see onUserChange.
func (m *Controllers) unprotect(ctx context.Context, it *item) error {
	inUse, err := m.isInUse(it)
	if err != nil {
		return err
	}
	m.setInUse(it.rec.Key, inUse)
	if inUse {
		return nil
	}
	finalizer := it.res.ProtectionFinalizer
	return m.writer.ChangeKey(ctx, protectionController(it.res), it.res, it.rec.Key, it.rec.UID, "", func(obj runtime.Object) {
		meta := resource.Accessor(obj)
		meta.SetFinalizers(slices.DeleteFunc(meta.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

// setInUse records whether an object waits until it is no longer in use.
func (m *Controllers) setInUse(key string, inUse bool) {
	if inUse && m.inUse == nil {
		m.inUse = make(map[string]bool)
	}
	if inUse {
		m.inUse[key] = true
	} else {
		delete(m.inUse, key)
	}
	m.hasInUse.Store(len(m.inUse) > 0)
}

// onUserChange queues the objects that wait until they are no longer in use after a write of an
// object that may use one: the removal of a pod, or any write of a claim or a volume.
func (m *Controllers) onUserChange(p location, rec *memstore.Record) {
	if len(m.inUse) == 0 {
		return
	}
	if p.isResource("pods") && rec == nil || p.isResource("persistentvolumeclaims") || p.isResource("persistentvolumes") {
		for _, key := range slices.Sorted(maps.Keys(m.inUse)) {
			m.enqueue(key)
		}
	}
}

// isInUse reports whether a scheduled pod uses a claim, a volume is bound, or a claim or a volume
// has a VolumeAttributesClass.
func (m *Controllers) isInUse(it *item) (bool, error) {
	switch {
	case it.isResource("persistentvolumes"):
		obj, err := codec.DecodeStored(it.res, it.rec)
		return err == nil && obj.(*corev1.PersistentVolume).Status.Phase == corev1.VolumeBound, err
	case it.isResource("persistentvolumeclaims"):
		return m.anyStored("pods", it.namespace, func(obj runtime.Object) bool { return usesClaim(obj.(*corev1.Pod), it.name) })
	}
	inUse, err := m.anyStored("persistentvolumeclaims", "", func(obj runtime.Object) bool {
		return claimHasAttributesClass(obj.(*corev1.PersistentVolumeClaim), it.name)
	})
	if err != nil || inUse {
		return inUse, err
	}
	return m.anyStored("persistentvolumes", "", func(obj runtime.Object) bool {
		class := obj.(*corev1.PersistentVolume).Spec.VolumeAttributesClassName
		return class != nil && *class == it.name
	})
}

// anyStored reports whether matches returns true for one of the objects of a resource of the core
// group in a namespace, or in all namespaces for "".
func (m *Controllers) anyStored(plural, namespace string, matches func(runtime.Object) bool) (bool, error) {
	res := m.table().Lookup("", "v1", plural)
	for rec := range m.store.View().Range(codec.Key(res, namespace, ""), "") {
		obj, err := codec.DecodeStored(res, rec)
		if err != nil {
			return false, err
		}
		if matches(obj) {
			return true, nil
		}
	}
	return false, nil
}

// usesClaim reports whether a pod is scheduled and has a volume of a claim.
func usesClaim(pod *corev1.Pod, claim string) bool {
	return pod.Spec.NodeName != "" && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim ||
			v.Ephemeral != nil && ephemeral.VolumeClaimName(pod, &v) == claim
	})
}

// claimHasAttributesClass reports whether a claim has or wants a VolumeAttributesClass.
func claimHasAttributesClass(claim *corev1.PersistentVolumeClaim, class string) bool {
	for _, name := range [...]*string{claim.Spec.VolumeAttributesClassName, claim.Status.CurrentVolumeAttributesClassName} {
		if name != nil && *name == class {
			return true
		}
	}
	modify := claim.Status.ModifyVolumeStatus
	return modify != nil && modify.TargetVolumeAttributesClassName == class
}
