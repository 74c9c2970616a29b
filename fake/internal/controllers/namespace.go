package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// remaining is the content that is left in a terminating namespace.
type remaining struct {
	// objects counts the objects that are left, by type, as "pods.", and finalizers by finalizer.
	objects, finalizers map[string]int
	// failed has an error for each type whose objects could not all be deleted.
	failed []error
	// undiscovered has the errors of discovery, by group and version.
	undiscovered map[schema.GroupVersion]error
}

// discoveryError returns the error of a discovery client for undiscovered, nil if that is empty.
func (r *remaining) discoveryError() error {
	if len(r.undiscovered) == 0 {
		return nil
	}
	return &discovery.ErrGroupDiscoveryFailed{Groups: r.undiscovered}
}

// deleteNamespaceContent deletes the objects in a terminating namespace, writes conditions about
// the rest to its status, and finalizes the namespace once it is empty (NS-09). It is called again
// after each event in the namespace, also for objects that were created while it was removed.
func (m *Controllers) deleteNamespaceContent(ctx context.Context, name string) error {
	p, _ := m.resources.find(namespaceKey(name))
	rec := m.store.View().Get(namespaceKey(name))
	if rec == nil {
		left := m.deleteContent(ctx, name)
		if len(left.failed) == 0 {
			delete(m.ending, name)
		}
		return errors.Join(left.failed...)
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
		left := m.deleteContent(ctx, name)
		err := m.changeNamespace(ctx, p, rec.UID, "status", func(ns *corev1.Namespace) {
			ns.Status.Phase = corev1.NamespaceTerminating
			ns.Status.Conditions = conditions(ns.Status.Conditions, left, m.writer.Now())
		})
		if len(left.objects) > 0 || len(left.failed) > 0 || len(left.undiscovered) > 0 {
			return errors.Join(append(left.failed, left.discoveryError(), err)...)
		}
		// If the store is full, there is no room for conditions; they are not written.
	}
	return m.changeNamespace(ctx, p, rec.UID, "finalize", func(ns *corev1.Namespace) {
		ns.Spec.Finalizers = slices.DeleteFunc(ns.Spec.Finalizers, func(f corev1.FinalizerName) bool {
			return f == corev1.FinalizerKubernetes
		})
	})
}

// changeNamespace changes a namespace if it is still being deleted.
func (m *Controllers) changeNamespace(ctx context.Context, p location, uid, subresource string, do func(*corev1.Namespace)) error {
	return m.writer.ChangeKey(ctx, namespaceController, p.res, namespaceKey(p.name), uid, subresource, func(obj runtime.Object) {
		if ns, ok := obj.(*corev1.Namespace); ok && ns.DeletionTimestamp != nil {
			do(ns)
		}
	})
}

// deleteContent deletes all pods of a namespace, and everything else once there are no pods left: a
// running pod must not outlive the policies that apply to it (KEP-5080).
func (m *Controllers) deleteContent(ctx context.Context, namespace string) *remaining {
	left := &remaining{objects: make(map[string]int), finalizers: make(map[string]int), undiscovered: make(map[schema.GroupVersion]error)}
	for _, gv := range m.unavailable() {
		left.undiscovered[gv] = fmt.Errorf("stale GroupVersion discovery: %v", gv)
	}
	types := m.contentTypes()
	pods := slices.IndexFunc(types, func(res *resource.Resource) bool { return res.Group == "" && res.Plural == "pods" })
	if pods >= 0 {
		m.deleteAll(ctx, types[pods], namespace, left)
		if len(left.objects) > 0 || len(left.failed) > 0 {
			return left
		}
		types = slices.Delete(types, pods, pods+1)
	}
	for _, res := range types {
		m.deleteAll(ctx, res, namespace, left)
	}
	return left
}

// contentTypes returns the namespaced types that can be deleted, each in the first version of its
// group that has it.
func (m *Controllers) contentTypes() []*resource.Resource {
	seen := make(map[schema.GroupResource]bool)
	return slices.DeleteFunc(m.table().All(), func(res *resource.Resource) bool {
		known := seen[res.GroupResource()]
		seen[res.GroupResource()] = true
		return known || !res.Namespaced || !res.HasVerb("delete")
	})
}

// deleteAll deletes the objects of a type and counts those that stay, because of finalizers or a
// grace period.
func (m *Controllers) deleteAll(ctx context.Context, res *resource.Resource, namespace string, left *remaining) {
	prefix := codec.Key(res, namespace, "")
	if m.store.View().Count(prefix) == 0 {
		return
	}
	background := metav1.DeletePropagationBackground
	for rec := range m.store.View().Range(prefix, "") {
		p, ok := m.resources.find(rec.Key)
		if !ok || isTerminating(rec) {
			continue
		}
		err := m.writer.DeleteKey(ctx, namespaceController, p.res, rec.Key, &metav1.DeleteOptions{PropagationPolicy: &background})
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

// isTerminating reports whether a delete would not change an object: it is being deleted and does
// not wait for the garbage collector.
func isTerminating(rec *memstore.Record) bool {
	if !codec.HasOwnersOrDeletion(rec) {
		return false
	}
	meta, err := codec.DecodeMetadata(rec)
	return err == nil && meta.DeletionTimestamp != nil && !needsCollection(meta)
}
