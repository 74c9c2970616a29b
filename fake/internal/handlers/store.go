package handlers

import (
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// errRequestTooLarge is what etcd says of an object that it does not take (CR-10).
var errRequestTooLarge = errors.New("etcdserver: request is too large")

// errNoSpace is what etcd says when it is full: a real server passes it on, with code 500 and no reason.
var errNoSpace = errors.New("etcdserver: mvcc: database space exceeded")

// updateFunc is one write on its way into the store: it gets the stored object (of
// the StoreVersion, nil if there is none) and gives what shall be there: nil
// deletes. The store may run it more than once.
type updateFunc func(old runtime.Object) (runtime.Object, error)

// writeResult is what a write left behind.
type writeResult struct {
	event *memstore.Event
	// obj is the object of a dry run, of the StoreVersion; event is nil then.
	obj runtime.Object
}

// updateStore runs a change under a key: for real, or up to the point where it
// would be stored (DR-04).
func (a *API) updateStore(res *resource.Resource, key string, dryRun bool, updated updateFunc) (writeResult, error) {
	out, err := a.updateStoreOnly(res, key, dryRun, updated)
	if err != nil {
		return out, err
	}
	return out, a.afterWrite(res, key, out)
}

// updateStoreOnly is commit without what comes of it.
func (a *API) updateStoreOnly(res *resource.Resource, key string, dryRun bool, updated updateFunc) (writeResult, error) {
	var out writeResult
	update := func(cur *memstore.Record) (*memstore.Draft, error) {
		var old runtime.Object
		if cur != nil {
			var err error
			if old, err = a.objects.get(res, cur); err != nil {
				return nil, err
			}
		}
		obj, err := updated(old)
		if err != nil || obj == nil {
			return nil, err
		}
		revision := accessor(obj).GetResourceVersion()
		draft, err := codec.EncodeDraft(res, obj)
		if err != nil {
			return nil, err
		}
		if cur != nil && res.Custom != nil {
			codec.ReuseStoredForm(draft, cur)
		}
		if len(draft.Data) > MaxObject {
			return nil, errRequestTooLarge
		}
		if dryRun {
			if obj, err = codec.DryRunResult(res, draft, obj); err != nil {
				return nil, err
			}
		}
		accessor(obj).SetResourceVersion(revision)
		out.obj = obj
		return draft, nil
	}
	if dryRun {
		_, err := update(a.store.View().Get(key))
		return out, err
	}
	event, err := a.store.Update(key, update)
	if errors.Is(err, memstore.ErrQuotaExceeded) {
		return out, errNoSpace
	}
	if event.Changed() && event.Record != nil {
		a.objects.put(res, event.Record, out.obj)
	}
	return writeResult{event: event}, err
}

// replyResult replies with what a write left behind.
func (q *request) replyResult(code int, out writeResult) error {
	if e := out.event; e != nil && e.Record != nil {
		return unwrapConversionError(q.replyRecord(code, e.Record))
	} else if e != nil && out.obj == nil {
		return q.replyRecord(code, e.DeletedRecord()) // deleted
	}
	obj, err := q.res.Convert(out.obj, q.res.GroupVersion())
	if err != nil {
		return err
	}
	return q.replyObject(code, obj)
}

// isDryRun reports whether the options ask for a dry run; any value but All
// was refused before.
func isDryRun(values []string) bool { return slices.Contains(values, metav1.DryRunAll) }
