package controllers

import (
	"container/heap"
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// deadline is the end of the grace period of an object.
type deadline struct {
	at       time.Time
	key, uid string
}

// deadlines has the objects in their grace period. A real cluster's kubelet deletes them.
type deadlines struct {
	heap  byTime
	known map[deadline]bool
}

// ownDeletion is how long the request that ends the grace period of an object has to delete it.
const ownDeletion = 2 * time.Second

// add records the end of an object's grace period. Without one, the request that has set the
// deletion timestamp deletes the object itself; or that of the last finalizer does.
func (d *deadlines) add(key, uid string, meta *metav1.ObjectMeta) {
	at, grace := meta.DeletionTimestamp.Time, meta.DeletionGracePeriodSeconds
	if grace == nil || *grace == 0 {
		if len(meta.Finalizers) > 0 {
			return
		}
		at = at.Add(ownDeletion)
	}
	d.push(deadline{at: at, key: key, uid: uid})
}

func (d *deadlines) push(one deadline) {
	if d.known[one] {
		return
	}
	if d.known == nil {
		d.known = make(map[deadline]bool)
	}
	d.known[one] = true
	heap.Push(&d.heap, one)
}

// first returns the time of the next deadline, or false if there is none.
func (d *deadlines) first() (time.Time, bool) {
	if len(d.heap) == 0 {
		return time.Time{}, false
	}
	return d.heap[0].at, true
}

// due removes and returns the next deadline if it has passed.
func (d *deadlines) due(now time.Time) (deadline, bool) {
	if at, ok := d.first(); !ok || at.After(now) {
		return deadline{}, false
	}
	one := heap.Pop(&d.heap).(deadline)
	delete(d.known, one)
	return one, true
}

// deletePod deletes an object whose deadline has passed. It does nothing if the object is another
// one or gone.
func (m *Controllers) deletePod(ctx context.Context, d deadline) error {
	p, ok := m.resources.find(d.key)
	pod := m.store.View().Get(d.key)
	if !ok || pod == nil || pod.UID != d.uid {
		return nil
	}
	var now int64
	uid := types.UID(d.uid)
	err := m.writer.DeleteKey(ctx, kubelet(pod), p.res, d.key, &metav1.DeleteOptions{
		GracePeriodSeconds: &now,
		Preconditions:      &metav1.Preconditions{UID: &uid},
	})
	if apierrors.IsConflict(err) && m.hasOtherUID(d) {
		return nil
	}
	return err
}

// hasOtherUID reports whether the object of a deadline was replaced by another one.
func (m *Controllers) hasOtherUID(d deadline) bool {
	rec := m.store.View().Get(d.key)
	return rec == nil || rec.UID != d.uid
}

// byTime is a heap of deadlines, ordered by time, then by key.
type byTime []deadline

func (h byTime) Len() int      { return len(h) }
func (h byTime) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h byTime) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].key < h[j].key
}

// Push implements heap.Interface.
func (h *byTime) Push(one any) { *h = append(*h, one.(deadline)) }

// Pop implements heap.Interface.
func (h *byTime) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	*h = (*h)[:last]
	return one
}
