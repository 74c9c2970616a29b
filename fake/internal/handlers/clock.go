package handlers

import (
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/managedfields"
)

// clock is what the API server takes for the time: the true one and an offset.
type clock struct{ offset atomic.Int64 }

// SetClockOffset puts the clock of the API server wrong by d, or right for 0.
func (a *API) SetClockOffset(d time.Duration) { a.clock.offset.Store(int64(d)) }

// ClockOffset is by how much the clock is wrong.
func (a *API) ClockOffset() time.Duration { return a.clock.skew() }

func (c *clock) skew() time.Duration { return time.Duration(c.offset.Load()) }

// Now is the time by the clock of the API server: that of all that it writes down.
func (a *API) Now() time.Time { return time.Now().Add(a.ClockOffset()) }

// now is the time as metadata keeps it: whole seconds (MD-08).
func (a *API) now() metav1.Time { return metav1.NewTime(a.Now().Truncate(time.Second)) }

// updateManagedFields is the Update of a tracker by the clock of the API server.
func (c *clock) updateManagedFields(t *managedfields.FieldManager, old, obj runtime.Object, manager string) runtime.Object {
	if c.skew() == 0 {
		return t.Update(old, obj, manager)
	}
	known := entryTimes(old, obj)
	obj = t.Update(old, obj, manager)
	c.adjustTimes(obj, known)
	return obj
}

// entryTime is an entry of managedFields as far as its time goes.
type entryTime struct {
	manager, subresource, version string
	operation                     metav1.ManagedFieldsOperationType
	seconds                       int64
}

func entryTimeOf(e *metav1.ManagedFieldsEntry) entryTime {
	return entryTime{e.Manager, e.Subresource, e.APIVersion, e.Operation, e.Time.Unix()}
}

// entryTimes gives the entries that objects have already; nil is no object.
func entryTimes(objects ...runtime.Object) map[entryTime]bool {
	known := make(map[entryTime]bool)
	for _, obj := range objects {
		if obj == nil {
			continue
		}
		entries := accessor(obj).GetManagedFields()
		for i := range entries {
			if entries[i].Time != nil {
				known[entryTimeOf(&entries[i])] = true
			}
		}
	}
	return known
}

// adjustTimes puts the clock's time in the place of the true one, which the managedFields
// library writes, in the entries that are not known.
func (c *clock) adjustTimes(obj runtime.Object, known map[entryTime]bool) {
	m := accessor(obj)
	entries := append([]metav1.ManagedFieldsEntry(nil), m.GetManagedFields()...)
	for i := range entries {
		if e := &entries[i]; e.Time != nil && !known[entryTimeOf(e)] {
			e.Time = &metav1.Time{Time: e.Time.Add(c.skew())}
		}
	}
	m.SetManagedFields(entries)
}
