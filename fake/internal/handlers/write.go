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

// errTooLarge is what etcd says of an object that it does not take (CR-10).
var errTooLarge = errors.New("etcdserver: request is too large")

// errNoSpace is what etcd says when it is full: a real server passes it on, with code 500 and no reason.
var errNoSpace = errors.New("etcdserver: mvcc: database space exceeded")

// change is one write on its way into the store: it gets the stored object (of
// the StoreVersion, nil if there is none) and gives what shall be there: nil
// deletes. The store may run it more than once.
type change func(old runtime.Object) (runtime.Object, error)

// outcome is what a write left behind.
type outcome struct {
	event *memstore.Event
	// obj is the object of a dry run, of the StoreVersion; event is nil then.
	obj runtime.Object
}

// commit runs a change under a key: for real, or up to the point where it
// would be stored (DR-04).
func (a *API) commit(res *resource.Resource, key string, dryRun bool, do change) (outcome, error) {
	out, err := a.write(res, key, dryRun, do)
	if err != nil {
		return out, err
	}
	return out, a.followed(res, key, out)
}

// write is commit without what comes of it.
func (a *API) write(res *resource.Resource, key string, dryRun bool, do change) (outcome, error) {
	var out outcome
	update := func(cur *memstore.Record) (*memstore.Draft, error) {
		var old runtime.Object
		if cur != nil {
			var err error
			if old, err = a.decoded.get(res, cur); err != nil {
				return nil, err
			}
		}
		obj, err := do(old)
		if err != nil || obj == nil {
			return nil, err
		}
		revision := accessor(obj).GetResourceVersion()
		draft, err := codec.EncodeDraft(res, obj)
		if err != nil {
			return nil, err
		}
		if cur != nil && res.Custom != nil {
			codec.ReuseUnchanged(draft, cur)
		}
		if len(draft.Data) > MaxObject {
			return nil, errTooLarge
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
		a.decoded.keep(res, event.Record, out.obj)
	}
	return outcome{event: event}, err
}

// answer replies with what a write left behind.
func (q *request) answer(code int, out outcome) error {
	if e := out.event; e != nil && e.Record != nil {
		return unanswered(q.reply(code, e.Record))
	} else if e != nil && out.obj == nil {
		return q.reply(code, e.DeletedRecord()) // deleted
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
