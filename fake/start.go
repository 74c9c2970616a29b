package fakeapi

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start makes a server for a test and closes it when the test ends. A server
// that cannot start fails the test at once; one that cannot end marks it as
// failed and names the requests that hang.
//
// When the test has failed it logs the last 60 lines of the Timeline, and leaves the whole
// as a page, as SaveTimeline does; those of its replicas, too.
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
		defer func() { // also if the folder of the artifacts ends the test
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
