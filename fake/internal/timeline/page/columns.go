package page

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// columnWindow is the maximum delay of an event that shares the column of the write that caused it.
const columnWindow = 100 * time.Millisecond

// column is a position on the time axis: one request, or the events of one resourceVersion with the
// write that caused them.
type column struct {
	Time    int64  `json:"t"`
	Version string `json:"r,omitempty"`

	at time.Time
}

// assignColumns assigns a column to every mark. Within a lane, columns are in the order of time.
// Across lanes, a write and its events share a column: on virtual time much happens at one instant,
// and the resourceVersion relates events to writes. An event is always right of the request of its
// watch.
func (s *pageData) assignColumns() {
	slices.SortStableFunc(s.Marks, func(a, b mark) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order),
			cmp.Compare(min(a.nth, 0), min(b.nth, 0)), // a request before its events
			cmp.Compare(a.Exchange, b.Exchange), cmp.Compare(a.nth, b.nth))
	})
	shared := map[string]int{} // resourceVersion to column
	last := make([]int, len(s.Lanes))
	for i := range last {
		last[i] = -1
	}
	begun := map[int]int{} // exchange to the column of its request
	for i := range s.Marks {
		m := &s.Marks[i]
		key := m.Group
		if m.Shape == "book" {
			key = "bookmark " + m.Version
		}
		at, ok := shared[key]
		isFrame := m.nth >= 0
		request, isKnown := begun[m.Exchange]
		if key == "" || !ok || !isFrame || last[m.Lane] >= at || isKnown && request >= at || m.at.Sub(s.Columns[at].at) > columnWindow {
			at = len(s.Columns)
			s.Columns = append(s.Columns, column{Time: m.Time, Version: m.Group, at: m.at})
		}
		if key != "" {
			shared[key] = at
		}
		m.Column = at
		last[m.Lane] = at
		if !isFrame {
			begun[m.Exchange] = at
		}
	}
	s.setMarkEnds()
}

// setMarkEnds sets the columns in which long requests and watches end: the last column that begins
// no later.
func (s *pageData) setMarkEnds() {
	at := func(end time.Time) int {
		return sort.Search(len(s.Columns), func(i int) bool { return s.Columns[i].at.After(end) }) - 1
	}
	last := map[int]int{}  // exchange to the column of its last mark
	begun := map[int]int{} // exchange to the column of its request
	for i := range s.Marks {
		m := &s.Marks[i]
		if m.Exchange < 0 {
			continue
		}
		last[m.Exchange] = max(last[m.Exchange], m.Column)
		e := s.timeline.Exchanges[m.Exchange]
		if m.nth >= 0 {
			continue
		}
		begun[m.Exchange] = m.Column
		if !isStream(e) && e.End.Sub(e.Begin) >= columnWindow {
			if until := at(e.End); until > m.Column {
				m.Until = until
			}
		}
	}
	for i := range s.Spans {
		sp := &s.Spans[i]
		sp.From, sp.Until = begun[sp.Exchange], last[sp.Exchange]
		if e := s.timeline.Exchanges[sp.Exchange]; !e.End.IsZero() {
			sp.Until = max(sp.Until, at(e.End))
		} else {
			sp.Until = len(s.Columns) - 1
		}
	}
}
