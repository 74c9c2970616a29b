package memstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

// machine runs a program of bytes on a store and on the model, and fails at the first difference. Out of
// bytes it stops, so that a fuzzer may cut a program anywhere.
type machine struct {
	t       testing.TB
	in      []byte
	s       *memstore.Store
	m       *model
	cursors []*pair
	snaps   []snap
	others  []universe // forks that were left, and originals that were forked
	ranges  int
}

type universe struct {
	s       *memstore.Store
	m       *model
	cursors []*pair
}

type pair struct {
	c    *memstore.Cursor
	m    *modelCursor
	wake <-chan struct{} // taken when the cursor had nothing; nil otherwise
	idle bool            // it had nothing though it was not ahead of the store: no wake-up may come for nothing
}

type snap struct {
	s     memstore.Snapshot
	state modelState
	rev   memstore.Revision
}

// machineKeys are few, so that programs meet again at the same ones, and awkward: keys that are
// prefixes of others, bytes around "/", bytes above 127, a key without a topic and one with an empty one.
var machineKeys = []string{
	"pods/a/x", "pods/a/y", "pods/a", "pods/a/", "pods/a/xx", "pods/a-b/x", "pods/a.b/x", "pods/b/x", "pods/b/\xff",
	"pods/b/\x00", "podsx/a/x", "pods", "nodes/n1", "nodes/n2", "nodes/n1/x", "/x", "z/\xc3\xa4/q", "z/",
}

var machinePrefixes = []string{
	"", "pods/", "pods/a/", "pods/a", "pods", "pods/b/", "nodes/", "nodes/n1", "absent/", "z/", "/", "p", "podsx/", "pods/c/",
}

func runMachine(t testing.TB, limits memstore.Options, program []byte) {
	x := &machine{t: t, in: program, s: memstore.New(limits), m: newModel(limits)}
	for len(x.in) > 0 {
		x.m.trim()
		x.step()
		x.m.trim()
		x.checkPresent()
	}
	for {
		x.finish()
		if len(x.others) == 0 {
			return
		}
		u := x.others[len(x.others)-1]
		x.others = x.others[:len(x.others)-1]
		x.s, x.m, x.cursors = u.s, u.m, u.cursors
	}
}

// finish reads every revision and every cursor to the end.
func (x *machine) finish() {
	x.m.trim()
	for rev := x.m.exact; rev <= x.m.rev; rev++ {
		x.viewAt(rev)
	}
	for _, p := range x.cursors {
		for range 3 {
			x.read(p, 1000)
		}
	}
}

func (x *machine) byte(n int) int {
	if len(x.in) == 0 {
		return 0
	}
	b := x.in[0]
	x.in = x.in[1:]
	return int(b) % n
}

func (x *machine) key() string    { return machineKeys[x.byte(len(machineKeys))] }
func (x *machine) prefix() string { return machinePrefixes[x.byte(len(machinePrefixes))] }

func (x *machine) record() *modelRecord {
	i := x.byte(16)
	return &modelRecord{
		text:  []string{`{"v":"@","n":1}`, `@`, `plain`, `end@`}[i%4],
		uid:   []string{"u1", "u1", "u1", "u2"}[i/4],
		label: []string{"", "x", "x", "y"}[i/4],
	}
}

// revision draws one from a little before the floor to a little after the present.
func (x *machine) revision() memstore.Revision {
	low := x.m.watch - min(3, x.m.watch)
	return low + memstore.Revision((x.byte(256)<<8+x.byte(256))%int(x.m.rev-low+4))
}

func (x *machine) step() {
	switch op := x.byte(24); op {
	case 0, 1, 2, 3, 4, 5, 6:
		x.put(x.key(), x.record())
	case 7, 8, 9:
		x.put(x.key(), nil)
	case 10:
		x.load(x.byte(20))
	case 11:
		x.load(x.byte(6) * x.byte(30))
	case 12:
		x.s.CompactViews()
		x.m.exact = x.m.rev
	case 13:
		x.s.CompactAll()
		x.m.exact, x.m.watch = x.m.rev, x.m.rev
	case 14, 15:
		x.viewAt(x.revision())
	case 16, 17:
		x.watch(x.prefix(), x.revision())
	case 18, 19:
		if n := len(x.cursors); n > 0 {
			x.read(x.cursors[x.byte(n)], 1+x.byte(9))
		}
	case 20:
		x.snaps = append(x.snaps, snap{x.s.Snapshot(), x.m.now(), x.m.rev})
		require.Equal(x.t, x.m.rev, x.snaps[len(x.snaps)-1].s.Revision())
	case 21:
		x.restore()
	case 22:
		x.fork()
	case 23:
		time.Sleep(time.Duration(x.byte(8)) * time.Second)
	}
}

