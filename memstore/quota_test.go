package memstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

func draftOfSize(n int) *memstore.Draft {
	return &memstore.Draft{Data: bytes.Repeat([]byte("x"), n), RevisionOffset: -1}
}

// TestQuota tests that a write that would exceed the quota changes nothing, that writes that do not
// increase the size succeed, and that deletes make room.
func TestQuota(t *testing.T) {
	s := memstore.New(memstore.Options{Quota: 3 * (512 + 3 + 1000)})
	set := func(key string, d *memstore.Draft) error {
		_, err := s.Update(key, func(*memstore.Record) (*memstore.Draft, error) { return d, nil })
		return err
	}
	for _, key := range []string{"a/x", "a/y", "a/z"} {
		require.NoError(t, set(key, draftOfSize(1000)))
	}
	full := s.Snapshot()
	require.ErrorIs(t, set("a/w", draftOfSize(0)), memstore.ErrQuotaExceeded)
	require.ErrorIs(t, set("a/x", draftOfSize(1001)), memstore.ErrQuotaExceeded)
	require.Equal(t, full.Revision(), s.Revision())
	require.Equal(t, 3, s.View().Count("a/"))
	require.NoError(t, set("a/x", draftOfSize(1000)), "the draft equals the record")
	require.NoError(t, set("a/x", draftOfSize(900)))
	require.NoError(t, set("a/y", draftOfSize(1100)), "100 bytes are free")
	require.ErrorIs(t, set("a/y", draftOfSize(1101)), memstore.ErrQuotaExceeded)
	require.NoError(t, set("a/y", nil))
	require.NoError(t, set("a/w", draftOfSize(1100)))

	fork := s.Fork()
	_, err := fork.Update("a/v", func(*memstore.Record) (*memstore.Draft, error) { return draftOfSize(1), nil })
	require.ErrorIs(t, err, memstore.ErrQuotaExceeded, "a fork has the quota of its original")

	s.Restore(full, 10)
	require.ErrorIs(t, set("a/w", draftOfSize(0)), memstore.ErrQuotaExceeded, "the restored state uses the whole quota")
	require.NoError(t, set("a/x", nil))
	require.NoError(t, set("a/w", draftOfSize(1000)))
}

// TestSmallQuota tests a store that is larger than its quota: writes that do not increase the size
// succeed.
func TestSmallQuota(t *testing.T) {
	large := memstore.New(memstore.Options{})
	put(t, large, "a/x", "12345")
	put(t, large, "a/y", "12345")
	s := memstore.New(memstore.Options{Quota: 1})
	s.Restore(large.Snapshot(), 0)
	set := func(text string) error {
		_, err := s.Update("a/x", func(*memstore.Record) (*memstore.Draft, error) {
			return &memstore.Draft{Data: []byte(text), RevisionOffset: -1}, nil
		})
		return err
	}
	require.NoError(t, set("54321"))
	require.ErrorIs(t, set("543210"), memstore.ErrQuotaExceeded)
	require.NoError(t, set("1"))
	remove(t, s, "a/x")
	require.ErrorIs(t, set("1"), memstore.ErrQuotaExceeded)
}

// TestQuotaOfLoad tests that the writes of a Load count together.
func TestQuotaOfLoad(t *testing.T) {
	s := memstore.New(memstore.Options{Quota: 2 * (512 + 3 + 1000)})
	load := func(deleted string, put ...string) error {
		return s.Load(func(tx *memstore.Tx) error {
			for _, key := range put {
				if err := tx.Put(key, *draftOfSize(1000)); err != nil {
					return err
				}
			}
			tx.Delete(deleted)
			return nil
		})
	}
	require.ErrorIs(t, load("", "a/x", "a/y", "a/z"), memstore.ErrQuotaExceeded)
	require.Zero(t, s.View().Count("a/"))
	require.NoError(t, load("", "a/x", "a/y"))
	require.ErrorIs(t, load("", "a/z"), memstore.ErrQuotaExceeded)
	require.NoError(t, load("a/x", "a/z"))
	require.Equal(t, 2, s.View().Count("a/"))
}

// TestHistoryBytesCountEncodings tests that HistoryBytes counts cached encodings.
func TestHistoryBytesCountEncodings(t *testing.T) {
	for _, encodings := range []int{0, 9} {
		s := memstore.New(memstore.Options{HistoryBytes: 50 << 10})
		for range 100 {
			put(t, s, "a/x", string(bytes.Repeat([]byte("x"), 1024)))
			put(t, s, "a/x", string(bytes.Repeat([]byte("y"), 1024)))
			for i := range encodings {
				_, err := s.View().Get("a/x").CachedEncoding(string(rune('a'+i)), func(r *memstore.Record) ([]byte, error) { return make([]byte, 1024), nil })
				require.NoError(t, err)
			}
		}
		_, floor := s.Floors()
		if encodings == 0 {
			require.Equal(t, memstore.Revision(25), s.Revision()-floor)
		} else {
			require.Equal(t, memstore.Revision(7), s.Revision()-floor, "every second event takes 11 KiB")
		}
	}
}

// TestQuotaConcurrently tests that concurrent writes do not exceed the quota, and that failed
// writes store nothing.
func TestQuotaConcurrently(t *testing.T) {
	const most = 100
	s := memstore.New(memstore.Options{Quota: most * (512 + int64(len("a/00-00")) + 10)})
	var stored atomic.Int64
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := range 50 {
				_, err := s.Update(fmt.Sprintf("a/%02d-%02d", w, i), func(*memstore.Record) (*memstore.Draft, error) { return draftOfSize(10), nil })
				if err == nil {
					stored.Add(1)
				} else if !errors.Is(err, memstore.ErrQuotaExceeded) {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	require.EqualValues(t, most, stored.Load())
	require.Equal(t, most, s.View().Count("a/"))
}
