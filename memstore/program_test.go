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
	r := &programRun{t: t, bytes: program, store: memstore.New(limits), model: newModel(limits), identified: map[prefixIdentity][]*memstore.Record{}}
	for len(r.bytes) > 0 {
		r.model.trim()
		r.step()
		r.model.trim()
		r.checkPresent()
	}
	for {
		r.finish()
		if len(r.forks) == 0 {
			return
		}
		u := r.forks[len(r.forks)-1]
		r.forks = r.forks[:len(r.forks)-1]
		r.store, r.model, r.cursors = u.s, u.m, u.cursors
	}
}

// finish reads every revision, and every cursor to the end.
func (r *programRun) finish() {
	r.model.trim()
	for rev := r.model.exact; rev <= r.model.rev; rev++ {
		r.viewAt(rev)
	}
	for _, p := range r.cursors {
		for range 3 {
			r.read(p, 1000)
		}
	}
}

func (r *programRun) draw(n int) int {
	if len(r.bytes) == 0 {
		return 0
	}
	b := r.bytes[0]
	r.bytes = r.bytes[1:]
	return int(b) % n
}

func (r *programRun) key() string    { return programKeys[r.draw(len(programKeys))] }
func (r *programRun) prefix() string { return programPrefixes[r.draw(len(programPrefixes))] }

func (r *programRun) record() *modelRecord {
	i := r.draw(16)
	return &modelRecord{
		text:  []string{`{"v":"@","n":1}`, `@`, `plain`, `end@`}[i%4],
		uid:   []string{"u1", "u1", "u1", "u2"}[i/4],
		label: []string{"", "x", "x", "y"}[i/4],
	}
}

// revision returns a revision from slightly below the watch floor to slightly above the current
// one.
func (r *programRun) revision() memstore.Revision {
	low := r.model.watch - min(3, r.model.watch)
	return low + memstore.Revision((r.draw(256)<<8+r.draw(256))%int(r.model.rev-low+4))
}

func (r *programRun) step() {
	switch op := r.draw(24); op {
	case 0, 1, 2, 3, 4, 5, 6:
		r.put(r.key(), r.record())
	case 7, 8, 9:
		r.put(r.key(), nil)
	case 10:
		r.load(r.draw(20))
	case 11:
		r.load(r.draw(6) * r.draw(30))
	case 12:
		r.store.CompactViews()
		r.model.exact = r.model.rev
	case 13:
		r.store.CompactAll()
		r.model.exact, r.model.watch = r.model.rev, r.model.rev
	case 14, 15:
		r.viewAt(r.revision())
	case 16, 17:
		r.watch(r.prefix(), r.revision())
	case 18, 19:
		if n := len(r.cursors); n > 0 {
			r.read(r.cursors[r.draw(n)], 1+r.draw(9))
		}
	case 20:
		r.snapshots = append(r.snapshots, snapshotPair{r.store.Snapshot(), r.model.current(), r.model.rev})
		require.Equal(r.t, r.model.rev, r.snapshots[len(r.snapshots)-1].s.Revision())
	case 21:
		r.restore()
	case 22:
		r.fork()
	case 23:
		time.Sleep(time.Duration(r.draw(8)) * time.Second)
	}
}

func (r *programRun) put(key string, rec *modelRecord) {
	before, existed := r.model.current()[key]
	changed := r.model.write(key, rec)
	e, err := r.store.Update(key, func(cur *memstore.Record) (*memstore.Draft, error) {
		require.Equal(r.t, existed, cur != nil)
		if rec == nil {
			return nil, nil
		}
		return rec.draft(), nil
	})
	require.NoError(r.t, err)
	require.Equal(r.t, changed, e.Changed())
	switch {
	case changed:
		r.sameEvent(r.model.events[len(r.model.events)-1], e)
	case existed:
		require.Same(r.t, e.Record, e.Prev)
		require.Equal(r.t, before.revision, e.Revision)
	default:
		require.Nil(r.t, e)
	}
}

