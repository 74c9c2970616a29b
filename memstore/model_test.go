package memstore_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/fakeapi/memstore"
)

// model is a simple implementation of the store: each state is a map and all events are in one
// slice, without sharing. See program_test.go for its use.
type model struct {
	limits       memstore.Options
	rev          memstore.Revision
	exact, watch memstore.Revision
	states       map[memstore.Revision]modelState // since the last restore
	events       []modelEvent                     // since the last restore
	restores     int
}

type modelState map[string]modelRecord

// modelRecord is comparable: text holds "@" where the revision is stamped, if it is.
type modelRecord struct {
	text, uid, label  string
	created, revision memstore.Revision
}

type modelEvent struct {
	rev         memstore.Revision
	key         string
	after, prev *modelRecord
	at          time.Time
}

func newModel(limits memstore.Options) *model {
	start := limits.StartRevision
	return &model{
		limits: limits, rev: start, exact: start, watch: start,
		states: map[memstore.Revision]modelState{start: {}},
	}
}

func (m *model) fork() *model {
	f := *m
	f.states = maps.Clone(m.states) // its states are never modified
	f.events = slices.Clone(m.events)
	return &f
}

func (m *model) current() modelState { return m.states[m.rev] }

// write stores a record, or deletes it if next is nil, and reports whether that changed anything.
func (m *model) write(key string, rec *modelRecord) bool {
	prev, existed := m.current()[key]
	e := modelEvent{rev: m.rev + 1, key: key, at: time.Now()}
	state := maps.Clone(m.current())
	if existed {
		e.prev = &prev
	}
	switch {
	case rec == nil && !existed:
		return false
	case rec == nil:
		delete(state, key)
	default:
		rec := *rec
		rec.created, rec.revision = prev.created, prev.revision
		if existed && rec == prev {
			return false
		}
		if rec.revision = e.rev; !existed {
			rec.created = e.rev
		}
		e.after, state[key] = &rec, rec
	}
	m.rev = e.rev
	m.states[m.rev] = state
	m.events = append(m.events, e)
	return true
}

// trim applies the limits. It is called whenever the store applies them.
func (m *model) trim() {
	kept := m.after(m.watch)
	var bytes int64
	for _, e := range kept {
		bytes += e.cost()
	}
	for _, e := range kept {
		if len(kept) <= m.limits.HistoryCount && bytes <= m.limits.HistoryBytes && time.Since(e.at) < m.limits.HistoryAge {
			break
		}
		kept = kept[1:]
		bytes -= e.cost()
		m.watch = e.rev
	}
	m.exact = max(m.exact, m.watch)
}

func (e modelEvent) cost() int64 {
	if e.prev == nil {
		return 1024
	}
	return 1024 + int64(len(e.prev.data()))
}

func (m *model) after(rev memstore.Revision) []modelEvent {
	i, _ := slices.BinarySearchFunc(m.events, rev+1, func(e modelEvent, r memstore.Revision) int { return cmp.Compare(e.rev, r) })
	return m.events[i:]
}

func (m *model) restore(state modelState, rev, bump memstore.Revision) {
	if bump > 0 {
		rev = max(m.rev, rev) + bump
	}
	m.rev, m.exact, m.watch = rev, rev, rev
	m.states = map[memstore.Revision]modelState{rev: state}
	m.events = nil
	m.restores++
}

// modelCursor is a watch of the model.
type modelCursor struct {
	prefix   string
	pos      memstore.Revision
	restores int
}

// matchesTopic reports whether an event has the topic of the cursor.
func (c *modelCursor) matchesTopic(e modelEvent) bool {
	topic, _, narrow := strings.Cut(c.prefix, "/")
	own, _, _ := strings.Cut(e.key, "/")
	return !narrow || own == topic
}

// mustWake reports whether the channel of a waiting cursor must be closed.
func (m *model) mustWake(c *modelCursor) bool {
	return c.restores != m.restores || slices.ContainsFunc(m.after(c.pos), c.matchesTopic)
}

// next is Cursor.Next for a buffer of size elements.
func (m *model) next(c *modelCursor, size int) (out []modelEvent, err error) {
	if c.restores != m.restores {
		return nil, memstore.ErrRestored
	}
	for _, e := range m.after(c.pos) {
		if e.rev <= m.watch && c.matchesTopic(e) {
			return nil, memstore.ErrCompacted
		}
		if strings.HasPrefix(e.key, c.prefix) {
			out = append(out, e)
		}
		if len(out) == size {
			c.pos = e.rev
			return out, nil
		}
	}
	c.pos = max(c.pos, m.rev)
	return out, nil
}

// data returns the text with the revision inserted.
func (r modelRecord) data() string { return r.dataAt(r.revision) }

func (r modelRecord) dataAt(rev memstore.Revision) string {
	return strings.Replace(r.text, "@", strconv.FormatUint(uint64(rev), 10), 1)
}

// draft returns the draft of the record.
func (r modelRecord) draft() *memstore.Draft {
	d := &memstore.Draft{UID: r.uid, RevisionOffset: strings.Index(r.text, "@")}
	d.Data = []byte(strings.Replace(r.text, "@", "", 1))
	if r.label != "" {
		d.Labels = memstore.MakePairs(map[string]string{"l": r.label, "a": "b"})
		d.Fields = memstore.MakePairs(map[string]string{"f": r.label})
	}
	return d
}

// keysFrom returns the keys that Range returns.
func (s modelState) keysFrom(prefix, from string) []string {
	var keys []string
	for k := range s {
		if strings.HasPrefix(k, prefix) && k >= from {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
