package fakeapi

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
// The environment variables FAKEAPI_FAULTS, FAKEAPI_SEED and FAKEAPI_WATCH_CACHE_DELAY add WithFaults
// (rules that are separated by lines or semicolons, or the path of a file), WithSeed and
// WithWatchCacheDelay in front of opts. FAKEAPI_FAULTS come after those of opts, and MustHit does not
// require them.
//
// If the test has failed, Start logs the last 60 lines of the Timeline and writes the HTML page as
// SaveTimeline does, also for replicas.
func Start(t TB, opts ...Option) *Server {
	t.Helper()
	environment, err := environmentOptions()
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	s, err := New(append(environment, opts...)...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
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
