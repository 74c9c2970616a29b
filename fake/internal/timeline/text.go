package timeline

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/faults"
)

// The limits of the text. What is longer is shortened.
const (
	textLines = 500 // of the whole text
	minRepeat = 12  // consecutive frames or decisions of one exchange
	textPath  = 160 // bytes of a path
	textAgent = 40  // bytes of a user agent
	// textChanges is how many changes of a decision have their path in the text.
	textChanges = 8
)

// String returns the timeline as text, in the order of time: a line for each request with its
// response, and lines for the decisions of admission, the frames of watches, the hits of fault
// rules and notes. It ends with a newline unless it is empty.
func (t Timeline) String() string { return t.text(textLines/5, textLines-textLines/5) }

// Tail returns the last lines of String. If there are more, the first line is their number.
func (t Timeline) Tail(lines int) string { return t.text(0, max(lines, 0)) }

// text returns the first and the last lines.
func (t Timeline) text(first, last int) string {
	lines := t.lines()
	if left := len(lines) - first - last; left > 0 {
		lines = slices.Concat(lines[:first], []string{fmt.Sprintf("... %d lines left out ...", left)}, lines[first+left:])
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// entry is a line with its position.
type entry struct {
	instant
	seq  uint64 // the exchange of a frame or a decision, else 0
	text string
}

// entries returns the lines in the order of time.
func (t Timeline) entries() (all []entry) {
	for _, e := range t.Exchanges {
		all = append(all, entry{instant{e.Begin, e.Order}, 0, e.line()})
		for _, f := range e.Frames {
			all = append(all, entry{instant{f.Time, f.Order}, e.Seq, f.line()})
		}
		for _, d := range e.Admission {
			all = append(all, entry{instant{d.end(), d.Order}, e.Seq, d.line(e.Verb)})
		}
	}
	for _, n := range t.Notes {
		all = append(all, entry{instant{n.Time, n.Order}, 0, n.line()})
	}
	for _, h := range t.Hits {
		all = append(all, entry{instant{h.Time, t.orderOf(h)}, 0, "  ! " + h.String()})
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order))
	})
	return all
}

// orderOf returns the order of a hit among what happened at the same time: after the request that
// it hit, or, for a frame, last.
func (t Timeline) orderOf(h faults.Hit) uint64 {
	if h.Op.Phase != faults.Stream {
		for _, e := range slices.Backward(t.Exchanges) {
			path, _, _ := strings.Cut(e.Path, "?")
			if e.Begin.Equal(h.Time) && path == h.Op.Path && e.UserAgent == h.Op.UserAgent {
				return e.Order
			}
		}
	}
	return math.MaxUint64
}

// lines returns the lines of the text.
func (t Timeline) lines() []string {
	rest := t.entries()
	var lines []string
	if t.ExchangesDropped > 0 {
		lines = append(lines, fmt.Sprintf("... %d older requests forgotten ...", t.ExchangesDropped))
	}
	for len(rest) > 0 {
		run := 1
		for run < len(rest) && rest[0].seq > 0 && rest[run].seq == rest[0].seq {
			run++
		}
		left := max(0, run-minRepeat)
		for i, e := range rest[:run] {
			switch {
			case i < minRepeat/2 || i >= minRepeat/2+left:
				lines = append(lines, t.timestamp(e))
			case i == minRepeat/2:
				lines = append(lines, fmt.Sprintf("%10s      #%d ... %d more ...", "", e.seq, left))
			}
		}
		rest = rest[run:]
	}
	return lines
}

// timestamp returns the line with the time since Begin.
func (t Timeline) timestamp(e entry) string {
	since := fmt.Sprintf("%10s ", fmt.Sprintf("%+.3fs", e.at.Sub(t.Begin).Seconds()))
	if e.seq > 0 {
		return since + fmt.Sprintf("    #%d %s", e.seq, e.text)
	}
	return since + e.text
}

// line describes the exchange, without its time and frames.
func (e Exchange) line() string {
	agent, _, _ := strings.Cut(e.UserAgent, " ")
	parts := []string{fmt.Sprintf("#%d", e.Seq), shorten(cmp.Or(agent, "-"), textAgent), cmp.Or(e.Verb, e.Method), shortenPath(e.Path), "->"}
	if e.StatusCode != 0 {
		parts = append(parts, fmt.Sprint(e.StatusCode))
	} else {
		parts = append(parts, "no answer")
	}
	if e.StatusCode >= http.StatusBadRequest {
		if reason := objectInfo(e.Response).reason; reason != "" {
			parts = append(parts, reason)
		}
	}
	if e.ResourceVersion != "" {
		parts = append(parts, "rv="+e.ResourceVersion)
	}
	switch {
	case e.End.IsZero():
		parts = append(parts, "open")
	case e.End.Sub(e.Begin) >= time.Millisecond:
		parts = append(parts, "in "+e.End.Sub(e.Begin).Round(time.Millisecond).String())
	}
	if e.FramesDropped > 0 {
		parts = append(parts, fmt.Sprintf("(%d frames forgotten)", e.FramesDropped))
	}
	if e.DecisionsDropped > 0 {
		parts = append(parts, fmt.Sprintf("(%d decisions forgotten)", e.DecisionsDropped))
	}
	return strings.Join(parts, " ")
}

// line describes the frame, without its time.
func (f Frame) line() string {
	name := f.Name
	if f.Namespace != "" {
		name = f.Namespace + "/" + name
	}
	parts := []string{f.Type}
	if f.Type == "" {
		parts[0] = fmt.Sprintf("%d bytes that are no event", f.Body.Size)
	}
	if name != "" {
		parts = append(parts, name)
	}
	if f.ResourceVersion != "" {
		parts = append(parts, "rv="+f.ResourceVersion)
	}
	return strings.Join(parts, " ")
}

// shortenPath returns a path with its query in at most textPath bytes. A longer one is without the
// parameters that all watches have, so that the resourceVersion and the selectors are left.
func shortenPath(path string) string {
	if before, query, hasQuery := strings.Cut(path, "?"); hasQuery && len(path) > textPath {
		all := strings.Split(query, "&")
		kept := slices.DeleteFunc(slices.Clone(all), func(parameter string) bool {
			name, _, _ := strings.Cut(parameter, "=")
			return name == "watch" || name == "allowWatchBookmarks" || name == "timeout" || name == "timeoutSeconds"
		})
		if len(kept) < len(all) {
			path = before + "?" + strings.Join(append(kept, "..."), "&")
		}
	}
	return shorten(path, textPath)
}

// shorten cuts out the middle of a text that is longer than limit.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	half := limit/2 - 1
	return strings.ToValidUTF8(text[:half], "") + "..." + strings.ToValidUTF8(text[len(text)-half:], "")
}
