package scenario

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// tbRecorder is what a run without a test has instead of one: it is the fakeapi.TB
// of the server, and collects what goes wrong.
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

// add takes over an error, if it is one.
func (b *tbRecorder) add(err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = append(b.errors, err)
}

// addFirst is note for the error that the others are told behind.
func (b *tbRecorder) addFirst(err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = slices.Insert(b.errors, 0, err)
}

// runCleanups undoes what was done, the latest first, as a test does at its end.
func (b *tbRecorder) runCleanups() {
	b.mu.Lock()
	all := slices.Clone(b.cleanups)
	b.cleanups = nil
	b.mu.Unlock()
	for _, f := range slices.Backward(all) {
		f()
	}
}

// err is all that went wrong.
func (b *tbRecorder) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) == 1 {
		return b.errors[0] // as it is: a *Failure
	}
	return errors.Join(b.errors...)
}
