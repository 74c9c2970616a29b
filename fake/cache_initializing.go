package fakeapi

import "time"

// ReinitializeCache makes the watch cache initialize again for a duration, as after the start of an
// API server or the loss of its connection to etcd. All watches end. Until it is over, new watches
// and lists get 429 TooManyRequests "storage is (re)initializing" with a Retry-After (RS-31,
// WA-39). Gets, lists with a limit and without selectors, and writes are served. A duration of 0
// ends it, also for custom resources whose definition has changed.
func (s *Server) ReinitializeCache(d time.Duration) {
	s.note("ReinitializeCache for %v", d)
	s.api.ReinitializeCache(d)
}

// WithCacheInitializing starts the server with a watch cache that initializes for a duration; see
// Server.ReinitializeCache. That of a custom resource also initializes for this duration when its
// definition is created, and after each change of its spec or its accepted names (CD-08). On a real
// server these are some milliseconds after the first request for the type. The default is 0.
func WithCacheInitializing(d time.Duration) Option {
	return durationOption("WithCacheInitializing", d, func(o *options) { o.cacheInitializing = d })
}

// WithWatchCacheDelay keeps the watch cache of the server a duration behind the store, as
// Replica.Delay does for a replica: watches send a change when it is that old, and reads that need
// not be of the most recent state, such as lists at resourceVersion "0", do not see it before. All
// other reads, and writes, use the store, and so do authorization, webhooks and policies, except on
// a replica. It is for clients that read from a cache: theirs is older than on a fast server. The
// default is 0.
func WithWatchCacheDelay(d time.Duration) Option {
	return durationOption("WithWatchCacheDelay", d, func(o *options) { o.watchCacheDelay = d })
}
