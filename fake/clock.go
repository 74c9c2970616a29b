package fakeapi

import (
	"net/http"
	"time"
)

// SkewClock sets the server's clock wrong: ahead by d, behind if d is negative, and correct if it
// is 0. It affects the Date header, creationTimestamp, deletionTimestamp, the times of
// managedFields, the tokens of service accounts, and the controllers. Durations are not affected,
// nor are times that clients write. A Replica has its own clock. A token that was issued before may
// have expired, or, if the clock is more than a minute behind, not be valid yet: 401.
func (s *Server) SkewClock(d time.Duration) {
	s.note("SkewClock by %v", d)
	s.api.SetClockOffset(d)
	s.controllers.Wake() // grace periods now end at another time
}

// setDate sets the Date header by the server's clock.
func (s *Server) setDate(w http.ResponseWriter) {
	if s.api.ClockOffset() != 0 {
		w.Header().Set("Date", s.api.Now().UTC().Format(http.TimeFormat))
	}
}
