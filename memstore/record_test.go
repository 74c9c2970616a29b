package memstore_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

// put stores text under the key, with the revision in place of "@", and returns the record.
func put(t testing.TB, s *memstore.Store, key, text string) *memstore.Record {
	t.Helper()
	e, err := s.Update(key, func(*memstore.Record) (*memstore.Draft, error) {
		return modelRecord{text: text}.draft(), nil
	})
	require.NoError(t, err)
	return e.Record
}

func remove(t testing.TB, s *memstore.Store, key string) *memstore.Event {
	t.Helper()
	e, err := s.Update(key, func(*memstore.Record) (*memstore.Draft, error) { return nil, nil })
	require.NoError(t, err)
	return e
}

func TestRevisionIsInserted(t *testing.T) {
	s := memstore.New(memstore.Options{StartRevision: 98})
	r := put(t, s, "a/x", `{"rv":"@","n":1}`)
	require.Equal(t, `{"rv":"99","n":1}`, string(r.Data))
	require.Equal(t, len(r.Data), cap(r.Data), "no spare capacity")

	t.Run("longer revision", func(t *testing.T) {
		r := put(t, s, "a/x", `{"rv":"@","n":2}`)
		require.Equal(t, `{"rv":"100","n":2}`, string(r.Data))
		require.Equal(t, memstore.Revision(99), r.CreateRevision)
	})
	t.Run("buffer is copied", func(t *testing.T) {
		buffer := []byte("hello")
		e, err := s.Update("a/y", func(*memstore.Record) (*memstore.Draft, error) {
			return &memstore.Draft{Data: buffer, RevisionOffset: -7}, nil
		})
		require.NoError(t, err)
		copy(buffer, "XXXXX")
		require.Equal(t, "hello", string(e.Record.Data))
	})
}

func TestWithRevision(t *testing.T) {
	s := memstore.New(memstore.Options{StartRevision: 8})
	r := put(t, s, "a/x", `{"rv":"@"}`)
	require.Same(t, r, r.WithRevision(9))

	later := r.WithRevision(12345)
	require.Equal(t, `{"rv":"12345"}`, string(later.Data))
	require.Equal(t, memstore.Revision(12345), later.Revision)
	require.Equal(t, memstore.Revision(9), later.CreateRevision)
	require.Equal(t, `{"rv":"9"}`, string(r.Data), "the original record is unchanged")
	require.Equal(t, `{"rv":"7"}`, string(later.WithRevision(7).Data))

	upper := func(r *memstore.Record) ([]byte, error) { return bytes.ToUpper(r.Data), nil }
	for _, r := range []*memstore.Record{later, later.WithRevision(7)} {
		data, err := r.CachedEncoding("upper", upper)
		require.NoError(t, err)
		require.Equal(t, `{"RV":"`+r.Revision.String()+`"}`, string(data), "encodings are not copied")
	}

	plain := put(t, s, "a/y", "plain")
	require.Equal(t, "plain", string(plain.WithRevision(7).Data))
	require.Equal(t, memstore.Revision(7), plain.WithRevision(7).Revision)
}

func TestCachedEncoding(t *testing.T) {
	r := put(t, memstore.New(memstore.Options{}), "a/x", "x")
	made := 0
	upper := func(*memstore.Record) ([]byte, error) { made++; return []byte("X"), nil }
	for range 3 {
		data, err := r.CachedEncoding("upper", upper)
		require.NoError(t, err)
		require.Equal(t, "X", string(data))
	}
	require.Equal(t, 1, made)

	refused := errors.New("no such encoding")
	_, err := r.CachedEncoding("other", func(*memstore.Record) ([]byte, error) { return nil, refused })
	require.Same(t, refused, err)
	data, err := r.CachedEncoding("other", func(*memstore.Record) ([]byte, error) { return []byte("o"), nil })
	require.NoError(t, err, "errors are not cached")
	require.Equal(t, "o", string(data))
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = r.CachedEncoding("upper", upper) }))
}

func TestCachedEncodingConcurrently(t *testing.T) {
	r := put(t, memstore.New(memstore.Options{}), "a/x", "x")
	const racers = 16
	var start, done sync.WaitGroup
	start.Add(racers)
	results := make([][]byte, racers)
	for i := range racers {
		done.Go(func() {
			start.Done()
			results[i], _ = r.CachedEncoding([]string{"a", "b"}[i%2], func(*memstore.Record) ([]byte, error) {
				start.Wait() // all callers have started before one of them finishes
				return []byte{byte(i)}, nil
			})
		})
	}
	done.Wait()
	for i := range racers {
		require.Same(t, &results[i%2][0], &results[i][0])
	}
}

func TestDeletedRecordConcurrently(t *testing.T) {
	s := memstore.New(memstore.Options{StartRevision: 9})
	put(t, s, "a/x", "v@")
	e := remove(t, s, "a/x")
	var done sync.WaitGroup
	results := make([]*memstore.Record, 8)
	for i := range results {
		done.Go(func() { results[i] = e.DeletedRecord() })
	}
	done.Wait()
	for _, r := range results {
		require.Same(t, results[0], r)
	}
	require.Equal(t, "v11", string(results[0].Data))
	require.Zero(t, testing.AllocsPerRun(100, func() { e.DeletedRecord() }))
}

func TestPairs(t *testing.T) {
	require.Nil(t, memstore.MakePairs(nil))
	p := memstore.MakePairs(map[string]string{"b": "2", "a": "1", "c": ""})
	require.Equal(t, memstore.Pairs{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}, {Key: "c"}}, p)
	for key, want := range map[string]string{"a": "1", "b": "2", "c": ""} {
		got, ok := p.Get(key)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	_, ok := p.Get("bb")
	require.False(t, ok)
}
