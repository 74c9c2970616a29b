// Package storage reads and writes API objects in a memstore.Store. It encodes and decodes them in
// the storage version of their resource, as k8s.io/apiserver/pkg/storage does over etcd.
package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// MaxObjectSize is the size of the largest object that can be stored, in bytes: etcd's default
// request limit (CR-10).
const MaxObjectSize = 3 << 19

// ErrRequestTooLarge is etcd's error for an object above MaxObjectSize (CR-10).
var ErrRequestTooLarge = errors.New("etcdserver: request is too large")

// maxMessageSize is the size of the largest message that a real server sends to etcd, in bytes.
const maxMessageSize = 2 << 20

// messageTooLarge is the error of a real server for an object that it does not send to etcd,
// because its size is above maxMessageSize. It is an ErrRequestTooLarge. A real server counts some
// more bytes: the message has the key, too.
type messageTooLarge int

func (size messageTooLarge) Error() string {
	return fmt.Sprintf("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", int(size), maxMessageSize)
}

// Is implements the interface of errors.Is.
func (size messageTooLarge) Is(err error) bool { return err == ErrRequestTooLarge }

// checkSize returns the error for an object of a size in bytes that is too large for etcd.
func checkSize(size int) error {
	switch {
	case size > maxMessageSize:
		return messageTooLarge(size)
	case size > MaxObjectSize:
		return ErrRequestTooLarge
	}
	return nil
}

// errNoSpace is etcd's error for a write above its quota. A real server answers it with 500 and
// without a reason.
var errNoSpace = errors.New("etcdserver: mvcc: database space exceeded")

// Store is a memstore.Store of API objects. It is safe for concurrent use.
type Store struct {
	*memstore.Store
	// AfterWrite, if it is not nil, is called by GuaranteedUpdate after a write that changed the
	// store. It must be set before the first write.
	AfterWrite func(res *resource.Resource, e *memstore.Event) error
	// buffers are for the encoded object of a write, which the store copies. They have at most about
	// MaxObjectSize bytes, and garbage collections free those that are idle.
	buffers sync.Pool // *[]byte
}

// New returns a Store of the objects in store.
func New(store *memstore.Store) *Store {
	return &Store{Store: store, buffers: sync.Pool{New: func() any { return new([]byte) }}}
}

// Decode returns the object of rec in the storage version of res. The caller may change it.
func (s *Store) Decode(res *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	return codec.DecodeStored(res, rec)
}

// GetObject returns the object with a namespace and a name, or NotFound. The namespace of a
// cluster-scoped resource is "". The caller may change the object.
func (s *Store) GetObject(res *resource.Resource, namespace, name string) (runtime.Object, error) {
	rec := s.View().Get(codec.Key(res, namespace, name))
	if rec == nil {
		return nil, apierrors.NewNotFound(res.GroupResource(), name)
	}
	return s.Decode(res, rec)
}

// UpdateFunc returns the object to store in place of old, in the storage version. old is nil if
// there is none, and can be changed and returned. A nil object deletes. An UpdateFunc may be called
// more than once.
type UpdateFunc func(old runtime.Object) (runtime.Object, error)

// Result is the result of a write.
type Result struct {
	// Event is the change of the store. It is nil for a dry run.
	Event *memstore.Event
	// Object is the object that a dry run would have stored, in the storage version.
	Object runtime.Object
	// Stored is the object of the record that was written, in the storage version. It is nil if
	// nothing was written, and for a custom resource.
	Stored runtime.Object
}

// IsDeleted reports whether there is no object after the write.
func (r Result) IsDeleted() bool {
	if r.Event != nil {
		return r.Event.Record == nil
	}
	return r.Object == nil
}

// Reads are prefixes of the keys of other objects on which a write depends. The UpdateFunc sets
// them each time that it is called. It is called again if one of these objects was written since.
type Reads []string

// GuaranteedUpdate writes the object under key and then calls AfterWrite. A dry run does everything
// except the change of the store (DR-04). If ctx ends before the write, while update runs, nothing
// is written and the error is status.RequestTimeout.
func (s *Store) GuaranteedUpdate(ctx context.Context, res *resource.Resource, key string, dryRun bool, update UpdateFunc) (Result, error) {
	return s.GuaranteedUpdateWithReads(ctx, res, key, dryRun, nil, update)
}

