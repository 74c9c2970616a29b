package fakeapi

import (
	"fmt"
	"time"

	"example.com/fakeapi/memstore"
)

// Limits bounds what a server stores, remembers and serves at a time. In each field zero is the
// default.
//
// These bounds of a request are fixed. A real server has none of them, and would take minutes or
// gigabytes. Above them the response is 413:
//
//   - YAML of 3 MiB after its aliases are expanded.
//   - In a strategic merge patch, 10,000 elements of a list, and 50 million comparisons of
//     elements, which are those of a merge of two lists with 5000 elements each.
//   - A merge patch whose size times its depth is 128 Mi.
//   - In a JSON patch, 10,000 operations, as on a real server; the length of the longest list times
//     the number of insertions and removals, 40 million; and the size of the object times the
//     number of copy operations, 16 MiB, if these could copy more than the 3 MiB that a real server
//     allows.
//   - In an apply patch, 80,000 fields of one object.
//   - The number of owner references times that of the controllers among them, 100,000.
type Limits struct {
	// HistoryAge is how long the server remembers a change. The default is 5 minutes, the time
	// between two compactions of a real server. A negative value removes the limit. Reads, continue
	// tokens and watches from before get 410 Expired.
	HistoryAge time.Duration
	// HistoryChanges is how many changes the server remembers. The default is 100,000. A negative
	// value removes the limit.
	HistoryChanges int
	// HistoryBytes is the size of the history: the objects that were replaced or deleted, in all
	// encodings that clients have read them in, and 1 KiB for each change. The oldest changes are
	// forgotten first. The default is 256 MiB. A negative value removes the limit.
	HistoryBytes int64
	// StorageBytes is the quota for all objects: their size in JSON, and 512 bytes for each. The
	// default is 2 GiB, as for etcd. A negative value removes the limit. A write above it gets 500
	// "etcdserver: mvcc: database space exceeded", as on a real server whose etcd is full, and
	// changes nothing. Deletes are possible, unless finalizers or a grace period turn them into a
	// write, and so are writes that do not make an object larger. When there is space again, writes
	// succeed; an etcd must be compacted, defragmented and disarmed first.
	StorageBytes int64
	// MaxRequestsInFlight is how many get and list requests are served at a time, and
	// MaxMutatingRequestsInFlight is how many others, as with the flags --max-requests-inflight and
	// --max-mutating-requests-inflight of kube-apiserver. A request above them gets 429 "Too many
	// requests, please try again later." and Retry-After 1 (HT-08). The default is no limit; that
	// of a real server is 400 and 200. Watches and other long-running requests do not count. The
	// group system:masters is not exempt, unlike on a real server. A request that a fault rule
	// delays counts.
	MaxRequestsInFlight, MaxMutatingRequestsInFlight int
	// MaxWatches is how many watches are open at a time. One more gets 429 and Retry-After 1. The
	// default is no limit, as on a real server, which only limits how many start at a time.
	MaxWatches int
}

// WithLimits sets the limits whose fields are not zero.
func WithLimits(l Limits) Option {
	return func(o *options) error {
		for _, limit := range []struct {
			name  string
			value int
		}{
			{"MaxRequestsInFlight", l.MaxRequestsInFlight}, {"MaxMutatingRequestsInFlight", l.MaxMutatingRequestsInFlight}, {"MaxWatches", l.MaxWatches},
		} {
			if limit.value < 0 {
				return fmt.Errorf("fakeapi: %s is negative: %d", limit.name, limit.value)
			}
		}
		o.limits = o.limits.merge(l)
		return nil
	}
}

// merge returns l with the fields of other that are not zero.
func (l Limits) merge(other Limits) Limits {
	return Limits{
		HistoryAge:                  orDefault(other.HistoryAge, l.HistoryAge),
		HistoryChanges:              orDefault(other.HistoryChanges, l.HistoryChanges),
		HistoryBytes:                orDefault(other.HistoryBytes, l.HistoryBytes),
		StorageBytes:                orDefault(other.StorageBytes, l.StorageBytes),
		MaxRequestsInFlight:         orDefault(other.MaxRequestsInFlight, l.MaxRequestsInFlight),
		MaxMutatingRequestsInFlight: orDefault(other.MaxMutatingRequestsInFlight, l.MaxMutatingRequestsInFlight),
		MaxWatches:                  orDefault(other.MaxWatches, l.MaxWatches),
	}
}

func orDefault[T int | int64 | time.Duration](value, byDefault T) T {
	if value == 0 {
		return byDefault
	}
	return value
}

// storeOptions returns the limits of the store.
func (l Limits) storeOptions() memstore.Options {
	return memstore.Options{HistoryAge: l.HistoryAge, HistoryCount: l.HistoryChanges, HistoryBytes: l.HistoryBytes, Quota: l.StorageBytes}
}

// hasStoreLimits reports whether a limit of the store is set.
func (l Limits) hasStoreLimits() bool { return l.storeOptions() != memstore.Options{} }
