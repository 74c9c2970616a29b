package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// numbers returns the numbers of hits.
func numbers(hits []Hit) (seqs []uint64) {
	for _, h := range hits {
		seqs = append(seqs, h.Seq)
	}
	return seqs
}

// HitsAfter returns the hits with higher numbers, also when older ones have been removed by the
// limit or by ResetHits, and a channel that is closed at the next hit.
func TestHitsAfter(t *testing.T) {
	var set Set
	order := uint64(40)
	set.OrderHits(func() uint64 { order += 2; return order })
	rule := Rule{Name: "a"}
	hits, next := set.HitsAfter(0)
	require.Empty(t, hits)
	_, same := set.HitsAfter(0)
	require.Equal(t, next, same)
	select {
	case <-next:
		require.Fail(t, "there is no hit")
	default:
	}
	set.hits.add(&rule, Op{}, "")
	<-next
	hits, _ = set.HitsAfter(0)
	require.Equal(t, []uint64{1}, numbers(hits))
	require.EqualValues(t, 42, hits[0].Order)
	hits, _ = set.HitsAfter(1)
	require.Empty(t, hits)

	for range maxHits + 5 {
		set.hits.add(&rule, Op{}, "")
	}
	require.Len(t, set.Hits(), maxHits)
	require.EqualValues(t, 7, set.Hits()[0].Seq)
	hits, _ = set.HitsAfter(maxHits + 3)
	require.Equal(t, []uint64{maxHits + 4, maxHits + 5, maxHits + 6}, numbers(hits))
	set.hits.setNotApplied(maxHits+5, "why")
	set.hits.setNotApplied(3, "removed")
	hits, _ = set.HitsAfter(maxHits + 3)
	require.Equal(t, []string{"", "why", ""}, []string{hits[0].NotApplied, hits[1].NotApplied, hits[2].NotApplied})

	set.ResetHits()
	require.Empty(t, set.Hits())
	set.hits.setNotApplied(maxHits+6, "removed")
	set.hits.add(&rule, Op{}, "")
	require.Equal(t, []uint64{maxHits + 7}, numbers(set.Hits()))
	hits, _ = set.HitsAfter(maxHits + 100)
	require.Empty(t, hits)
}
