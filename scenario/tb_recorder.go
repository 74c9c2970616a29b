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
func (b *tbRecorder) Cleanup(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cleanups = append(b.cleanups, f)
}

// Errorf implements fakeapi.TB.
func (b *tbRecorder) Errorf(format string, args ...any) { b.add(fmt.Errorf(format, args...)) }

// Fatalf implements fakeapi.TB, but returns.
func (b *tbRecorder) Fatalf(format string, args ...any) { b.Errorf(format, args...) }

// add records an error unless it is nil.
func (b *tbRecorder) add(err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = append(b.errors, err)
}

// addFirst records an error before all others.
func (b *tbRecorder) addFirst(err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = slices.Insert(b.errors, 0, err)
}

// runCleanups runs the cleanup functions, the last one first.
func (b *tbRecorder) runCleanups() {
	b.mu.Lock()
	all := slices.Clone(b.cleanups)
	b.cleanups = nil
	b.mu.Unlock()
	for _, f := range slices.Backward(all) {
		f()
	}
}

// err returns the recorded errors, joined if there are several.
func (b *tbRecorder) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) == 1 {
		return b.errors[0] // not joined: a *Failure
	}
	return errors.Join(b.errors...)
}
