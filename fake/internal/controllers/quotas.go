package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/quota"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// quotaNamespaces has the namespaces with ResourceQuotas. The value is true if something in the
// namespace was written since the status of its quotas was computed.
type quotaNamespaces map[string]bool

// onQuotaChange records a write in a namespace with quotas, or of a quota.
func (m *Controllers) onQuotaChange(p location) {
	if _, known := m.quotas[p.namespace]; !known && !p.isResource("resourcequotas") {
		return
	}
	if m.quotas == nil {
		m.quotas = quotaNamespaces{}
	}
	m.quotas[p.namespace] = true
	m.hasQuotas.Store(true)
}

// nextQuotaWork returns the work for a namespace whose quotas may have another status. ok is false
// if there is none.
func (m *Controllers) nextQuotaWork() (w work, ok bool) {
	for _, namespace := range slices.Sorted(maps.Keys(m.quotas)) {
		if m.quotas[namespace] {
			m.quotas[namespace] = false
			return work{
				what: "quotas of namespace " + namespace, isEndless: true, again: func() { m.quotas[namespace] = true },
				do: func(ctx context.Context) error { return m.updateQuotas(ctx, namespace) },
			}, true
		}
	}
	return work{}, false
}

// updateQuotas writes the status of the quotas in a namespace.
func (m *Controllers) updateQuotas(ctx context.Context, namespace string) error {
	res := m.table().Lookup("", "v1", "resourcequotas")
	isEmpty := true
	for rec := range m.store.View().Range(codec.Key(res, namespace, ""), "") {
		isEmpty = false
		if err := m.updateQuota(ctx, res, rec); err != nil {
			return err
		}
	}
	if isEmpty {
		delete(m.quotas, namespace)
		m.hasQuotas.Store(len(m.quotas) > 0)
	}
	return nil
}

func (m *Controllers) updateQuota(ctx context.Context, res *resource.Resource, rec *memstore.Record) error {
	obj, err := codec.DecodeStored(res, rec)
	if err != nil {
		return err
	}
	status, err := quota.Status(obj.(*corev1.ResourceQuota), m.writer.Now(), countedObjects{m})
	if err != nil {
		return err
	}
	if old := obj.(*corev1.ResourceQuota).Status; quota.Equal(old.Hard, status.Hard) && quota.Equal(old.Used, status.Used) {
		return nil
	}
	return m.writer.ChangeKey(ctx, quotaController, res, rec.Key, rec.UID, "status", func(obj runtime.Object) {
		obj.(*corev1.ResourceQuota).Status = status
	})
}

// countedObjects are the objects that quotas count.
type countedObjects struct{ m *Controllers }

// lookup returns the namespaced resource with a group and plural, nil if there is none.
func (o countedObjects) lookup(gr schema.GroupResource) *resource.Resource {
	if res := o.m.resources.current().byTopic[gr.String()]; res != nil && res.Namespaced {
		return res
	}
	return nil
}

// Has reports whether a namespaced resource is served.
func (o countedObjects) Has(gr schema.GroupResource) bool { return o.lookup(gr) != nil }

// List returns the objects of a resource in a namespace.
func (o countedObjects) List(gr schema.GroupResource, namespace string) ([]runtime.Object, error) {
	res := o.lookup(gr)
	if res == nil {
		return nil, nil
	}
	return o.decode(res, namespace)
}

func (o countedObjects) decode(res *resource.Resource, namespace string) (objects []runtime.Object, err error) {
	for rec := range o.m.store.View().Range(codec.Key(res, namespace, ""), "") {
		obj, err := codec.DecodeStored(res, rec)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rec.Key, err)
		}
		objects = append(objects, obj)
	}
	return objects, nil
}

// Count returns the number of objects of a resource in a namespace.
func (o countedObjects) Count(gr schema.GroupResource, namespace string) int {
	res := o.lookup(gr)
	if res == nil {
		return 0
	}
	return o.m.store.View().Count(codec.Key(res, namespace, ""))
}

// DeviceClasses returns the extended resources of the DeviceClasses by their names.
func (o countedObjects) DeviceClasses() map[string]string {
	classes, err := o.decode(o.m.table().Lookup(resourcev1.GroupName, "v1", "deviceclasses"), "")
	if err != nil {
		return nil
	}
	return quota.ClassesByName(classes)
}
