package page

import (
	"net/http"

	"example.com/fakeapi/fake/internal/timeline"
)

// isExpected reports whether an exchange has an error that clients often get and handle: an object
// or a path does not exist. In a collection it means that the namespace or the resource does not.
func isExpected(e timeline.Exchange, to requestTarget) bool {
	return e.StatusCode == http.StatusNotFound && (to.name != "" && e.Verb != "create" || to.resource == "")
}

// The severities of marks, the worst one first.
const (
	faultApplied = iota
	stepFailed
	serverError // or no response, or the error of a watch
	clientError
	faultMissed
	expectedError
	noError
)

// severity returns how much a mark deserves attention.
func (s *pageData) severity(m mark) int {
	for _, h := range m.Hits {
		if s.Hits[h].NotApplied == "" {
			return faultApplied
		}
	}
	switch {
	case m.Shape == "failed":
		return stepFailed
	case m.Shape == "bad5" || m.Shape == "none" || m.Shape == "err" || m.Shape == "junk":
		return serverError
	case m.Expected:
		return expectedError
	case m.Shape == "bad4":
		return clientError
	case len(m.Hits) > 0:
		return faultMissed
	}
	return noError
}

// chooseStart sets the mark that the page shows first: the first fault, or else the first of the
// worst errors, or else the first mark. Its details are open unless the page has no severe error.
func (s *pageData) chooseStart() {
	s.Start = -1
	worst := noError + 1
	for i, m := range s.Marks {
		if severity := s.severity(m); severity < worst {
			s.Start, worst = i, severity
		}
	}
	s.Open = worst <= serverError
}
