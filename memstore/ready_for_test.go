package memstore_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

// isBig reports whether the key of an event contains "big".
func isBig(e *memstore.Event) bool { return strings.Contains(e.Key(), "big") }

func TestReadyFor(t *testing.T) {
	s := memstore.New(memstore.Options{})
	c := watch(t, s, "", s.Revision())
	wake := c.ReadyFor(isBig)
	put(t, s, "a/small", "1")
	put(t, s, "a/small", "2")
	require.False(t, isClosed(wake))
	put(t, s, "a/big", "1")
	require.True(t, isClosed(wake))

	require.True(t, isClosed(c.ReadyFor(isBig)), "events are available")
	n, err := c.Next(make([]*memstore.Event, 10))
	require.NoError(t, err)
	require.Equal(t, 3, n, "earlier events are returned, too")

	wake = c.ReadyFor(isBig)
	require.Equal(t, wake, c.ReadyFor(isBig), "further calls return the same channel")
	require.False(t, isClosed(wake))
	put(t, s, "b/big", "1")
	require.True(t, isClosed(wake))
}

// TestReadyForFilter tests that the filter is called once for each event of any key while the
// cursor waits, with the store in the state before the write.
func TestReadyForFilter(t *testing.T) {
	s := memstore.New(memstore.Options{})
	c := watch(t, s, "a/", s.Revision())
	before := s.Revision()
	var seen []string
	c.ReadyFor(func(e *memstore.Event) bool {
		require.Equal(t, before, s.Revision())
		seen = append(seen, e.Key())
		return isBig(e)
	})
	put(t, s, "b/small", "1")
	before = s.Revision()
	require.NoError(t, s.Load(func(tx *memstore.Tx) error {
		require.NoError(t, tx.Put("a/small", memstore.Draft{}))
		require.NoError(t, tx.Put("a/big", memstore.Draft{}))
		return tx.Put("a/later", memstore.Draft{})
	}))
	put(t, s, "a/big", "2")
	require.Equal(t, []string{"b/small", "a/small", "a/big"}, seen)
}

// TestReadyForSeveralCursors tests that waiting cursors do not affect each other.
func TestReadyForSeveralCursors(t *testing.T) {
	s := memstore.New(memstore.Options{})
	one, other, all := watch(t, s, "", s.Revision()), watch(t, s, "", s.Revision()), watch(t, s, "", s.Revision())
	first := one.ReadyFor(isBig)
	second := other.ReadyFor(func(e *memstore.Event) bool { return !isBig(e) })
	third := all.Ready()
	put(t, s, "a/small", "1")
	require.Equal(t, []bool{false, true, true}, []bool{isClosed(first), isClosed(second), isClosed(third)})
	put(t, s, "a/big", "1")
	require.True(t, isClosed(first))
}

func TestReadyForAfterRestore(t *testing.T) {
	s := memstore.New(memstore.Options{})
	backup := s.Snapshot()
	c := watch(t, s, "", s.Revision())
	wake := c.ReadyFor(isBig)
	s.Restore(backup, 0)
	require.True(t, isClosed(wake))
	_, err := c.Next(make([]*memstore.Event, 1))
	require.ErrorIs(t, err, memstore.ErrRestored)
	require.True(t, isClosed(c.ReadyFor(isBig)))
}

// TestReadyForMissesNoEvent tests that a reader does not miss matching events under concurrent
// writes.
func TestReadyForMissesNoEvent(t *testing.T) {
	const writes = 3000
	s := memstore.New(memstore.Options{})
	c := watch(t, s, "", s.Revision())
	var both sync.WaitGroup
	both.Go(func() {
		for i := range writes {
			key := "a/small"
			if i%7 == 0 || i == writes-1 {
				key = "a/big"
			}
			put(t, s, key, strconv.Itoa(i))
		}
	})
	both.Go(func() {
		buf := make([]*memstore.Event, 16)
		for last := ""; last != strconv.Itoa(writes-1); {
			n, err := c.Next(buf)
			if err != nil {
				t.Error(err)
				return
			}
			for _, e := range buf[:n] {
				last = string(e.Record.Data)
			}
			if n == 0 {
				<-c.ReadyFor(isBig)
			}
		}
	})
	both.Wait()
}
