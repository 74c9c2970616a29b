package memstore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

// programRun executes a program of bytes on a store and on the model, and fails at the first
// difference. It ends when there are no more bytes, so a fuzzer can cut a program anywhere.
type programRun struct {
	t         testing.TB
	bytes     []byte
	store     *memstore.Store
	model     *model
	cursors   []*cursorPair
	snapshots []snapshotPair
	forks     []forkedStore // stores that are not in use at the moment
	ranges    int
	// identified has the records under a prefix for each identity that was seen, in all stores.
	identified map[prefixIdentity][]*memstore.Record
}

type prefixIdentity struct {
	prefix   string
	identity memstore.Identity
}

type forkedStore struct {
	s       *memstore.Store
	m       *model
	cursors []*cursorPair
}

type cursorPair struct {
	cursor *memstore.Cursor
	model  *modelCursor
	ready  <-chan struct{} // not nil if the cursor had no events
	idle   bool            // the cursor had no events and was not ahead of the store, so ready must not be closed without an event
}

type snapshotPair struct {
	s     memstore.Snapshot
	state modelState
	rev   memstore.Revision
}

// programKeys are few, so that programs use them repeatedly. Some are prefixes of others, contain
// bytes next to "/" or above 127, or have no topic or an empty one.
var programKeys = []string{
	"pods/a/x", "pods/a/y", "pods/a", "pods/a/", "pods/a/xx", "pods/a-b/x", "pods/a.b/x", "pods/b/x", "pods/b/\xff",
	"pods/b/\x00", "podsx/a/x", "pods", "nodes/n1", "nodes/n2", "nodes/n1/x", "/x", "z/\xc3\xa4/q", "z/",
}

var programPrefixes = []string{
	"", "pods/", "pods/a/", "pods/a", "pods", "pods/b/", "nodes/", "nodes/n1", "absent/", "z/", "/", "p", "podsx/", "pods/c/",
}

func runProgram(t testing.TB, limits memstore.Options, program []byte) {
	x := &programRun{t: t, bytes: program, store: memstore.New(limits), model: newModel(limits), identified: map[prefixIdentity][]*memstore.Record{}}
	for len(x.bytes) > 0 {
		x.model.trim()
		x.step()
		x.model.trim()
		x.checkPresent()
	}
	for {
		x.finish()
		if len(x.forks) == 0 {
			return
		}
		u := x.forks[len(x.forks)-1]
		x.forks = x.forks[:len(x.forks)-1]
		x.store, x.model, x.cursors = u.s, u.m, u.cursors
	}
}

// finish reads every revision, and every cursor to the end.
func (x *programRun) finish() {
	x.model.trim()
	for rev := x.model.exact; rev <= x.model.rev; rev++ {
		x.viewAt(rev)
	}
	for _, p := range x.cursors {
		for range 3 {
			x.read(p, 1000)
		}
	}
}

func (x *programRun) draw(n int) int {
	if len(x.bytes) == 0 {
		return 0
	}
	b := x.bytes[0]
	x.bytes = x.bytes[1:]
	return int(b) % n
}

func (x *programRun) key() string    { return programKeys[x.draw(len(programKeys))] }
func (x *programRun) prefix() string { return programPrefixes[x.draw(len(programPrefixes))] }

func (x *programRun) record() *modelRecord {
	i := x.draw(16)
	return &modelRecord{
		text:  []string{`{"v":"@","n":1}`, `@`, `plain`, `end@`}[i%4],
		uid:   []string{"u1", "u1", "u1", "u2"}[i/4],
		label: []string{"", "x", "x", "y"}[i/4],
	}
}

// revision returns a revision from slightly below the watch floor to slightly above the current
// one.
func (x *programRun) revision() memstore.Revision {
	low := x.model.watch - min(3, x.model.watch)
	return low + memstore.Revision((x.draw(256)<<8+x.draw(256))%int(x.model.rev-low+4))
}

