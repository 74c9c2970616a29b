package fakeapi

import (
	"net/http"
	"time"
)

// SkewClock puts the server's clock wrong: ahead by d, behind for a negative one, right
// again for 0. It is what the Date header of an answer says, and what creationTimestamp,
// deletionTimestamp, the times of managedFields and of issued tokens come from; the
// controllers go by it, too. How long things take stays true, and so does what clients
// write themselves. A Replica has a clock of its own.
func (s *Server) SkewClock(d time.Duration) {
	s.api.SetClockOffset(d)
	s.controllers.Wake() // the end of a grace period is now at another moment
}

// setDate says on the answer what time the server takes it to be.
func (s *Server) setDate(w http.ResponseWriter) {
	if s.api.ClockOffset() != 0 {
		w.Header().Set("Date", s.api.Now().UTC().Format(http.TimeFormat))
	}
}
