package memstore_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

// TestForksAreIndependent forks a store many times concurrently while it is written, and creates
// and deletes in all forks, for the race detector.
func TestForksAreIndependent(t *testing.T) {
	const forks, writes = 8, 200
	original := memstore.New(memstore.Options{HistoryCount: 50})
	for i := range 100 {
		put(t, original, fmt.Sprintf("a/%d", i), "original")
	}
	backup := original.Snapshot()
	churn := func(s *memstore.Store, text string) {
		for i := range writes {
			put(t, s, fmt.Sprintf("a/%d", i), text)
			remove(t, s, fmt.Sprintf("a/%d", i*7%writes))
		}
	}
	create := func(*memstore.Record) (*memstore.Draft, error) {
		return &memstore.Draft{Data: []byte("original"), RevisionOffset: -1}, nil
	}
	var ready, begun, done sync.WaitGroup
	ready.Add(forks)
	begun.Add(forks)
	for i := range forks {
		done.Go(func() {
			f := original.Fork()
			if i%2 == 0 {
				f.Restore(backup, 0)
			}
			ready.Done()
			ready.Wait()
			_, _ = f.Update("a/new", create) // all forks change the count of "a/" at once, without other synchronization
			begun.Done()
			begun.Wait()
			churn(f, fmt.Sprint("fork ", i))
			n := 0
			for r := range f.View().Range("", "") {
				if n++; string(r.Data) != "original" && string(r.Data) != fmt.Sprint("fork ", i) {
					t.Errorf("in fork %d: %s", i, r.Data)
				}
			}
			if n != f.View().Count("a/") {
				t.Errorf("counted %d of %d", f.View().Count("a/"), n)
			}
		})
	}
	done.Go(func() { churn(original, "original") })
	done.Wait()

	require.Equal(t, memstore.Revision(1100), backup.Revision())
	for r := range original.View().Range("", "") {
		require.Equal(t, "original", string(r.Data))
	}
}

func TestRestoreCount(t *testing.T) {
	s := memstore.New(memstore.Options{})
	require.Zero(t, s.RestoreCount())
	s.Restore(s.Snapshot(), 0)
	s.Restore(s.Snapshot(), 7)
	require.EqualValues(t, 2, s.RestoreCount())
}

// A reader that has seen the state of a Restore counts it.
func TestRestoreCountIncludesTheStateSeen(t *testing.T) {
	const restores = 50_000
	s := memstore.New(memstore.Options{})
	start, empty := s.Revision(), s.Snapshot()
	var writer sync.WaitGroup
	writer.Go(func() {
		for range restores {
			s.Restore(empty, 1) // each has the next revision
		}
	})
	for seen := start; seen < start+restores; {
		seen = s.View().Revision()
		require.GreaterOrEqual(t, s.RestoreCount(), uint64(seen-start))
	}
	writer.Wait()
}
