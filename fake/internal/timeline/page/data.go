package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
)

// pageData is a timeline as the page's script reads it. Positions and texts are computed here, so
// that the script only draws.
type pageData struct {
	Title string    `json:"title"`
	Begin time.Time `json:"begin"`
	// Start is the mark that the page shows first, or -1. If Open is true, its details are open.
	Start int  `json:"start"`
	Open  bool `json:"open,omitempty"`
	// Length is the length of the timeline in microseconds. All times of marks are in microseconds.
	Length    int64          `json:"length"`
	Lanes     []lane         `json:"lanes"`
	Marks     []mark         `json:"marks"`
	Spans     []span         `json:"spans"`
	Columns   []column       `json:"columns"`
	Exchanges []exchangeInfo `json:"exchanges"`
	Hits      []hitInfo      `json:"hits"`

	timeline  timeline.Timeline
	bodies    *bodies
	targets   []requestTarget // of the exchanges, by index
	laneOf    map[string]int
	placement hitPlacement
}

// lane is a row of marks: the requests of a client, the events of a watch, or notes.
type lane struct {
	Client string `json:"client"`
	// Watch describes what is watched. It is empty for the lane of a client's requests.
	Watch string `json:"watch,omitempty"`
	Label string `json:"label"`
	// Notes is true for a lane of notes. Empty is true for a watch that sent no events.
	Notes bool `json:"notes,omitempty"`
	Empty bool `json:"empty,omitempty"`

	busyUntil time.Time // the end of the latest watch in the lane
}

// mark is a request, an event, a fault or a note.
type mark struct {
	Lane   int   `json:"l"`
	Column int   `json:"c"`
	Time   int64 `json:"t"`
	// Took is the duration of a request in microseconds, or -1 if it has not ended.
	Took int64 `json:"d,omitempty"`
	// Until is the column in which a long request ended, if it is a later one.
	Until int    `json:"u,omitempty"`
	Shape string `json:"s"`
	Glyph string `json:"g"`
	Code  string `json:"n,omitempty"`
	// Name is the name of the object, or another short label.
	Name string `json:"m,omitempty"`
	Text string `json:"x"`
	// Group is the resourceVersion of this write or event. Marks with the same group are shown as
	// related.
	Group string `json:"k,omitempty"`
	// Object and Version identify the state whose body is Shown.
	Object  string `json:"o,omitempty"`
	Version string `json:"r,omitempty"`
	Shown   int    `json:"b,omitempty"`
	// Exchange counts from 0, bodies from 1.
	Exchange int   `json:"i"`
	Request  int   `json:"q,omitempty"`
	Answer   int   `json:"a,omitempty"`
	Hits     []int `json:"f,omitempty"`
	// Expected is true for an error that clients often get and handle, such as a 404 of a GET.
	Expected bool `json:"e,omitempty"`

	instant
	nth int // index among the marks of a watch; -1 for its request
}

// instant is a time, and the order of what happened at that time.
type instant struct {
	at    time.Time
	order uint64
}

// span is the duration of a watch in its lane, in columns.
type span struct {
	Lane     int   `json:"l"`
	From     int   `json:"c"`
	Until    int   `json:"u"`
	Time     int64 `json:"t"`
	Took     int64 `json:"d"`
	Exchange int   `json:"i"`
}

