package memstore

import (
	"errors"
	"fmt"
)

// The errors of the package, for use with errors.Is.
var (
	// ErrCompacted means that a revision or the events after it have been removed from the history.
	// The error is a *CompactedError. A Kubernetes API server responds with 410 Gone and the reason
	// Expired.
	ErrCompacted = errors.New("memstore: revision has been compacted")

	// ErrFutureRevision means that the store has not reached a revision. The error is a
	// *FutureRevisionError.
	ErrFutureRevision = errors.New("memstore: revision is in the future")

	// ErrRestored means that the store was restored from a snapshot while the cursor was in use, so
	// the history that the cursor followed no longer exists.
	ErrRestored = errors.New("memstore: store was restored from a snapshot")

	// ErrQuotaExceeded means that the records would exceed the quota after the write. Deleting
	// records makes room.
	ErrQuotaExceeded = errors.New("memstore: quota exceeded")

	// ErrEmptyKey means that the key of a write was empty.
	ErrEmptyKey = errors.New("memstore: empty key")
)

// CompactedError is returned for a revision below a floor. It matches ErrCompacted.
type CompactedError struct {
	Requested Revision // the revision of the view, or the revision after which events were to be read
	Floor     Revision // the oldest revision that is available
}

// Error implements error.
func (e *CompactedError) Error() string {
	return fmt.Sprintf("memstore: revision %d has been compacted, the oldest is %d", e.Requested, e.Floor)
}

// Is reports whether target is ErrCompacted.
func (e *CompactedError) Is(target error) bool { return target == ErrCompacted }

// FutureRevisionError is returned for a revision above the current one. It matches
// ErrFutureRevision.
type FutureRevisionError struct {
	Requested Revision // the revision that was to be read
	Current   Revision // the revision of the store at that time
}

// Error implements error.
func (e *FutureRevisionError) Error() string {
	return fmt.Sprintf("memstore: revision %d is in the future, the current one is %d", e.Requested, e.Current)
}

// Is reports whether target is ErrFutureRevision.
func (e *FutureRevisionError) Is(target error) bool { return target == ErrFutureRevision }
