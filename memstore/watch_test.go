package memstore_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

func watch(t testing.TB, s *memstore.Store, prefix string, after memstore.Revision) *memstore.Cursor {
	t.Helper()
	c, err := s.Watch(prefix, after)
	require.NoError(t, err)
	return c
}

// TestReadyMissesNoEvent follows concurrent writers with slow and fast readers. If a channel were
// not closed, a reader would block forever.
func TestReadyMissesNoEvent(t *testing.T) {
	const writers, each, readers = 4, 400, 12
	s := memstore.New(memstore.Options{})
	const last = memstore.DefaultStartRevision + writers*each
	var done sync.WaitGroup
	for i := range readers {
		prefix := []string{"", "a/", "a/1/", "b/0"}[i%4]
		c := watch(t, s, prefix, memstore.DefaultStartRevision)
		done.Go(func() {
			buf := make([]*memstore.Event, 1+i)
			got, pos := 0, memstore.DefaultStartRevision
			for want := map[string]int{"": 4, "a/": 2, "a/1/": 1, "b/0": 1}[prefix] * each; got < want; {
				n, err := c.Next(buf)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range buf[:n] {
					if e.Revision <= pos {
						t.Errorf("%d after %d", e.Revision, pos)
					}
					pos = e.Revision
				}
				if got += n; n == 0 {
					<-c.Ready()
				}
			}
		})
	}
	for w := range writers {
		done.Go(func() {
			for i := range each {
				put(t, s, fmt.Sprintf("%c/%d/%d", 'a'+w%2, w/2, i), "v")
			}
		})
	}
	done.Go(func() {
		if err := s.Wait(t.Context(), last); err != nil {
			t.Error(err)
		}
	})
	done.Wait()
	require.Equal(t, last, s.Revision())
}

// TestReadyConcurrentWithWrite calls Ready during a write. The channel must be closed afterwards in
// any order.
func TestReadyConcurrentWithWrite(t *testing.T) {
	s := memstore.New(memstore.Options{})
	c := watch(t, s, "a/", s.Revision())
	buf := make([]*memstore.Event, 4)
	for i := range 3000 {
		var wake <-chan struct{}
		var both sync.WaitGroup
		both.Go(func() { wake = c.Ready() })
		put(t, s, "a/x", fmt.Sprint(i))
		both.Wait()
		if !isClosed(wake) {
			t.Fatal("lost at write ", i)
		}
		n, err := c.Next(buf)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
}

// TestWritersDoNotBlock tests that writes do not wait for a cursor that is not read, an iteration
// in progress, or a waiting cursor.
func TestWritersDoNotBlock(t *testing.T) {
	s := memstore.New(memstore.Options{})
	put(t, s, "a/x", "0")
	put(t, s, "a/y", "0")
	neverRead := watch(t, s, "a/", s.Revision())
	waiting := watch(t, s, "", s.Revision())
	wake := waiting.Ready()
	for r := range s.View().Range("a/", "") {
		for i := range 200 {
			put(t, s, r.Key, fmt.Sprint(i+1))
		}
	}
	<-wake
	n, err := neverRead.Next(make([]*memstore.Event, 1000))
	require.NoError(t, err)
	require.Equal(t, 400, n)
}

// TestNextReadsInBatches tests a cursor that skips thousands of events of its topic, for which it
// releases the lock repeatedly.
func TestNextReadsInBatches(t *testing.T) {
	s := memstore.New(memstore.Options{})
	c := watch(t, s, "a/rare/", s.Revision())
	require.NoError(t, s.Load(func(tx *memstore.Tx) error {
		for i := range 5000 {
			_ = tx.Put("a/common/x", memstore.Draft{Data: fmt.Append(nil, i)})
		}
		_ = tx.Put("a/rare/x", memstore.Draft{})
		return nil
	}))
	buf := make([]*memstore.Event, 2)
	n, err := c.Next(buf)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "a/rare/x", buf[0].Key())
	require.Equal(t, s.Revision(), c.Revision())
}

func TestTopicsAreTrimmedSeparately(t *testing.T) {
	s := memstore.New(memstore.Options{HistoryCount: 10})
	put(t, s, "quiet/x", "1")
	upToDate := watch(t, s, "quiet/", s.Revision())
	behind := watch(t, s, "quiet/", s.Revision()-1)
	everything := watch(t, s, "", s.Revision())
	for i := range 100 {
		put(t, s, "busy/x", fmt.Sprint(i))
	}
	buf := make([]*memstore.Event, 100)
	n, err := upToDate.Next(buf)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, s.Revision(), upToDate.Revision())

	_, watchFloor := s.Floors()
	_, err = behind.Next(buf)
	require.Equal(t, &memstore.CompactedError{Requested: memstore.DefaultStartRevision, Floor: watchFloor}, err)
	require.EqualError(t, err, fmt.Sprintf("memstore: revision 1000 has been compacted, the oldest is %d", watchFloor))
	_, err = everything.Next(buf)
	require.ErrorIs(t, err, memstore.ErrCompacted)
	_, err = s.Watch("quiet/", watchFloor-1)
	require.ErrorIs(t, err, memstore.ErrCompacted)
}

