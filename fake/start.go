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
// If the test has failed, Start logs the last 60 lines of the Timeline and writes the HTML page as
// SaveTimeline does, also for replicas.
func Start(t TB, opts ...Option) *Server {
	t.Helper()
	s, err := New(opts...)
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
