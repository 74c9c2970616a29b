package scenario

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// backstage is what a run without a test has instead of one: it is the fakeapi.TB
// of the server, and collects what goes wrong.
type backstage struct {
	mu     sync.Mutex // guards all below
	undo   []func()
	errors []error
}

func newBackstage() *backstage { return &backstage{} }

// Helper implements fakeapi.TB.
func (*backstage) Helper() {}

// Cleanup implements fakeapi.TB.
func (b *backstage) Cleanup(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.undo = append(b.undo, f)
}

// Errorf implements fakeapi.TB.
func (b *backstage) Errorf(format string, args ...any) { b.note(fmt.Errorf(format, args...)) }

// Fatalf implements fakeapi.TB, but returns.
func (b *backstage) Fatalf(format string, args ...any) { b.Errorf(format, args...) }

// note takes over an error, if it is one.
func (b *backstage) note(err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = append(b.errors, err)
}

// lead is note for the error that the others are told behind.
func (b *backstage) lead(err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = slices.Insert(b.errors, 0, err)
}

// cleanUp undoes what was done, the latest first, as a test does at its end.
func (b *backstage) cleanUp() {
	b.mu.Lock()
	all := slices.Clone(b.undo)
	b.undo = nil
	b.mu.Unlock()
	for _, f := range slices.Backward(all) {
		f()
	}
}

// result is all that went wrong.
func (b *backstage) result() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) == 1 {
		return b.errors[0] // as it is: a *Failure
	}
	return errors.Join(b.errors...)
}
