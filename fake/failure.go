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
		text := door.Timeline().Tail(failureLines)
		if text == "" {
			text = "nobody has asked for anything\n"
		}
		log.Logf("fakeapi: the timeline of %s:\n%s", door.URL(), text)
	}
	if !s.opts.unrecorded {
		log.Logf("fakeapi: %s", s.SaveTimeline(t))
	}
	return true
}

// doors are the server itself and its replicas, those that have a timeline.
func (s *Server) doors() (doors []*Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, door := range append([]*Server{s}, s.replicas...) {
		if !door.opts.unrecorded {
			doors = append(doors, door)
		}
	}
	return doors
}
