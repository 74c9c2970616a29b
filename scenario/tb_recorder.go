package scenario

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// tbRecorder implements fakeapi.TB for a run without a test. It records errors and cleanup
// functions.
type tbRecorder struct {
	mu       sync.Mutex // guards all below
	cleanups []func()
	errors   []error
}

func newTBRecorder() *tbRecorder { return &tbRecorder{} }

// Helper implements fakeapi.TB.
func (*tbRecorder) Helper() {}

// Cleanup implements fakeapi.TB.
func (r *tbRecorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Errorf implements fakeapi.TB.
func (r *tbRecorder) Errorf(format string, args ...any) { r.add(fmt.Errorf(format, args...)) }

// Fatalf implements fakeapi.TB, but returns.
func (r *tbRecorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

// add records an error unless it is nil.
func (r *tbRecorder) add(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, err)
}

// addFirst records an error before all others.
func (r *tbRecorder) addFirst(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = slices.Insert(r.errors, 0, err)
}

// runCleanups runs the cleanup functions, the last one first.
func (r *tbRecorder) runCleanups() {
	r.mu.Lock()
	all := slices.Clone(r.cleanups)
	r.cleanups = nil
	r.mu.Unlock()
	for _, f := range slices.Backward(all) {
		f()
	}
}

// err returns the recorded errors, joined if there are several.
func (r *tbRecorder) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.errors) == 1 {
		return r.errors[0] // not joined: a *Failure
	}
	return errors.Join(r.errors...)
}
