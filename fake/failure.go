package fakeapi

// failureLines is how much of a timeline a failed test logs.
const failureLines = 60

// tellFailure logs the timelines of a server and of its replicas if the test has failed,
// and reports whether it has.
func (s *Server) tellFailure(t TB) bool {
	t.Helper()
	log, ok := t.(interface {
		Failed() bool
		Logf(format string, args ...any)
	})
	if !ok || !log.Failed() {
		return false
	}
	for _, door := range s.doors() {
		if door.opts.unrecorded {
			continue
		}
		text := door.Timeline().Tail(failureLines)
		if text == "" {
			text = "nobody has asked for anything\n"
		}
		log.Logf("fakeapi: the timeline of %s:\n%s", door.URL(), text)
	}
	return true
}

// doors are the server itself and its replicas.
func (s *Server) doors() []*Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Server{s}, s.replicas...)
}
