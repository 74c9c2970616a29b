// Package clock is the clock of an API server, which can be wrong by an offset.
package clock

import (
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
)

// Clock returns the time of package time plus an offset, which is 0 at first. It is safe for
// concurrent use.
type Clock struct{ offset atomic.Int64 }

// SetOffset sets the offset.
func (c *Clock) SetOffset(d time.Duration) { c.offset.Store(int64(d)) }

// Offset returns the offset.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// Now returns the time with the offset.
func (c *Clock) Now() time.Time { return time.Now().Add(c.Offset()) }

// Timestamp returns Now in the precision of metadata, whole seconds (MD-08).
func (c *Clock) Timestamp() metav1.Time { return metav1.NewTime(c.Now().Truncate(time.Second)) }

// UpdateManagedFields calls m.Update(old, obj, manager), and adds the offset to the times of the
// entries that the update adds or changes.
func (c *Clock) UpdateManagedFields(m *managedfields.FieldManager, old, obj runtime.Object, manager string) runtime.Object {
	if c.Offset() == 0 {
		return m.Update(old, obj, manager)
	}
	known := entriesOf(old, obj)
	obj = m.Update(old, obj, manager)
	c.addOffset(obj, known)
	return obj
}

// AdjustApplied adds the offset to the times of the entries of managedFields that obj has and old
// does not have. It is called after an apply. old may be nil.
func (c *Clock) AdjustApplied(old, obj runtime.Object) {
	if c.Offset() != 0 {
		c.addOffset(obj, entriesOf(old))
	}
}

// entry identifies an entry of managedFields with its time.
type entry struct {
	manager, subresource, version string
	operation                     metav1.ManagedFieldsOperationType
	seconds                       int64
}

func newEntry(e *metav1.ManagedFieldsEntry) entry {
	return entry{e.Manager, e.Subresource, e.APIVersion, e.Operation, e.Time.Unix()}
}

// entriesOf returns the entries of objects that have a time. Objects may be nil.
func entriesOf(objects ...runtime.Object) map[entry]bool {
	entries := make(map[entry]bool)
	for _, obj := range objects {
		if obj == nil {
			continue
		}
		fields := resource.Accessor(obj).GetManagedFields()
		for i := range fields {
			if fields[i].Time != nil {
				entries[newEntry(&fields[i])] = true
			}
		}
	}
	return entries
}

// addOffset adds the offset to the times of the entries of obj that are not in known. The
// managedFields library sets them to the time without the offset.
func (c *Clock) addOffset(obj runtime.Object, known map[entry]bool) {
	m := resource.Accessor(obj)
	entries := append([]metav1.ManagedFieldsEntry(nil), m.GetManagedFields()...)
	for i := range entries {
		if e := &entries[i]; e.Time != nil && !known[newEntry(e)] {
			e.Time = &metav1.Time{Time: e.Time.Add(c.Offset())}
		}
	}
	m.SetManagedFields(entries)
}