func (x *machine) put(key string, rec *modelRecord) {
	before, had := x.m.now()[key]
	changed := x.m.write(key, rec)
	e, err := x.s.Update(key, func(cur *memstore.Record) (*memstore.Draft, error) {
		require.Equal(x.t, had, cur != nil)
		if rec == nil {
			return nil, nil
		}
		return rec.draft(), nil
	})
	require.NoError(x.t, err)
	require.Equal(x.t, changed, e.Changed())
	switch {
	case changed:
		x.sameEvent(x.m.events[len(x.m.events)-1], e)
	case had:
		require.Same(x.t, e.Record, e.Prev)
		require.Equal(x.t, before.revision, e.Revision)
	default:
		require.Nil(x.t, e)
	}
}

// load writes n keys at once; every seventh load fails and must leave no trace.
func (x *machine) load(n int) {
	next := x.m.fork()
	fail := errors.New("changed my mind")
	err := x.s.Load(func(tx *memstore.Tx) error {
		for range n {
			key, rec := x.key(), x.record()
			if x.byte(4) == 0 {
				next.write(key, nil)
				tx.Delete(key)
			} else {
				next.write(key, rec)
				require.NoError(x.t, tx.Put(key, *rec.draft()))
			}
			want, ok := next.now()[key]
			x.sameRecord(want, ok, key, tx.Get(key))
		}
		if n%7 == 6 {
			return fail
		}
		return nil
	})
	if n%7 == 6 {
		require.ErrorIs(x.t, err, fail)
		return
	}
	require.NoError(x.t, err)
	x.m = next
}

func (x *machine) restore() {
	s := snap{state: modelState{}} // of a store that never was
	if n := len(x.snaps); n > 0 {
		s = x.snaps[x.byte(n)]
	}
	bump := memstore.Revision(x.byte(3) * 50)
	x.s.Restore(s.s, bump)
	x.m.restore(s.state, s.rev, bump)
}

// fork goes on with the fork or with the original, and sometimes with one that was left earlier.
func (x *machine) fork() {
	here := universe{x.s, x.m, x.cursors}
	there := universe{x.s.Fork(), x.m.fork(), nil}
	switch x.byte(3) {
	case 0:
		here, there = there, here
	case 1:
		if n := len(x.others); n > 0 {
			i := x.byte(n)
			x.others[i], there = there, x.others[i]
		}
	}
	if len(x.others) < 4 {
		x.others = append(x.others, here)
	}
	x.s, x.m, x.cursors = there.s, there.m, there.cursors
}

func (x *machine) watch(prefix string, after memstore.Revision) {
	c, err := x.s.Watch(prefix, after)
	if after < x.m.watch {
		require.ErrorIs(x.t, err, memstore.ErrCompacted)
		require.Equal(x.t, &memstore.CompactedError{Requested: after, Floor: x.m.watch}, err)
		return
	}
	require.NoError(x.t, err)
	p := &pair{c: c, m: &modelCursor{prefix, after, x.m.era}}
	if len(x.cursors) == 8 {
		x.cursors = x.cursors[1:]
	}
	x.cursors = append(x.cursors, p)
}

