package memstore

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPatchesAreShort tests that the patch of a view is short, whichever writes lead to its
// revision.
func TestPatchesAreShort(t *testing.T) {
	s := New(Options{StartRevision: 61})
	n := 0
	write := func(writes int) {
		require.NoError(t, s.Load(func(tx *Tx) error {
			for range writes {
				n++
				require.NoError(t, tx.Put(fmt.Sprint("a/", n), Draft{}))
			}
			return nil
		}))
	}
	for _, writes := range []int{1, 2, 3, 64, 1, 63, 65, 1000, 1, 200} {
		write(writes)
	}
	for rev := s.hist.viewFloor; rev <= s.Revision(); rev++ {
		v, err := s.ViewAt(rev)
		require.NoError(t, err)
		require.Less(t, len(v.patches), baseInterval)
		require.Equal(t, int(rev)-61, v.Count(""))
	}

	kept := s.hist.bases.Len()
	require.InDelta(t, n/baseInterval, kept, 2)
	s.CompactViews()
	require.Equal(t, 1, s.hist.bases.Len())
	require.Equal(t, n, s.hist.log.Len(), "CompactViews keeps the events")
	s.CompactAll()
	require.Zero(t, s.hist.log.Len())
}

// TestLogIsTrimmed tests that the log contains few events below the floors.
func TestLogIsTrimmed(t *testing.T) {
	s := New(Options{HistoryCount: 10})
	for i := range 1000 {
		_, err := s.Update("a/x", func(*Record) (*Draft, error) { return &Draft{Data: fmt.Append(nil, i)}, nil })
		require.NoError(t, err)
		require.Less(t, s.hist.log.Len(), 10+baseInterval)
		require.LessOrEqual(t, s.hist.feeds["a"].log.Len(), 10)
		require.LessOrEqual(t, s.hist.bases.Len(), 2)
	}
}
