package fakeapi

import "time"

// ReinitializeCache is a watch cache that has to be filled again, which takes a time, as
// after the start of an API server or the loss of its connection to etcd: all watches
// end, and until then new ones and lists that the cache would answer get 429
// TooManyRequests "storage is (re)initializing" with a Retry-After (RS-31, WA-39). Gets,
// exact and continued lists, lists with a limit and without selectors, and writes
// go on. A time of 0 ends the window.
func (s *Server) ReinitializeCache(d time.Duration) { s.api.ReinitializeCache(d) }

// WithCacheInitializing has the server begin with a watch cache that is not ready for a
// time; see Server.ReinitializeCache.
func WithCacheInitializing(d time.Duration) Option {
	return durationOption("cache-not-ready window", d, func(o *options) { o.cacheInitializing = d })
}
