package memstore_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

// The identity of a prefix is the same until a record under it is written, also in forks and after
// a restore. The programs of TestModel check that equal identities imply equal records.
func TestIdentity(t *testing.T) {
	s := memstore.New(memstore.Options{})
	put := func(s *memstore.Store, key, value string) {
		t.Helper()
		_, err := s.Update(key, func(*memstore.Record) (*memstore.Draft, error) {
			return &memstore.Draft{Data: []byte(value), RevisionOffset: -1}, nil
		})
		require.NoError(t, err)
	}
	put(s, "pods/a/x", "1")
	put(s, "pods/b/x", "1")
	put(s, "nodes/n", "1")
	old, snapshot := s.View(), s.Snapshot()
	require.True(t, old.Identity("") == s.View().Identity(""))

	put(s, "pods/a/x", "2")
	view := s.View()
	require.False(t, old.Identity("") == view.Identity(""))
	require.False(t, old.Identity("pods/") == view.Identity("pods/"))
	require.False(t, old.Identity("pods/a/") == view.Identity("pods/a/"))
	require.True(t, old.Identity("pods/b/") == view.Identity("pods/b/"))
	require.True(t, old.Identity("nodes/") == view.Identity("nodes/"))

	fork := s.Fork()
	require.True(t, view.Identity("pods/a/") == fork.View().Identity("pods/a/"))
	put(fork, "pods/a/x", "3")
	require.False(t, view.Identity("pods/a/") == fork.View().Identity("pods/a/"))
	require.True(t, view.Identity("pods/a/") == s.View().Identity("pods/a/"))

	s.Restore(snapshot, 100)
	require.True(t, old.Identity("") == s.View().Identity(""))
	require.True(t, old.Identity("pods/") == s.View().Identity("pods/"))
	put(s, "pods/a/x", "4")
	require.False(t, old.Identity("pods/a/") == s.View().Identity("pods/a/"))
	require.True(t, memstore.View{}.Identity("pods/") == s.View().Identity("absent/"))
}

// The view at an older revision has an identity if there were no writes under the prefix between
// the state that the history keeps and the revision.
func TestIdentityOfOlderView(t *testing.T) {
	s := memstore.New(memstore.Options{})
	put := func(key string) {
		t.Helper()
		_, err := s.Update(key, func(*memstore.Record) (*memstore.Draft, error) {
			return &memstore.Draft{Data: []byte(s.Revision().String()), RevisionOffset: -1}, nil
		})
		require.NoError(t, err)
	}
	put("nodes/n")
	for range 64 {
		put("pods/a/x")
	}
	view, err := s.ViewAt(s.Revision() - 1)
	require.NoError(t, err)
	require.True(t, s.View().Identity("nodes/") == view.Identity("nodes/"))
	first := view.Identity("pods/")
	require.False(t, first == view.Identity("pods/"))
}

// An identity keeps no records in memory.
func TestIdentityKeepsNoRecords(t *testing.T) {
	collected := make(chan struct{})
	identities := func() []memstore.Identity {
		s := memstore.New(memstore.Options{})
		event, err := s.Update("pods/a/x", func(*memstore.Record) (*memstore.Draft, error) {
			return &memstore.Draft{Data: make([]byte, 1<<20), RevisionOffset: -1}, nil
		})
		require.NoError(t, err)
		runtime.AddCleanup(event.Record, func(c chan struct{}) { close(c) }, collected)
		return []memstore.Identity{s.View().Identity(""), s.View().Identity("pods/")}
	}()
	require.Eventually(t, func() bool {
		runtime.GC()
		return isClosed(collected)
	}, time.Minute, time.Millisecond)
	require.NotEqual(t, identities[0], identities[1])
}
