package page

import (
	"fmt"
	"strings"
)

// row is an exchange in the table.
type row struct {
	Seq                                        uint64
	When, Client, Verb, Path, Code, RV, Events string
	Took, Admission, Faults, Shape             string
}

// rows returns the exchanges as a table, which needs no script.
func (s *pageData) rows() []row {
	rows := make([]row, len(s.timeline.Exchanges))
	for i, e := range s.timeline.Exchanges {
		verb := e.Verb
		if verb == "" {
			verb = e.Method
		}
		r := row{
			Seq: e.Seq, When: offsetText(e.Begin.Sub(s.Begin)), Client: clientName(e.UserAgent), Verb: verb, Path: e.Path,
			Code: answerText(e), RV: e.ResourceVersion, Took: strings.TrimPrefix(tookText(e), "took "), Shape: shapeOf(e),
		}
		if n := uint64(len(e.Frames)) + e.FramesDropped; n > 0 || isStream(e) {
			r.Events = count(int(n), "event")
		}
		r.Admission = countNames(decisionTexts(e))
		var names []string
		for _, n := range append(append([]int{}, s.placement.exchanges[i]...), s.inFrames(i)...) {
			names = append(names, hitName(s.timeline.Hits[n]))
		}
		r.Faults = countNames(names)
		rows[i] = r
	}
	return rows
}

// inFrames returns the hits on the frames of a watch.
func (s *pageData) inFrames(i int) []int {
	var hits []int
	for n := range s.timeline.Exchanges[i].Frames {
		hits = append(hits, s.placement.frames[frameAt{i, n}]...)
	}
	return append(hits, s.placement.lostEvents[i]...)
}

// countNames lists each name once, with its count.
func countNames(names []string) string {
	var order []string
	times := map[string]int{}
	for _, name := range names {
		if times[name] == 0 {
			order = append(order, name)
		}
		times[name]++
	}
	for i, name := range order {
		if n := times[name]; n > 1 {
			order[i] = fmt.Sprintf("%s (%d times)", name, n)
		}
	}
	return strings.Join(order, ", ")
}

// faultRow is a fault rule with its number of hits and its first hit.
type faultRow struct {
	Name, Rule, First string
	Hits, Missed      int
}

func (s *pageData) faultRows() []faultRow {
	var rows []faultRow
	at := map[string]int{}
	for _, h := range s.Hits {
		n, ok := at[h.Rule]
		if !ok {
			n = len(rows)
			at[h.Rule] = n
			rows = append(rows, faultRow{Name: h.Name, Rule: h.Rule, First: h.When})
		}
		if h.NotApplied != "" {
			rows[n].Missed++
		} else {
			rows[n].Hits++
		}
	}
	return rows
}

// summary returns the numbers of requests, watches, events, failures and decisions.
func (s *pageData) summary() []string {
	watches, events, bad, decisions := 0, 0, 0, 0
	for _, e := range s.timeline.Exchanges {
		decisions += len(e.Admission) + int(e.DecisionsDropped)
		if isStream(e) {
			watches++
		}
		events += len(e.Frames)
		if shape := shapeOf(e); shape == "bad4" || shape == "bad5" {
			bad++
		}
	}
	words := []string{
		durationText(s.timeline.End.Sub(s.timeline.Begin)), count(len(s.Exchanges), "request"),
		count(bad, "error answer"), count(watches, "watch"), count(events, "event"), count(len(s.Hits), "fault hit"),
	}
	if decisions > 0 {
		words = append(words, count(decisions, "decision")+" of admission")
	}
	if n := s.timeline.ExchangesDropped; n > 0 {
		words = append(words, count(int(n), "earlier request")+" forgotten")
	}
	return words
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		what += "es"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
