package memstore_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

// draftReading returns a draft that depends on the keys with a prefix.
func draftReading(prefix string) *memstore.Draft {
	return &memstore.Draft{Data: []byte("x"), RevisionOffset: -1, Reads: []string{prefix}}
}

// The function of an Update is called again if a record that its draft reads was written, and only
// then.
func TestUpdateWithReads(t *testing.T) {
	for name, c := range map[string]struct {
		during func(s *memstore.Store)
		calls  int
	}{
		"nothing":          {func(*memstore.Store) {}, 1},
		"read key":         {func(s *memstore.Store) { put(t, s, "pods/a/other", "x") }, 2},
		"other prefix":     {func(s *memstore.Store) { put(t, s, "pods/b/other", "x") }, 1},
		"other topic":      {func(s *memstore.Store) { put(t, s, "nodes/a", "x") }, 1},
		"deleted":          {func(s *memstore.Store) { remove(t, s, "pods/a/old") }, 2},
		"forgotten":        {func(s *memstore.Store) { put(t, s, "nodes/a", "x"); s.CompactAll() }, 2},
		"restored":         {func(s *memstore.Store) { s.Restore(s.Snapshot(), 1) }, 2},
		"restored earlier": {func(s *memstore.Store) { s.Restore(s.Snapshot(), 0); put(t, s, "nodes/a", "x") }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := memstore.New(memstore.Options{})
			put(t, s, "pods/a/old", "x")
			calls := 0
			_, err := s.Update("pods/a/new", func(*memstore.Record) (*memstore.Draft, error) {
				if calls++; calls == 1 {
					c.during(s)
				}
				return draftReading("pods/a/"), nil
			})
			require.NoError(t, err)
			require.Equal(t, c.calls, calls)
		})
	}
}

// Concurrent writers that each check how many records there are never exceed a limit.
func TestUpdateWithReadsIsSerializable(t *testing.T) {
	const limit = 10
	s := memstore.New(memstore.Options{})
	errFull := fmt.Errorf("full")
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			_, _ = s.Update(fmt.Sprint("pods/a/", i), func(*memstore.Record) (*memstore.Draft, error) {
				if s.View().Count("pods/a/") >= limit {
					return nil, errFull
				}
				return draftReading("pods/a/"), nil
			})
		})
	}
	group.Wait()
	require.Equal(t, limit, s.View().Count("pods/a/"))
}
