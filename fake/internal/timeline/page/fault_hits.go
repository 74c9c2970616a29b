package page

import (
	"net/url"
	"strings"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
)

// frameAt identifies a frame by the index of its watch and its own index.
type frameAt struct{ exchange, frame int }

// hitPlacement assigns hits, by index, to exchanges and frames. A hit has the operation and the
// time, but not the request. If several requests match, those without a hit of the rule come first,
// and of these the one that began last. Of those that began at the same time, the first is taken.
type hitPlacement struct {
	exchanges  map[int][]int     // requests and responses
	frames     map[frameAt][]int // frames that were sent
	lostEvents map[int][]int     // by watch: frames that were dropped
	unplaced   []int             // the exchange has been dropped
}

func placeHits(t timeline.Timeline) hitPlacement {
	m := hitPlacement{exchanges: map[int][]int{}, frames: map[frameAt][]int{}, lostEvents: map[int][]int{}}
	alike := map[string][]int{}
	for i, e := range t.Exchanges {
		path, _, _ := strings.Cut(e.Path, "?")
		alike[e.UserAgent+"\x00"+path] = append(alike[e.UserAgent+"\x00"+path], i)
	}
	used := map[string]map[int]bool{}
	for n, h := range t.Hits {
		once := h.Op.Phase.String() + " " + h.Rule.String()
		if used[once] == nil {
			used[once] = map[int]bool{}
		}
		at, ok := findRequest(t, h, alike[h.Op.UserAgent+"\x00"+h.Op.Path], used[once])
		switch {
		case !ok:
			m.unplaced = append(m.unplaced, n)
		case h.Op.Phase != faults.Stream:
			used[once][at] = true
			m.exchanges[at] = append(m.exchanges[at], n)
		default:
			m.placeFrameHit(t.Exchanges[at], at, n, h)
		}
	}
	return m
}

// findRequest returns the request that was active when the rule hit.
func findRequest(t timeline.Timeline, h faults.Hit, alike []int, used map[int]bool) (int, bool) {
	best, found, bestScore := 0, false, 0
	for _, i := range alike {
		e := t.Exchanges[i]
		if e.Begin.After(h.Time) || !e.End.IsZero() && e.End.Before(h.Time) {
			continue
		}
		score := 0
		if e.Verb == h.Op.Verb || h.Op.Verb == "" {
			score += 4
		}
		if sameQuery(e.Path, h.Op.Query) {
			score += 2
		}
		if h.Op.Phase != faults.Stream && !used[i] {
			score++
		}
		if !found || score > bestScore || score == bestScore && e.Begin.After(t.Exchanges[best].Begin) {
			best, found, bestScore = i, true, score
		}
	}
	return best, found
}

func sameQuery(path string, want url.Values) bool {
	_, raw, _ := strings.Cut(path, "?")
	got, err := url.ParseQuery(raw)
	return err == nil && got.Encode() == want.Encode()
}

// placeFrameHit finds the frame that was hit, if it was sent.
func (m *hitPlacement) placeFrameHit(e timeline.Exchange, at, n int, h faults.Hit) {
	if passes(h) {
		for i, f := range e.Frames {
			if !f.Time.Before(h.Time) && f.Type == string(h.Op.Event) && f.Name == h.Op.Name && f.Namespace == h.Op.Namespace {
				m.frames[frameAt{at, i}] = append(m.frames[frameAt{at, i}], n)
				return
			}
		}
	}
	m.lostEvents[at] = append(m.lostEvents[at], n)
}

// passes reports whether a frame that was hit is sent, possibly changed or delayed.
func passes(h faults.Hit) bool {
	for _, e := range h.Rule.Do {
		name, _, _ := strings.Cut(e.String(), "(")
		switch name {
		case "drop", "end", "error", "hang", "reset", "truncate":
			return false
		}
	}
	return true
}