// exchangeInfo is the part of an exchange that the details of a mark show.
type exchangeInfo struct {
	Seq    uint64    `json:"seq"`
	Client string    `json:"client"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	Code   int       `json:"code"`
	Status string    `json:"status"`
	Begin  time.Time `json:"begin"`
	Took   string    `json:"took"`
	Lost   uint64    `json:"lost,omitempty"`
	// Admission has the decisions about the write, and DecisionsLost is how many were dropped.
	Admission     []decisionInfo `json:"admission,omitempty"`
	DecisionsLost uint64         `json:"decisionsLost,omitempty"`
}

// hitInfo is a hit of a fault rule.
type hitInfo struct {
	Name       string `json:"name"`
	Rule       string `json:"rule"`
	Op         string `json:"op"` // what the rule matched
	NotApplied string `json:"notApplied,omitempty"`
	When       string `json:"when"`
}

func newPageData(t timeline.Timeline) *pageData {
	s := &pageData{
		Begin: t.Begin, Length: t.End.Sub(t.Begin).Microseconds(),
		Lanes: []lane{}, Marks: []mark{}, Spans: []span{}, Columns: []column{}, Exchanges: []exchangeInfo{}, Hits: []hitInfo{},
		timeline: t, bodies: newBodies(), laneOf: map[string]int{},
	}
	for _, e := range t.Exchanges {
		s.targets = append(s.targets, targetOf(e))
		s.Exchanges = append(s.Exchanges, exchangeInfo{
			Seq: e.Seq, Client: clientName(e.UserAgent), Method: e.Method, Path: e.Path, Code: e.StatusCode,
			Status: answerText(e), Begin: e.Begin, Took: tookText(e), Lost: e.FramesDropped,
			Admission: s.decisionInfos(e), DecisionsLost: e.DecisionsDropped,
		})
	}
	for _, h := range t.Hits {
		s.Hits = append(s.Hits, hitInfo{
			Name: hitName(h), Rule: h.Rule.String(), Op: h.Op.Phase.String() + ": " + h.Op.String(),
			NotApplied: h.NotApplied, When: offsetText(h.Time.Sub(t.Begin)),
		})
	}
	s.placement = placeHits(t)
	for i := range t.Exchanges {
		s.addExchange(i)
	}
	s.addUnplacedHits()
	s.addNotes()
	s.linkWrites()
	s.linkLost()
	s.sortLanes()
	s.assignColumns()
	s.labelLanes()
	s.markEmptyLanes()
	s.chooseStart()
	return s
}

// addExchange adds the mark of a request, and for a watch those of its frames.
func (s *pageData) addExchange(i int) {
	e, to := s.timeline.Exchanges[i], s.targets[i]
	hits := s.placement.exchanges[i]
	m := mark{
		Lane: s.clientLane(e.UserAgent), Time: s.since(e.Begin), Took: s.took(e), Shape: shapeOf(e), Glyph: glyphOf(e), Code: codeText(e),
		Exchange: i, Hits: hits,
		Request: s.bodies.add(e.Request), Answer: s.bodies.add(e.Response), instant: instant{e.Begin, e.Order}, nth: -1,
		Expected: isExpected(e, to),
	}
	if e.Verb == "create" && to.name == "" { // the name is known even if the response is lost
		to.name = cmp.Or(e.Response.ObjectName(), e.Request.ObjectName())
		s.targets[i] = to
	}
	m.Name = cmp.Or(to.name, to.resource, lastPart(to.path))
	if to.object && isSuccess(e) && e.ResourceVersion != "" {
		m.Object, m.Version, m.Shown = to.key(), e.ResourceVersion, m.Answer
		if isWriteVerb(e.Verb) {
			m.Group = e.ResourceVersion
		}
	}
	m.Text = s.exchangeText(e, to, hits)
	s.Marks = append(s.Marks, m)
	if isStream(e) {
		s.addWatch(i)
	}
}

// addWatch adds the marks of a watch's frames, and of the faults that dropped frames.
func (s *pageData) addWatch(i int) {
	e, to := s.timeline.Exchanges[i], s.targets[i]
	at := s.watchLane(e, to)
	s.Spans = append(s.Spans, span{Lane: at, Time: s.since(e.Begin), Took: s.took(e), Exchange: i})
	lost := s.placement.lostEvents[i]
	nth, before := 0, e.Order
	add := func(m mark) {
		m.order = max(m.order, before) // a fault that dropped a frame comes after the frames before it
		m.Lane, m.Exchange, m.Time, m.nth = at, i, s.since(m.at), nth
		nth, before = nth+1, m.order
		s.Marks = append(s.Marks, m)
	}
	for n, f := range e.Frames {
		for len(lost) > 0 && !s.timeline.Hits[lost[0]].Time.After(f.Time) {
			add(s.faultMark(lost[0]))
			lost = lost[1:]
		}
		hits := s.placement.frames[frameAt{i, n}]
		m := mark{
			Shape: frameShape(f.Type), Glyph: frameGlyph(f.Type), Text: s.frameText(e, to, f, hits),
			Answer: s.bodies.addFrame(f.Body), Hits: hits, Version: f.ResourceVersion, instant: instant{f.Time, f.Order},
		}
		if isObjectEvent(f.Type) && f.ResourceVersion != "" {
			m.Group = f.ResourceVersion
			m.Object = to.withObject(f.Namespace, f.Name).key()
			m.Shown = m.Answer
		}
		if f.Type != "BOOKMARK" {
			m.Name = f.Name
		}
		add(m)
	}
	for _, h := range lost {
		add(s.faultMark(h))
	}
}

// addUnplacedHits adds the marks of faults whose exchange has been dropped.
func (s *pageData) addUnplacedHits() {
	for _, h := range s.placement.unplaced {
		m := s.faultMark(h)
		m.Lane, m.Exchange, m.Time = s.clientLane(s.timeline.Hits[h].Op.UserAgent), -1, s.since(m.at)
		s.Marks = append(s.Marks, m)
	}
}

func (s *pageData) faultMark(h int) mark {
	hit := s.timeline.Hits[h]
	m := mark{Shape: "fault", Glyph: "hit", Name: hit.Rule.Name, Text: s.faultText(hit), Hits: []int{h}, instant: instant{at: hit.Time}}
	if hit.NotApplied != "" {
		m.Shape, m.Glyph = "unapplied", "n/a"
	}
	return m
}

func (s *pageData) clientLane(client string) int {
	return s.lane("client\x00"+client, lane{Client: clientName(client)})
}

// watchLane returns the lane of a watch: one in which no other watch is open. So the consecutive
// watches of an informer share a lane.
func (s *pageData) watchLane(e timeline.Exchange, to requestTarget) int {
	what := to.watchLabel()
	for n := 1; ; n++ {
		at := s.lane(fmt.Sprintf("watch\x00%s\x00%s\x00%d", e.UserAgent, what, n), lane{Client: clientName(e.UserAgent), Watch: what})
		l := &s.Lanes[at]
		if l.busyUntil.After(e.Begin) {
			continue
		}
		l.busyUntil = e.End
		if e.End.IsZero() {
			l.busyUntil = s.timeline.End.Add(time.Hour)
		}
		return at
	}
}

func (s *pageData) lane(key string, l lane) int {
	at, ok := s.laneOf[key]
	if !ok {
		at = len(s.Lanes)
		s.laneOf[key] = at
		s.Lanes = append(s.Lanes, l)
	}
	return at
}

// sortLanes sorts the lanes of notes first, and those of a client's watches below the lane of its
// requests.
func (s *pageData) sortLanes() {
	first := map[string]int{}
	order := make([]int, len(s.Lanes))
	for i, l := range s.Lanes {
		order[i] = i
		if _, ok := first[l.Client]; !ok {
			first[l.Client] = i
			if l.Notes {
				first[l.Client] -= len(s.Lanes)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(first[s.Lanes[a].Client], first[s.Lanes[b].Client])
	})
	lanes, moved := make([]lane, len(order)), make([]int, len(order))
	for to, from := range order {
		lanes[to], moved[from] = s.Lanes[from], to
	}
	s.Lanes = lanes
	for i := range s.Marks {
		s.Marks[i].Lane = moved[s.Marks[i].Lane]
	}
	for i := range s.Spans {
		s.Spans[i].Lane = moved[s.Spans[i].Lane]
	}
}

func (s *pageData) since(at time.Time) int64 { return at.Sub(s.Begin).Microseconds() }

func (s *pageData) took(e timeline.Exchange) int64 {
	if e.End.IsZero() {
		return -1
	}
	return e.End.Sub(e.Begin).Microseconds()
}

func isSuccess(e timeline.Exchange) bool {
	return e.StatusCode >= http.StatusOK && e.StatusCode < http.StatusMultipleChoices
}

// isStream reports whether an exchange is a watch that was accepted.
func isStream(e timeline.Exchange) bool {
	return e.Verb == "watch" && (e.StatusCode == http.StatusOK || len(e.Frames) > 0)
}

func isWriteVerb(verb string) bool {
	switch verb {
	case "create", "update", "patch", "delete":
		return true
	}
	return false
}

func hitName(h faults.Hit) string {
	if h.Rule.Name != "" {
		return h.Rule.Name
	}
	return h.Rule.String()
}
