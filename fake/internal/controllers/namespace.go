package controllers

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// remaining is what a look through a terminating namespace has left in it.
type remaining struct {
	// objects counts them by the type, as "pods.", and finalizers those that have one.
	objects, finalizers map[string]int
	// failed are the types whose objects could not all be deleted, and why.
	failed []error
}

// deleteNamespaceContent deletes what is in a terminating namespace, tells in its status what is left,
// and gives it free once that is nothing (NS-09). It is called again when
// anything has happened in it, and for what was created in it while it went.
func (m *Controllers) deleteNamespaceContent(name string) error {
	p, _ := m.kinds.find(namespaceKey(name))
	rec := m.store.View().Get(namespaceKey(name))
	if rec == nil {
		delete(m.ending, name)
		return errors.Join(m.deleteContent(name).failed...)
	}
	obj, err := codec.DecodeStored(p.res, rec)
	if err != nil {
		return err
	}
	ns, ok := obj.(*corev1.Namespace)
	if !ok || ns.DeletionTimestamp == nil {
		return nil
	}
	if len(ns.Spec.Finalizers) > 0 {
		left := m.deleteContent(name)
		err := m.changeNamespace(p, rec.UID, "status", func(ns *corev1.Namespace) {
			ns.Status.Phase = corev1.NamespaceTerminating
			ns.Status.Conditions = conditions(ns.Status.Conditions, left, m.writer.Now())
		})
		if len(left.objects) > 0 || len(left.failed) > 0 {
			return err
		}
		// A store that is full has no room for conditions, and gets some when the namespace goes.
	}
	return m.changeNamespace(p, rec.UID, "finalize", func(ns *corev1.Namespace) {
		ns.Spec.Finalizers = slices.DeleteFunc(ns.Spec.Finalizers, func(f corev1.FinalizerName) bool {
			return f == corev1.FinalizerKubernetes
		})
	})
}

// changeNamespace changes a namespace if it is still being deleted.
func (m *Controllers) changeNamespace(p location, uid, subresource string, do func(*corev1.Namespace)) error {
	return m.writer.ChangeKey(p.res, namespaceKey(p.name), uid, subresource, func(obj runtime.Object) {
		if ns, ok := obj.(*corev1.Namespace); ok && ns.DeletionTimestamp != nil {
			do(ns)
		}
	})
}

// deleteContent deletes all pods of a namespace, and all else once there is none
// left: what runs must not outlive the policies that bind it (KEP-5080).
func (m *Controllers) deleteContent(namespace string) *remaining {
	left := &remaining{objects: make(map[string]int), finalizers: make(map[string]int)}
	types := m.contentTypes()
	pods := slices.IndexFunc(types, func(res *resource.Resource) bool { return res.Group == "" && res.Plural == "pods" })
	if pods >= 0 {
		m.deleteAll(types[pods], namespace, left)
		if len(left.objects) > 0 || len(left.failed) > 0 {
			return left
		}
		types = slices.Delete(types, pods, pods+1)
	}
	for _, res := range types {
		m.deleteAll(res, namespace, left)
	}
	return left
}

// contentTypes are the types that a namespace is emptied of: all that can be
// deleted, each in the first version of its group that has it.
func (m *Controllers) contentTypes() []*resource.Resource {
	seen := make(map[schema.GroupResource]bool)
	return slices.DeleteFunc(m.table().All(), func(res *resource.Resource) bool {
		known := seen[res.GroupResource()]
		seen[res.GroupResource()] = true
		return known || !res.Namespaced || !res.HasVerb("delete")
	})
}

// deleteAll deletes the objects of a type and counts those that stay, for their
// finalizers or for their grace.
func (m *Controllers) deleteAll(res *resource.Resource, namespace string, left *remaining) {
	prefix := codec.Key(res, namespace, "")
	if m.store.View().Count(prefix) == 0 {
		return
	}
	background := metav1.DeletePropagationBackground
	for rec := range m.store.View().Range(prefix, "") {
		p, ok := m.kinds.find(rec.Key)
		if !ok || isTerminating(rec) {
			continue
		}
		err := m.writer.DeleteKey(p.res, rec.Key, &metav1.DeleteOptions{PropagationPolicy: &background})
		if err != nil && !apierrors.IsNotFound(err) {
			left.failed = append(left.failed, err)
		}
	}
	for rec := range m.store.View().Range(prefix, "") {
		left.objects[res.Plural+"."+res.Group]++
		if meta, err := codec.DecodeMetadata(rec); err == nil {
			for _, finalizer := range meta.Finalizers {
				left.finalizers[finalizer]++
			}
		}
	}
}

// isTerminating reports whether a delete would change nothing of an object: it is on its way
// out, and does not wait for the garbage collector.
func isTerminating(rec *memstore.Record) bool {
	if !codec.HasOwnersOrDeletion(rec) {
		return false
	}
	meta, err := codec.DecodeMetadata(rec)
	return err == nil && meta.DeletionTimestamp != nil && !needsCollection(meta)
}
