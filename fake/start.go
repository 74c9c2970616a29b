package fakeapi

import (
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// TB is the part of testing.TB that this package needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start starts a server for a test and closes it when the test ends. If the server does not start,
// the test fails at once. If it does not close, the test fails with a list of the requests that are
// left.
//
// The environment variables FAKEAPI_FAULTS, FAKEAPI_SEED and FAKEAPI_WATCH_CACHE_DELAY add
// WithFaults (rules that are separated by lines or semicolons, or the path of a file), WithSeed and
// WithWatchCacheDelay in front of opts. FAKEAPI_FAULTS come after those of opts, and MustHit does
// not require them.
//
// If the test has failed, Start logs the last 60 lines of the Timeline and writes the HTML page as
// SaveTimeline does, also for replicas.
func Start(t TB, opts ...Option) *Server {
	t.Helper()
	return startFor(t, New, opts)
}

// ForkFor is Fork for a test: it starts the second server as Start does, and closes it when the
// test ends. Parallel tests may fork one server, which must not be closed before they end.
func (s *Server) ForkFor(t TB, opts ...Option) *Server {
	t.Helper()
	return startFor(t, s.Fork, opts)
}

// startFor starts a server for a test, by New or Fork.
func startFor(t TB, start func(...Option) (*Server, error), opts []Option) *Server {
	t.Helper()
	environment, err := environmentOptions()
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	s, err := start(append(environment, opts...)...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	logThrottledErrors(t)
	t.Cleanup(func() {
		t.Helper()
		logged := false
		defer func() { // deferred, because SaveTimeline may end the test
			t.Helper()
			if err := s.Close(); err != nil {
				t.Errorf("fakeapi: closing the server: %v", err)
				if !logged {
					s.logOnFailure(t)
				}
			}
		}()
		logged = s.logOnFailure(t)
	})
	return s
}

// logThrottledErrors logs that client-go throttles the errors that it reports, if the test runs on
// virtual time, where it ends in a deadlock that does not show its cause.
func logThrottledErrors(t TB) {
	t.Helper()
	const kubernetesBegan = 2014 // a bubble of testing/synctest begins in the year 2000
	if log, ok := t.(interface{ Logf(string, ...any) }); ok && len(utilruntime.ErrorHandlers) > 1 && time.Now().Year() < kubernetesBegan {
		log.Logf("fakeapi: the first error that client-go reports in this bubble waits for years. Add to TestMain: utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]")
	}
}
