package main

import (
	"context"
	"errors"
	"os"
)

// errInterrupted is the error of what ended because the command was interrupted.
var errInterrupted = errors.New("interrupted")

// interruptible calls f, which may block in the kernel, and returns early if ctx ends. f then ends
// with the process.
func interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, errInterrupted
	}
}

// ignoreInterruption returns nil for errInterrupted, which is no failure of a server.
func ignoreInterruption(err error) error {
	if errors.Is(err, errInterrupted) {
		return nil
	}
	return err
}

// readFile reads a file. It may be a FIFO whose writer is not there yet.
func readFile(ctx context.Context, path string) ([]byte, error) {
	return interruptible(ctx, func() ([]byte, error) { return os.ReadFile(path) })
}