func (x *programRun) step() {
	switch op := x.draw(24); op {
	case 0, 1, 2, 3, 4, 5, 6:
		x.put(x.key(), x.record())
	case 7, 8, 9:
		x.put(x.key(), nil)
	case 10:
		x.load(x.draw(20))
	case 11:
		x.load(x.draw(6) * x.draw(30))
	case 12:
		x.store.CompactViews()
		x.model.exact = x.model.rev
	case 13:
		x.store.CompactAll()
		x.model.exact, x.model.watch = x.model.rev, x.model.rev
	case 14, 15:
		x.viewAt(x.revision())
	case 16, 17:
		x.watch(x.prefix(), x.revision())
	case 18, 19:
		if n := len(x.cursors); n > 0 {
			x.read(x.cursors[x.draw(n)], 1+x.draw(9))
		}
	case 20:
		x.snapshots = append(x.snapshots, snapshotPair{x.store.Snapshot(), x.model.current(), x.model.rev})
		require.Equal(x.t, x.model.rev, x.snapshots[len(x.snapshots)-1].s.Revision())
	case 21:
		x.restore()
	case 22:
		x.fork()
	case 23:
		time.Sleep(time.Duration(x.draw(8)) * time.Second)
	}
}

func (x *programRun) put(key string, rec *modelRecord) {
	before, existed := x.model.current()[key]
	changed := x.model.write(key, rec)
	e, err := x.store.Update(key, func(cur *memstore.Record) (*memstore.Draft, error) {
		require.Equal(x.t, existed, cur != nil)
		if rec == nil {
			return nil, nil
		}
		return rec.draft(), nil
	})
	require.NoError(x.t, err)
	require.Equal(x.t, changed, e.Changed())
	switch {
	case changed:
		x.sameEvent(x.model.events[len(x.model.events)-1], e)
	case existed:
		require.Same(x.t, e.Record, e.Prev)
		require.Equal(x.t, before.revision, e.Revision)
	default:
		require.Nil(x.t, e)
	}
}