// GuaranteedUpdateWithReads is GuaranteedUpdate for an update that sets reads, which may be nil.
func (s *Store) GuaranteedUpdateWithReads(ctx context.Context, res *resource.Resource, key string, dryRun bool, reads *Reads, update UpdateFunc) (Result, error) {
	return s.updateAndNotify(ctx, res, key, dryRun, reads, codec.DecodeForUpdate, update)
}

// GuaranteedUpdateUnconverted is GuaranteedUpdateWithReads for an update that does not return old,
// which is as it is stored: a custom resource is not converted.
func (s *Store) GuaranteedUpdateUnconverted(ctx context.Context, res *resource.Resource, key string, dryRun bool, reads *Reads, update UpdateFunc) (Result, error) {
	return s.updateAndNotify(ctx, res, key, dryRun, reads, codec.DecodeUnconverted, update)
}

// decodeFunc decodes the record that a write replaces.
type decodeFunc func(res *resource.Resource, rec *memstore.Record, dryRun bool) (runtime.Object, error)

func (s *Store) updateAndNotify(ctx context.Context, res *resource.Resource, key string, dryRun bool, reads *Reads, decode decodeFunc, update UpdateFunc) (Result, error) {
	result, err := s.write(ctx, res, key, dryRun, reads, decode, update)
	if err != nil || s.AfterWrite == nil || result.Event == nil || !result.Event.Changed() {
		return result, err
	}
	return result, s.AfterWrite(res, result.Event)
}

// Write is GuaranteedUpdate without AfterWrite.
func (s *Store) Write(ctx context.Context, res *resource.Resource, key string, dryRun bool, update UpdateFunc) (Result, error) {
	return s.write(ctx, res, key, dryRun, nil, codec.DecodeForUpdate, update)
}

func (s *Store) write(ctx context.Context, res *resource.Resource, key string, dryRun bool, reads *Reads, decode decodeFunc, update UpdateFunc) (Result, error) {
	var obj runtime.Object // the one that is stored
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	encode := func(rec *memstore.Record) (draft *memstore.Draft, err error) {
		obj, draft, err = s.encode(res, rec, dryRun, decode, update, (*buffer)[:0])
		if draft != nil {
			*buffer = draft.Data
		}
		err = cmp.Or(err, status.CheckContext(ctx))
		if draft != nil && reads != nil {
			draft.Reads = *reads
		}
		return draft, err
	}
	if dryRun {
		_, err := encode(s.View().Get(key))
		return Result{Object: obj}, err
	}
	event, err := s.Update(key, encode)
	if errors.Is(err, memstore.ErrQuotaExceeded) {
		return Result{}, errNoSpace
	}
	if err != nil || res.Custom != nil || !event.Changed() {
		obj = nil
	}
	return Result{Event: event, Stored: obj}, err
}

// CheckNew returns the error of encoding a new object, which a create cannot store because its name
// is in use: as on a real server, such an error comes first. It changes obj as a write does.
func (s *Store) CheckNew(res *resource.Resource, obj runtime.Object) error {
	draft, err := codec.EncodeDraft(res, obj, nil)
	if err != nil {
		return err
	}
	return checkSize(len(draft.Data))
}

// encode calls update with the object of rec, which decode decodes, and encodes the object that
// update returns in buffer, which is empty.
func (s *Store) encode(res *resource.Resource, rec *memstore.Record, dryRun bool, decode decodeFunc, update UpdateFunc, buffer []byte) (runtime.Object, *memstore.Draft, error) {
	var old runtime.Object
	if rec != nil {
		var err error
		if old, err = decode(res, rec, dryRun); err != nil {
			return nil, nil, err
		}
	}
	obj, err := update(old)
	if err != nil || obj == nil {
		return nil, nil, err
	}
	m := resource.Accessor(obj)
	revision := m.GetResourceVersion() // EncodeDraft clears it
	if !dryRun {                       // what an update or a webhook has set is in the result of a dry run
		m.SetSelfLink("")
		if res.Custom != nil { // a conversion webhook does not get it
			m.SetResourceVersion("")
		}
	}
	draft, err := codec.EncodeDraft(res, obj, buffer)
	if err != nil {
		return nil, nil, err
	}
	if rec != nil && res.Custom != nil {
		codec.ReuseStoredForm(draft, rec)
	}
	if dryRun { // of an object of any size
		obj, err = codec.DryRunResult(res, draft, obj)
	} else {
		err = checkSize(len(draft.Data))
	}
	if err != nil {
		return nil, nil, err
	}
	resource.Accessor(obj).SetResourceVersion(revision)
	return obj, draft, nil
}