// load writes n keys at once. Every seventh load fails and must not change anything.
func (r *programRun) load(n int) {
	next := r.model.fork()
	fail := errors.New("load failed")
	err := r.store.Load(func(tx *memstore.Tx) error {
		for range n {
			key, rec := r.key(), r.record()
			if r.draw(4) == 0 {
				next.write(key, nil)
				tx.Delete(key)
			} else {
				next.write(key, rec)
				require.NoError(r.t, tx.Put(key, *rec.draft()))
			}
			want, ok := next.current()[key]
			r.sameRecord(want, ok, key, tx.Get(key))
		}
		if n%7 == 6 {
			return fail
		}
		return nil
	})
	if n%7 == 6 {
		require.ErrorIs(r.t, err, fail)
		return
	}
	require.NoError(r.t, err)
	r.model = next
}

func (r *programRun) restore() {
	s := snapshotPair{state: modelState{}} // of an empty store
	if n := len(r.snapshots); n > 0 {
		s = r.snapshots[r.draw(n)]
	}
	bump := memstore.Revision(r.draw(3) * 50)
	r.store.Restore(s.s, bump)
	r.model.restore(s.state, s.rev, bump)
}

// fork forks the store and continues with the fork, the original or another fork.
func (r *programRun) fork() {
	current := forkedStore{r.store, r.model, r.cursors}
	next := forkedStore{r.store.Fork(), r.model.fork(), nil}
	switch r.draw(3) {
	case 0:
		current, next = next, current
	case 1:
		if n := len(r.forks); n > 0 {
			i := r.draw(n)
			r.forks[i], next = next, r.forks[i]
		}
	}
	if len(r.forks) < 4 {
		r.forks = append(r.forks, current)
	}
	r.store, r.model, r.cursors = next.s, next.m, next.cursors
}

func (r *programRun) watch(prefix string, after memstore.Revision) {
	c, err := r.store.Watch(prefix, after)
	if after < r.model.watch {
		require.ErrorIs(r.t, err, memstore.ErrCompacted)
		require.Equal(r.t, &memstore.CompactedError{Requested: after, Floor: r.model.watch}, err)
		return
	}
	require.NoError(r.t, err)
	p := &cursorPair{cursor: c, model: &modelCursor{prefix, after, r.model.restores}}
	if len(r.cursors) == 8 {
		r.cursors = r.cursors[1:]
	}
	r.cursors = append(r.cursors, p)
}

