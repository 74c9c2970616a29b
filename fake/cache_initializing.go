package fakeapi

import "time"

// ReinitializeCache makes the watch cache initialize again for a duration, as after the start of an
// API server or the loss of its connection to etcd. All watches end. Until it is over, new watches
// and lists from the cache get 429 TooManyRequests "storage is (re)initializing" with a Retry-After
// (RS-31, WA-39). Gets, exact and continued lists, lists with a limit and without selectors, and
// writes are served. A duration of 0 ends it.
func (s *Server) ReinitializeCache(d time.Duration) { s.api.ReinitializeCache(d) }

// WithCacheInitializing starts the server with a watch cache that initializes for a duration; see
// Server.ReinitializeCache.
func WithCacheInitializing(d time.Duration) Option {
	return durationOption("cache-not-ready window", d, func(o *options) { o.cacheInitializing = d })
}
