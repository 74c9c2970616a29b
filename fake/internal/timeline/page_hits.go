package timeline

import (
	"net/url"
	"strings"

	"example.com/fakeapi/faults"
)

// frameAt names a frame by the index of its watch and its own.
type frameAt struct{ exchange, frame int }

// meetings say what the hits hit, by the index of the hit. A hit tells the
// operation and the time, not the request: where two requests are alike in all
// of it, the earlier one counts that the rule has not hit yet.
type meetings struct {
	exchanges map[int][]int     // requests and answers
	frames    map[frameAt][]int // frames that were sent all the same
	lost      map[int][]int     // of a watch: frames that were not
	strays    []int             // the request is not remembered
}

func meet(t Timeline) meetings {
	m := meetings{exchanges: map[int][]int{}, frames: map[frameAt][]int{}, lost: map[int][]int{}}
	alike := map[string][]int{}
	for i, e := range t.Exchanges {
		path, _, _ := strings.Cut(e.Path, "?")
		alike[e.UserAgent+"\x00"+path] = append(alike[e.UserAgent+"\x00"+path], i)
	}
	taken := map[string]map[int]bool{}
	for n, h := range t.Hits {
		once := h.Op.Phase.String() + " " + h.Rule.String()
		if taken[once] == nil {
			taken[once] = map[int]bool{}
		}
		at, ok := whichRequest(t, h, alike[h.Op.UserAgent+"\x00"+h.Op.Path], taken[once])
		switch {
		case !ok:
			m.strays = append(m.strays, n)
		case h.Op.Phase != faults.Stream:
			taken[once][at] = true
			m.exchanges[at] = append(m.exchanges[at], n)
		default:
			m.meetFrame(t.Exchanges[at], at, n, h)
		}
	}
	return m
}

// whichRequest picks the request that was under way when the rule hit.
func whichRequest(t Timeline, h faults.Hit, alike []int, taken map[int]bool) (int, bool) {
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
		if h.Op.Phase != faults.Stream && !taken[i] {
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

// meetFrame finds the frame that was hit, if the effects let it pass.
func (m *meetings) meetFrame(e Exchange, at, n int, h faults.Hit) {
	if passes(h) {
		for i, f := range e.Frames {
			if !f.Time.Before(h.Time) && f.Type == string(h.Op.Event) && f.Name == h.Op.Name && f.Namespace == h.Op.Namespace {
				m.frames[frameAt{at, i}] = append(m.frames[frameAt{at, i}], n)
				return
			}
		}
	}
	m.lost[at] = append(m.lost[at], n)
}

// passes reports whether the frame that was hit is sent after all, changed or
// late.
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
