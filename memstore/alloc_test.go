package memstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

// TestAllocations tests that the allocations of Range do not depend on its length, and that Get,
// Count and Next allocate little.
func TestAllocations(t *testing.T) {
	s := newFilledStore(t, 5000)
	drafts := alternatingDrafts()
	for i := range 100 {
		_, err := s.Update(benchKey(i), func(*memstore.Record) (*memstore.Draft, error) { return drafts[1], nil })
		require.NoError(t, err)
	}
	past, err := s.ViewAt(s.Revision() - s.Revision()%64 - 1)
	require.NoError(t, err)

	walk := func(v memstore.View, limit int) float64 {
		return testing.AllocsPerRun(20, func() {
			n := limit
			for range v.Range("pods/", "") {
				if n--; n == 0 {
					break
				}
			}
			if n != 0 {
				t.Error("short")
			}
		})
	}
	for name, v := range map[string]memstore.View{"current": s.View(), "historic": past} {
		// The stack of a long iteration may grow once or twice.
		require.LessOrEqual(t, walk(v, 5000), walk(v, 50)+3, name)
		require.LessOrEqual(t, walk(v, 5000), 20.0, name)
	}

	key := benchKey(4000)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { s.View().Get(key) }), 8.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { s.View().Count("pods/") }), 0.0)

	c, err := s.Watch("pods/", s.Revision())
	require.NoError(t, err)
	buf := make([]*memstore.Event, 10)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if n, err := c.Next(buf); n != 0 || err != nil {
			t.Error(n, err)
		}
	}))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { <-readyAfterWrite(s, c, buf) }), 130.0)
}

// readyAfterWrite writes, reads the event and returns a channel that is closed.
func readyAfterWrite(s *memstore.Store, c *memstore.Cursor, buf []*memstore.Event) <-chan struct{} {
	wake := c.Ready()
	_, _ = s.Update("pods/new", func(cur *memstore.Record) (*memstore.Draft, error) {
		if cur != nil {
			return nil, nil
		}
		return &memstore.Draft{}, nil
	})
	_, _ = c.Next(buf)
	return wake
}