func TestFloors(t *testing.T) {
	s := memstore.New(memstore.Options{})
	for i := range 200 {
		put(t, s, "a/x", fmt.Sprint(i))
	}
	running := watch(t, s, "a/", 1100)
	s.CompactViews()
	exact, watchFloor := s.Floors()
	require.Equal(t, memstore.Revision(1200), exact)
	require.Equal(t, memstore.Revision(1000), watchFloor)
	_, err := s.ViewAt(1199)
	require.ErrorIs(t, err, memstore.ErrCompacted)
	n, err := watch(t, s, "a/", 1000).Next(make([]*memstore.Event, 300))
	require.NoError(t, err)
	require.Equal(t, 200, n)

	s.CompactAll()
	exact, watchFloor = s.Floors()
	require.Equal(t, memstore.Revision(1200), exact)
	require.Equal(t, memstore.Revision(1200), watchFloor)
	_, err = running.Next(make([]*memstore.Event, 1))
	require.ErrorIs(t, err, memstore.ErrCompacted)
	require.True(t, isClosed(running.Ready()))
	v, err := s.ViewAt(1200)
	require.NoError(t, err)
	require.Equal(t, "199", string(v.Get("a/x").Data))
	_, err = s.ViewAt(1201)
	require.EqualError(t, err, "memstore: revision 1201 is in the future, the current one is 1200")
}

func TestRestoreEndsCursors(t *testing.T) {
	s := memstore.New(memstore.Options{})
	put(t, s, "a/x", "1")
	backup := s.Snapshot()
	put(t, s, "a/x", "2")
	c := watch(t, s, "a/", s.Revision())
	wake := c.Ready()
	s.Restore(backup, 0)
	require.True(t, isClosed(wake))
	_, err := c.Next(make([]*memstore.Event, 1))
	require.ErrorIs(t, err, memstore.ErrRestored)
	require.Equal(t, memstore.DefaultStartRevision+1, s.Revision())

	put(t, s, "a/x", "3")
	_, err = c.Next(make([]*memstore.Event, 1))
	require.ErrorIs(t, err, memstore.ErrRestored, "the error stays")

	s.Restore(backup, 500)
	require.Equal(t, memstore.Revision(1502), s.Revision(), "max(1002, 1001) + 500")
	require.Equal(t, "1", string(s.View().Get("a/x").Data))

	elsewhere := memstore.New(memstore.Options{StartRevision: 7})
	elsewhere.Restore(backup, 0)
	require.Equal(t, backup.Revision(), elsewhere.Revision())
	require.Same(t, s.View().Get("a/x"), elsewhere.View().Get("a/x"))

	elsewhere.Restore(memstore.Snapshot{}, 1)
	require.Equal(t, memstore.Snapshot{}.Revision(), memstore.View{}.Revision())
	require.Zero(t, elsewhere.View().Count(""))
	require.Equal(t, memstore.Revision(1002), elsewhere.Revision())
}

func TestZeroViewIsEmpty(t *testing.T) {
	var v memstore.View
	require.Nil(t, v.Get("a/x"))
	require.Zero(t, v.Count("a/"))
	for r := range v.Range("", "") {
		t.Fatal(r.Key)
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		backup := s.Snapshot()
		require.NoError(t, s.Wait(t.Context(), memstore.DefaultStartRevision))

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err := s.Wait(ctx, memstore.DefaultStartRevision+1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "memstore: waiting for revision 1001: context deadline exceeded")

		done := make(chan error)
		go func() { done <- s.Wait(t.Context(), memstore.DefaultStartRevision+2) }()
		put(t, s, "a/x", "1")
		synctest.Wait()
		s.Restore(backup, 0)
		put(t, s, "a/x", "1")
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("came back at revision %d: %v", s.Revision(), err)
		default:
		}
		put(t, s, "a/x", "2")
		require.NoError(t, <-done)
	})
}

// TestRemovedEventsAreFreed tests that a cursor keeps no removed events in memory.
func TestRemovedEventsAreFreed(t *testing.T) {
	s := memstore.New(memstore.Options{})
	c := watch(t, s, "a/", s.Revision())
	var events []weak.Pointer[memstore.Event]
	var records []weak.Pointer[memstore.Record]
	for i := range 100 {
		e, err := s.Update("a/x", func(*memstore.Record) (*memstore.Draft, error) {
			return &memstore.Draft{Data: fmt.Append(nil, i)}, nil
		})
		require.NoError(t, err)
		events = append(events, weak.Make(e))
		records = append(records, weak.Make(e.Record))
	}
	runtime.GC()
	require.NotNil(t, events[0].Value())
	s.CompactAll()
	runtime.GC()
	for i := range events {
		require.Nil(t, events[i].Value(), "event %d", i)
		require.Equal(t, i == 99, records[i].Value() != nil, "record %d", i)
	}
	runtime.KeepAlive(c)
	runtime.KeepAlive(s)
}
