package verbs

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// parseRevision reads a resourceVersion; "" is 0 like "0".
func parseRevision(s string) (memstore.Revision, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", s, err)
	}
	return memstore.Revision(n), nil
}

// reach waits until the store is at least at the resourceVersion given (GT-04,
// GT-05). "" and "0" are always reached. A bad one is the plain error that is
// answered 500 (GT-06).
func (a *API) reach(ctx context.Context, resourceVersion string) error {
	rev, err := parseRevision(resourceVersion)
	if err != nil {
		return err
	}
	return a.await(ctx, rev)
}

// await waits for a revision from the future, for FutureWait at most; then it
// is the 504 of RS-05.
func (a *API) await(ctx context.Context, rev memstore.Revision) error {
	if rev <= a.store.Revision() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.settings.FutureWait)
	defer cancel()
	err := a.store.Wait(ctx, rev)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return status.TooLargeResourceVersion(uint64(rev), uint64(a.store.Revision()))
	}
	return err
}
