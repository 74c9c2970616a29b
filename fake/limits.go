package fakeapi

import (
	"fmt"
	"time"

	"example.com/fakeapi/memstore"
)

// limits are how much a server takes and remembers.
type limits struct {
	// historyAge, changes and historyBytes bound what is remembered; quota the objects that there are.
	historyAge          time.Duration
	historyCount        int
	historyBytes, quota int64
	// maxReads and writing are how many requests may be in flight, watching how many watches open.
	maxReads, maxWrites, maxWatches int64
}

// storeOptions are those that the store keeps.
func (l limits) storeOptions() memstore.Options {
	return memstore.Options{HistoryAge: l.historyAge, HistoryCount: l.historyCount, HistoryBytes: l.historyBytes, Quota: l.quota}
}

// hasStoreLimits reports whether one of those that the store keeps is given.
func (l limits) hasStoreLimits() bool { return l.storeOptions() != memstore.Options{} }

// WithHistory bounds what the server remembers of the past: for how long
// (default 5 minutes, as a real server between compactions) and how many
// changes at most (default 100,000). Zero keeps a default, a negative value
// takes the bound away. Reads, continue tokens and watches from before are
// answered 410 Expired.
func WithHistory(age time.Duration, changes int) Option {
	return func(o *options) error {
		o.historyAge, o.historyCount = age, changes
		return nil
	}
}

// WithHistoryBytes bounds what the server remembers of the past in bytes: the objects that were replaced
// or deleted, in the encodings that clients had read them in, and a KiB for each change. The default is
// 256 MiB, zero keeps it, a negative value takes the bound away. The oldest is forgotten first.
func WithHistoryBytes(bytes int64) Option {
	return func(o *options) error {
		o.historyBytes = bytes
		return nil
	}
}

// WithQuota bounds what all objects take together, in bytes: as they are stored, in JSON, and half a KiB
// for each. The default is 2 GiB, as etcd's; zero keeps it, a negative value takes the bound away. A write
// that exceeds it is answered 500 with "etcdserver: mvcc: database space exceeded", as from a real server
// whose etcd is full, and changes nothing; fixtures that do are an error. Deletes go on, unless finalizers
// or a grace period make a write of them, and so does what makes no object larger. When there is room
// again writes are taken at once: an etcd has to be compacted, defragmented and disarmed first.
func WithQuota(bytes int64) Option {
	return func(o *options) error {
		o.quota = bytes
		return nil
	}
}

// WithMaxInFlight limits how many requests are served at a time: those that read (get
// and list), and all others. One more is answered 429 with the text "Too many requests,
// please try again later." and Retry-After 1 (HT-08), until others have ended. 0 is no
// limit, as by default; a real server has 400 and 200. Watches and other long-running
// requests do not count. Nobody is exempt, where a real server lets the group
// system:masters pass. What a fault rule delays is being served.
func WithMaxInFlight(readOnly, mutating int) Option {
	return func(o *options) error {
		if readOnly < 0 || mutating < 0 {
			return fmt.Errorf("fakeapi: %d and %d requests in flight: a limit is not negative", readOnly, mutating)
		}
		o.maxReads, o.maxWrites = int64(readOnly), int64(mutating)
		return nil
	}
}

// WithMaxWatches limits how many watches are open at a time. One more is answered like one request too
// many with WithMaxInFlight: 429 and Retry-After 1, until others have ended. 0 is no limit, as by default and
// on a real server, which limits only how many begin at once.
func WithMaxWatches(n int) Option {
	return func(o *options) error {
		if n < 0 {
			return fmt.Errorf("fakeapi: %d watches: a limit is not negative", n)
		}
		o.maxWatches = int64(n)
		return nil
	}
}
