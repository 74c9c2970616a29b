package memstore

import (
	"errors"
	"fmt"
)

// The kinds of failure that a caller tells apart, for use with errors.Is.
var (
	// ErrCompacted: the revision, or the history after it, is no longer kept.
	// It arrives as a *CompactedError. On the wire it is 410 Gone, reason Expired.
	ErrCompacted = errors.New("memstore: revision has been compacted")

	// ErrFutureRevision: the store has not reached the revision yet. It arrives as a *FutureRevisionError.
	ErrFutureRevision = errors.New("memstore: revision is in the future")

	// ErrRestored: the store was restored from a snapshot while the cursor was open,
	// so the history that the cursor followed no longer exists.
	ErrRestored = errors.New("memstore: store was restored from a snapshot")

	// ErrQuotaExceeded: the records would take more than the quota. Deleting some makes room.
	ErrQuotaExceeded = errors.New("memstore: quota exceeded")

	// ErrEmptyKey: a write named no key.
	ErrEmptyKey = errors.New("memstore: empty key")
)

// CompactedError says that a revision lies below a floor. errors.Is(err, ErrCompacted) holds.
type CompactedError struct {
	Requested Revision // what was asked for: a view at it, or the events after it
	Floor     Revision // the oldest revision that would have been answered
}

// Error implements error.
func (e *CompactedError) Error() string {
	return fmt.Sprintf("memstore: revision %d has been compacted, the oldest is %d", e.Requested, e.Floor)
}

// Is makes errors.Is(err, ErrCompacted) hold.
func (e *CompactedError) Is(target error) bool { return target == ErrCompacted }

// FutureRevisionError says that a revision has not happened yet. errors.Is(err, ErrFutureRevision) holds.
type FutureRevisionError struct {
	Requested Revision // what was asked for
	Current   Revision // the store's revision at that moment
}

// Error implements error.
func (e *FutureRevisionError) Error() string {
	return fmt.Sprintf("memstore: revision %d is in the future, the current one is %d", e.Requested, e.Current)
}

// Is makes errors.Is(err, ErrFutureRevision) hold.
func (e *FutureRevisionError) Is(target error) bool { return target == ErrFutureRevision }
