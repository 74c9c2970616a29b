package fakeapi

// maxLoggedLines is the number of timeline lines that a failed test logs.
const maxLoggedLines = 60

// logOnFailure logs the timelines of the server and its replicas if the test has failed, and
// reports whether it has.
func (s *Server) logOnFailure(t TB) bool {
	t.Helper()
	log, ok := t.(interface {
		Failed() bool
		Logf(format string, args ...any)
	})
	if !ok || !log.Failed() {
		return false
	}
	for _, server := range s.serversWithTimeline() {
		text := server.Timeline().Tail(maxLoggedLines)
		if text == "" {
			text = "no requests\n"
		}
		log.Logf("fakeapi: the timeline of %s:\n%s", server.URL(), text)
	}
	if s.opts.timeline {
		log.Logf("fakeapi: %s", s.SaveTimeline(t))
	}
	return true
}

// serversWithTimeline returns the server and its replicas, without those that have no timeline.
func (s *Server) serversWithTimeline() (servers []*Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, server := range append([]*Server{s}, s.replicas...) {
		if server.opts.timeline {
			servers = append(servers, server)
		}
	}
	return servers
}