func (x *machine) read(p *pair, size int) {
	if p.wake != nil {
		if stirred := x.m.stirred(p.m); stirred || p.idle {
			require.Equal(x.t, stirred, isClosed(p.wake), "woken when, and only when, its topic was written")
		}
		p.wake = nil
	}
	buf := make([]*memstore.Event, size)
	want, wantErr := x.m.next(p.m, size)
	n, err := p.c.Next(buf)
	require.ErrorIs(x.t, err, wantErr)
	require.Equal(x.t, len(want), n)
	for i, e := range want {
		x.sameEvent(e, buf[i])
	}
	if err != nil {
		require.True(x.t, isClosed(p.c.Ready()), "a failed cursor never waits")
		return
	}
	require.Equal(x.t, p.m.pos, p.c.Revision())
	if n == 0 {
		p.wake, p.idle = p.c.Ready(), p.m.pos == x.m.rev
		require.False(x.t, isClosed(p.wake))
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (x *machine) viewAt(rev memstore.Revision) {
	v, err := x.s.ViewAt(rev)
	switch {
	case rev > x.m.rev:
		require.Equal(x.t, &memstore.FutureRevisionError{Requested: rev, Current: x.m.rev}, err)
		require.ErrorIs(x.t, err, memstore.ErrFutureRevision)
	case rev < x.m.exact:
		require.Equal(x.t, &memstore.CompactedError{Requested: rev, Floor: x.m.exact}, err)
		require.ErrorIs(x.t, err, memstore.ErrCompacted)
	default:
		require.NoError(x.t, err)
		x.sameView(x.m.states[rev], rev, v)
	}
}

func (x *machine) checkPresent() {
	exact, watch := x.s.Floors()
	require.Equal(x.t, x.m.exact, exact, "exact floor")
	require.Equal(x.t, x.m.watch, watch, "watch floor")
	require.Equal(x.t, x.m.rev, x.s.Revision())
	x.sameView(x.m.now(), x.m.rev, x.s.View())
}

func (x *machine) sameView(want modelState, rev memstore.Revision, v memstore.View) {
	require.Equal(x.t, rev, v.Revision())
	for _, key := range machineKeys {
		rec, ok := want[key]
		x.sameRecord(rec, ok, key, v.Get(key))
	}
	require.Nil(x.t, v.Get("pods/never"))
	for _, prefix := range machinePrefixes {
		x.sameRange(want, v, prefix, "")
		require.Equal(x.t, len(want.keysFrom(prefix, "")), v.Count(prefix), "count %q", prefix)
	}
	x.ranges++ // drawn from no byte, so that programs stay dense
	prefix, from := machinePrefixes[x.ranges%len(machinePrefixes)], machineKeys[x.ranges*7%len(machineKeys)]
	x.sameRange(want, v, prefix, from)
	x.sameRange(want, v, prefix, from+"\x00")
}

func (x *machine) sameRange(want modelState, v memstore.View, prefix, from string) {
	var got []string
	for r := range v.Range(prefix, from) {
		got = append(got, r.Key)
		x.sameRecord(want[r.Key], true, r.Key, r)
	}
	if diff := cmp.Diff(want.keysFrom(prefix, from), got); diff != "" {
		x.t.Fatalf("range %q from %q at %d (-want +got):\n%s", prefix, from, v.Revision(), diff)
	}
	n := 0
	for range v.Range(prefix, from) { // stopping early must be possible, at every distance
		if n++; n >= len(got)/2 {
			break
		}
	}
}

func (x *machine) sameEvent(want modelEvent, got *memstore.Event) {
	require.Equal(x.t, want.rev, got.Revision)
	require.Equal(x.t, want.key, got.Key())
	require.True(x.t, got.Changed())
	x.sameRecord(deref(want.after), want.after != nil, want.key, got.Record)
	x.sameRecord(deref(want.prev), want.prev != nil, want.key, got.Prev)
	if want.prev == nil {
		require.Nil(x.t, got.DeletedRecord())
		return
	}
	require.Equal(x.t, want.prev.dataAt(want.rev), string(got.DeletedRecord().Data))
	require.Equal(x.t, want.rev, got.DeletedRecord().Revision)
	require.Equal(x.t, want.prev.created, got.DeletedRecord().CreateRevision)
	require.Same(x.t, got.DeletedRecord(), got.DeletedRecord())
}

func deref(r *modelRecord) modelRecord {
	if r == nil {
		return modelRecord{}
	}
	return *r
}

func (x *machine) sameRecord(want modelRecord, exists bool, key string, got *memstore.Record) {
	if !exists {
		require.Nil(x.t, got, key)
		return
	}
	require.NotNil(x.t, got, key)
	// Compared without reflection first: this runs millions of times.
	label, _ := got.Labels.Get("l")
	field, _ := got.Fields.Get("f")
	if got.Key != key || string(got.Data) != want.data() || got.Revision != want.revision || got.CreateRevision != want.created ||
		got.UID != want.uid || label != want.label || field != want.label || cap(got.Data) > len(got.Data)+len(got.Data)/2+16 ||
		strings.Contains(string(got.Data), "@") {
		x.t.Fatalf("key %q: want %+v, got %+v", key, want, got)
	}
}