func (r *programRun) read(p *cursorPair, size int) {
	if p.ready != nil {
		if woken := r.model.mustWake(p.model); woken || p.idle {
			require.Equal(r.t, woken, isClosed(p.ready), "closed if and only if the topic was written")
		}
		p.ready = nil
	}
	buf := make([]*memstore.Event, size)
	want, wantErr := r.model.next(p.model, size)
	n, err := p.cursor.Next(buf)
	require.ErrorIs(r.t, err, wantErr)
	require.Equal(r.t, len(want), n)
	for i, e := range want {
		r.sameEvent(e, buf[i])
	}
	if err != nil {
		require.True(r.t, isClosed(p.cursor.Ready()), "the channel of a failed cursor is closed")
		return
	}
	require.Equal(r.t, p.model.pos, p.cursor.Revision())
	if n == 0 {
		p.ready, p.idle = p.cursor.Ready(), p.model.pos == r.model.rev
		require.False(r.t, isClosed(p.ready))
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

func (r *programRun) viewAt(rev memstore.Revision) {
	v, err := r.store.ViewAt(rev)
	switch {
	case rev > r.model.rev:
		require.Equal(r.t, &memstore.FutureRevisionError{Requested: rev, Current: r.model.rev}, err)
		require.ErrorIs(r.t, err, memstore.ErrFutureRevision)
	case rev < r.model.exact:
		require.Equal(r.t, &memstore.CompactedError{Requested: rev, Floor: r.model.exact}, err)
		require.ErrorIs(r.t, err, memstore.ErrCompacted)
	default:
		require.NoError(r.t, err)
		r.sameView(r.model.states[rev], rev, v)
	}
}

func (r *programRun) checkPresent() {
	exact, watch := r.store.Floors()
	require.Equal(r.t, r.model.exact, exact, "view floor")
	require.Equal(r.t, r.model.watch, watch, "watch floor")
	require.Equal(r.t, r.model.rev, r.store.Revision())
	r.sameView(r.model.current(), r.model.rev, r.store.View())
}

func (r *programRun) sameView(want modelState, rev memstore.Revision, v memstore.View) {
	require.Equal(r.t, rev, v.Revision())
	for _, key := range programKeys {
		rec, ok := want[key]
		r.sameRecord(rec, ok, key, v.Get(key))
	}
	require.Nil(r.t, v.Get("pods/never"))
	for _, prefix := range programPrefixes {
		r.sameRange(want, v, prefix, "")
		require.Equal(r.t, len(want.keysFrom(prefix, "")), v.Count(prefix), "count %q", prefix)
		r.sameIdentity(v, prefix)
	}
	r.ranges++ // does not use program bytes
	prefix, from := programPrefixes[r.ranges%len(programPrefixes)], programKeys[r.ranges*7%len(programKeys)]
	r.sameRange(want, v, prefix, from)
	r.sameRange(want, v, prefix, from+"\x00")
}

// sameIdentity checks that all views with the same identity have the same records under a prefix.
func (r *programRun) sameIdentity(v memstore.View, prefix string) {
	id := prefixIdentity{prefix, v.Identity(prefix)}
	got := slices.Collect(v.Range(prefix, ""))
	if want, ok := r.identified[id]; ok && !slices.Equal(want, got) {
		r.t.Fatalf("the identity of prefix %q at %d is that of other records", prefix, v.Revision())
	}
	r.identified[id] = got
}

func (r *programRun) sameRange(want modelState, v memstore.View, prefix, from string) {
	var got []string
	for rec := range v.Range(prefix, from) {
		got = append(got, rec.Key)
		r.sameRecord(want[rec.Key], true, rec.Key, rec)
	}
	if diff := cmp.Diff(want.keysFrom(prefix, from), got); diff != "" {
		r.t.Fatalf("range %q from %q at %d (-want +got):\n%s", prefix, from, v.Revision(), diff)
	}
	n := 0
	for range v.Range(prefix, from) { // stop early, at different positions
		if n++; n >= len(got)/2 {
			break
		}
	}
}

func (r *programRun) sameEvent(want modelEvent, got *memstore.Event) {
	require.Equal(r.t, want.rev, got.Revision)
	require.Equal(r.t, want.key, got.Key())
	require.True(r.t, got.Changed())
	r.sameRecord(deref(want.after), want.after != nil, want.key, got.Record)
	r.sameRecord(deref(want.prev), want.prev != nil, want.key, got.Prev)
	if want.prev == nil {
		require.Nil(r.t, got.DeletedRecord())
		return
	}
	require.Equal(r.t, want.prev.dataAt(want.rev), string(got.DeletedRecord().Data))
	require.Equal(r.t, want.rev, got.DeletedRecord().Revision)
	require.Equal(r.t, want.prev.created, got.DeletedRecord().CreateRevision)
	require.Same(r.t, got.DeletedRecord(), got.DeletedRecord())
}

func deref(r *modelRecord) modelRecord {
	if r == nil {
		return modelRecord{}
	}
	return *r
}

func (r *programRun) sameRecord(want modelRecord, exists bool, key string, got *memstore.Record) {
	if !exists {
		require.Nil(r.t, got, key)
		return
	}
	require.NotNil(r.t, got, key)
	// Comparing without reflection is faster. This is called millions of times.
	label, _ := got.Labels.Get("l")
	field, _ := got.Fields.Get("f")
	if got.Key != key || string(got.Data) != want.data() || got.Revision != want.revision || got.CreateRevision != want.created ||
		got.UID != want.uid || label != want.label || field != want.label || cap(got.Data) > len(got.Data)+len(got.Data)/2+16 ||
		strings.Contains(string(got.Data), "@") {
		r.t.Fatalf("key %q: want %+v, got %+v", key, want, got)
	}
}