// load writes n keys at once. Every seventh load fails and must not change anything.
func (x *programRun) load(n int) {
	next := x.model.fork()
	fail := errors.New("load failed")
	err := x.store.Load(func(tx *memstore.Tx) error {
		for range n {
			key, rec := x.key(), x.record()
			if x.draw(4) == 0 {
				next.write(key, nil)
				tx.Delete(key)
			} else {
				next.write(key, rec)
				require.NoError(x.t, tx.Put(key, *rec.draft()))
			}
			want, ok := next.current()[key]
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
	x.model = next
}

func (x *programRun) restore() {
	s := snapshotPair{state: modelState{}} // of an empty store
	if n := len(x.snapshots); n > 0 {
		s = x.snapshots[x.draw(n)]
	}
	bump := memstore.Revision(x.draw(3) * 50)
	x.store.Restore(s.s, bump)
	x.model.restore(s.state, s.rev, bump)
}

// fork forks the store and continues with the fork, the original or another fork.
func (x *programRun) fork() {
	current := forkedStore{x.store, x.model, x.cursors}
	next := forkedStore{x.store.Fork(), x.model.fork(), nil}
	switch x.draw(3) {
	case 0:
		current, next = next, current
	case 1:
		if n := len(x.forks); n > 0 {
			i := x.draw(n)
			x.forks[i], next = next, x.forks[i]
		}
	}
	if len(x.forks) < 4 {
		x.forks = append(x.forks, current)
	}
	x.store, x.model, x.cursors = next.s, next.m, next.cursors
}

func (x *programRun) watch(prefix string, after memstore.Revision) {
	c, err := x.store.Watch(prefix, after)
	if after < x.model.watch {
		require.ErrorIs(x.t, err, memstore.ErrCompacted)
		require.Equal(x.t, &memstore.CompactedError{Requested: after, Floor: x.model.watch}, err)
		return
	}
	require.NoError(x.t, err)
	p := &cursorPair{cursor: c, model: &modelCursor{prefix, after, x.model.restores}}
	if len(x.cursors) == 8 {
		x.cursors = x.cursors[1:]
	}
	x.cursors = append(x.cursors, p)
}

func (x *programRun) read(p *cursorPair, size int) {
	if p.ready != nil {
		if woken := x.model.mustWake(p.model); woken || p.idle {
			require.Equal(x.t, woken, isClosed(p.ready), "closed if and only if the topic was written")
		}
		p.ready = nil
	}
	buf := make([]*memstore.Event, size)
	want, wantErr := x.model.next(p.model, size)
	n, err := p.cursor.Next(buf)
	require.ErrorIs(x.t, err, wantErr)
	require.Equal(x.t, len(want), n)
	for i, e := range want {
		x.sameEvent(e, buf[i])
	}
	if err != nil {
		require.True(x.t, isClosed(p.cursor.Ready()), "the channel of a failed cursor is closed")
		return
	}
	require.Equal(x.t, p.model.pos, p.cursor.Revision())
	if n == 0 {
		p.ready, p.idle = p.cursor.Ready(), p.model.pos == x.model.rev
		require.False(x.t, isClosed(p.ready))
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

func (x *programRun) viewAt(rev memstore.Revision) {
	v, err := x.store.ViewAt(rev)
	switch {
	case rev > x.model.rev:
		require.Equal(x.t, &memstore.FutureRevisionError{Requested: rev, Current: x.model.rev}, err)
		require.ErrorIs(x.t, err, memstore.ErrFutureRevision)
	case rev < x.model.exact:
		require.Equal(x.t, &memstore.CompactedError{Requested: rev, Floor: x.model.exact}, err)
		require.ErrorIs(x.t, err, memstore.ErrCompacted)
	default:
		require.NoError(x.t, err)
		x.sameView(x.model.states[rev], rev, v)
	}
}

func (x *programRun) checkPresent() {
	exact, watch := x.store.Floors()
	require.Equal(x.t, x.model.exact, exact, "view floor")
	require.Equal(x.t, x.model.watch, watch, "watch floor")
	require.Equal(x.t, x.model.rev, x.store.Revision())
	x.sameView(x.model.current(), x.model.rev, x.store.View())
}

func (x *programRun) sameView(want modelState, rev memstore.Revision, v memstore.View) {
	require.Equal(x.t, rev, v.Revision())
	for _, key := range programKeys {
		rec, ok := want[key]
		x.sameRecord(rec, ok, key, v.Get(key))
	}
	require.Nil(x.t, v.Get("pods/never"))
	for _, prefix := range programPrefixes {
		x.sameRange(want, v, prefix, "")
		require.Equal(x.t, len(want.keysFrom(prefix, "")), v.Count(prefix), "count %q", prefix)
		x.sameIdentity(v, prefix)
	}
	x.ranges++ // does not use program bytes
	prefix, from := programPrefixes[x.ranges%len(programPrefixes)], programKeys[x.ranges*7%len(programKeys)]
	x.sameRange(want, v, prefix, from)
	x.sameRange(want, v, prefix, from+"\x00")
}

// sameIdentity checks that all views with the same identity have the same records under a prefix.
func (x *programRun) sameIdentity(v memstore.View, prefix string) {
	id := prefixIdentity{prefix, v.Identity(prefix)}
	got := slices.Collect(v.Range(prefix, ""))
	if want, ok := x.identified[id]; ok && !slices.Equal(want, got) {
		x.t.Fatalf("the identity of prefix %q at %d is that of other records", prefix, v.Revision())
	}
	x.identified[id] = got
}

func (x *programRun) sameRange(want modelState, v memstore.View, prefix, from string) {
	var got []string
	for r := range v.Range(prefix, from) {
		got = append(got, r.Key)
		x.sameRecord(want[r.Key], true, r.Key, r)
	}
	if diff := cmp.Diff(want.keysFrom(prefix, from), got); diff != "" {
		x.t.Fatalf("range %q from %q at %d (-want +got):\n%s", prefix, from, v.Revision(), diff)
	}
	n := 0
	for range v.Range(prefix, from) { // stop early, at different positions
		if n++; n >= len(got)/2 {
			break
		}
	}
}

func (x *programRun) sameEvent(want modelEvent, got *memstore.Event) {
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

func (x *programRun) sameRecord(want modelRecord, exists bool, key string, got *memstore.Record) {
	if !exists {
		require.Nil(x.t, got, key)
		return
	}
	require.NotNil(x.t, got, key)
	// Comparing without reflection is faster. This is called millions of times.
	label, _ := got.Labels.Get("l")
	field, _ := got.Fields.Get("f")
	if got.Key != key || string(got.Data) != want.data() || got.Revision != want.revision || got.CreateRevision != want.created ||
		got.UID != want.uid || label != want.label || field != want.label || cap(got.Data) > len(got.Data)+len(got.Data)/2+16 ||
		strings.Contains(string(got.Data), "@") {
		x.t.Fatalf("key %q: want %+v, got %+v", key, want, got)
	}
}
