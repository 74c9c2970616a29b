package fakeapi

import "time"

// ReinitializeCache makes the watch cache initialize again for a duration, as after the start of an
// API server or the loss of its connection to etcd. All watches end. Until it is over, new watches
// and lists get 429 TooManyRequests "storage is (re)initializing" with a Retry-After (RS-31, WA-39).
// Gets, lists with a limit and without selectors, and writes are served. A duration of 0 ends it,
// also for custom resources whose definition has changed.
func (s *Server) ReinitializeCache(d time.Duration) {
	s.note("ReinitializeCache for %v", d)
	s.api.ReinitializeCache(d)
}

// WithCacheInitializing starts the server with a watch cache that initializes for a duration; see
// Server.ReinitializeCache. That of a custom resource also initializes for this duration when its
// definition is created, and after each change of its spec or its accepted names (CD-08). On a real
// server these are some milliseconds after the first request for the type. The default is 0.
func WithCacheInitializing(d time.Duration) Option {
	return durationOption("cache-not-ready window", d, func(o *options) { o.cacheInitializing = d })
}
