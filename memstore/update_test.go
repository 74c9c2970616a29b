package memstore_test

import (
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

func TestUpdateRetriesAfterConflict(t *testing.T) {
	s := memstore.New(memstore.Options{})
	put(t, s, "a/x", "1")
	put(t, s, "a/y", "1")
	var seen []string
	e, err := s.Update("a/x", func(cur *memstore.Record) (*memstore.Draft, error) {
		seen = append(seen, string(cur.Data))
		if len(seen) == 1 {
			put(t, s, "a/x", "2") // a conflicting write
		} else {
			put(t, s, "a/y", "2") // a write of another key is not a conflict
		}
		return &memstore.Draft{Data: append(cur.Data[:1:1], '+'), RevisionOffset: -1}, nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2"}, seen)
	require.Equal(t, "2+", string(e.Record.Data))
	require.Equal(t, s.Revision(), e.Revision)
}

// TestDeleteDuringOtherWrite deletes a record while another one is written, which is no conflict.
func TestDeleteDuringOtherWrite(t *testing.T) {
	s := memstore.New(memstore.Options{})
	put(t, s, "a/x", "1")
	calls := 0
	e, err := s.Update("a/x", func(*memstore.Record) (*memstore.Draft, error) {
		calls++
		put(t, s, "a/y", "1")
		return nil, nil
	})
	require.NoError(t, err)
	require.Equal(t, 1, calls)
	require.Equal(t, s.Revision(), e.Revision)
	require.Nil(t, s.View().Get("a/x"))
}

func TestUpdateErrors(t *testing.T) {
	s := memstore.New(memstore.Options{})
	refused := errors.New("refused")
	_, err := s.Update("a/x", func(*memstore.Record) (*memstore.Draft, error) { return nil, refused })
	require.Same(t, refused, err)

	_, err = s.Update("", func(*memstore.Record) (*memstore.Draft, error) { return &memstore.Draft{}, nil })
	require.ErrorIs(t, err, memstore.ErrEmptyKey)

	_, err = s.Update("a/x", func(*memstore.Record) (*memstore.Draft, error) {
		return &memstore.Draft{Data: []byte("abc"), RevisionOffset: 4}, nil
	})
	require.EqualError(t, err, "memstore: revision offset 4 exceeds the 3 bytes of data")
	require.Equal(t, memstore.DefaultStartRevision, s.Revision())
}

// TestAnyDifferenceIsAWrite changes one field of a stored draft at a time.
func TestAnyDifferenceIsAWrite(t *testing.T) {
	draft := func(change func(*memstore.Draft)) func(*memstore.Record) (*memstore.Draft, error) {
		return func(*memstore.Record) (*memstore.Draft, error) {
			d := &memstore.Draft{
				Data: []byte("d11a"), RevisionOffset: 2, UID: "u",
				Labels: memstore.Pairs{{Key: "l", Value: "1"}}, Fields: memstore.Pairs{{Key: "f", Value: "1"}},
			}
			change(d)
			return d, nil
		}
	}
	for name, change := range map[string]func(*memstore.Draft){
		"data before the revision": func(d *memstore.Draft) { d.Data = []byte("D11a") },
		"data after the revision":  func(d *memstore.Draft) { d.Data = []byte("d11A") },
		"longer data":              func(d *memstore.Draft) { d.Data = []byte("d11a1") },
		"shorter data":             func(d *memstore.Draft) { d.Data = []byte("d1") },
		"offset":                   func(d *memstore.Draft) { d.RevisionOffset = 1 }, // only the revision differs
		"no offset":                func(d *memstore.Draft) { d.RevisionOffset = -1; d.Data = []byte("d110011a") },
		"uid":                      func(d *memstore.Draft) { d.UID = "v" },
		"labels":                   func(d *memstore.Draft) { d.Labels = nil },
		"fields":                   func(d *memstore.Draft) { d.Fields = memstore.Pairs{{Key: "f", Value: "2"}} },
	} {
		t.Run(name, func(t *testing.T) {
			s := memstore.New(memstore.Options{})
			first, err := s.Update("a/x", draft(func(*memstore.Draft) {}))
			require.NoError(t, err)
			same, err := s.Update("a/x", draft(func(*memstore.Draft) {}))
			require.NoError(t, err)
			require.False(t, same.Changed())
			require.Same(t, first.Record, same.Record)

			e, err := s.Update("a/x", draft(change))
			require.NoError(t, err)
			require.True(t, e.Changed())
			require.Equal(t, memstore.Revision(1002), s.Revision())
		})
	}
}

// TestUpdateIsAtomic increments a counter from many goroutines.
func TestUpdateIsAtomic(t *testing.T) {
	const workers, each = 8, 300
	s := memstore.New(memstore.Options{})
	count := func(r *memstore.Record) uint64 {
		if r == nil {
			return 0
		}
		return binary.BigEndian.Uint64(r.Data)
	}
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for range each {
				e, err := s.Update("counters/c", func(cur *memstore.Record) (*memstore.Draft, error) {
					return &memstore.Draft{Data: binary.BigEndian.AppendUint64(nil, count(cur)+1), RevisionOffset: -1}, nil
				})
				if err != nil || count(e.Record) != count(e.Prev)+1 {
					t.Errorf("from %d to %d: %v", count(e.Prev), count(e.Record), err)
				}
			}
		})
	}
	done.Wait()
	require.EqualValues(t, workers*each, count(s.View().Get("counters/c")))
	require.EqualValues(t, memstore.DefaultStartRevision+workers*each, s.Revision())
}

func TestLoadIsAllOrNothing(t *testing.T) {
	s := memstore.New(memstore.Options{})
	kept := put(t, s, "a/x", "1")
	var tx *memstore.Tx
	err := s.Load(func(inside *memstore.Tx) error {
		tx = inside
		require.NoError(t, tx.Put("a/y", memstore.Draft{Data: []byte("1")}))
		require.ErrorIs(t, tx.Put("", memstore.Draft{}), memstore.ErrEmptyKey)
		require.Error(t, tx.Put("a/z", memstore.Draft{RevisionOffset: 1}))
		return nil // errors that the caller ignored still fail the Load
	})
	require.ErrorIs(t, err, memstore.ErrEmptyKey)
	require.ErrorContains(t, err, "revision offset 1 exceeds the 0 bytes")
	require.Equal(t, kept.Revision, s.Revision())
	require.Equal(t, 1, s.View().Count(""))

	require.EqualError(t, tx.Put("a/y", memstore.Draft{}), "memstore: transaction has ended")
	tx.Delete("a/x")
	require.Same(t, kept, s.View().Get("a/x"))

	require.Panics(t, func() { _ = s.Load(func(*memstore.Tx) error { panic("fixture") }) })
	put(t, s, "a/x", "2") // the lock was released
}

func TestLoadWithoutChangeUsesNoRevision(t *testing.T) {
	s := memstore.New(memstore.Options{})
	put(t, s, "a/x", "1@")
	before := s.Revision()
	require.NoError(t, s.Load(func(tx *memstore.Tx) error {
		tx.Delete("a/absent")
		return tx.Put("a/x", *modelRecord{text: "1@"}.draft())
	}))
	require.Equal(t, before, s.Revision())
}

// TestReadsAreConsistent reads while two keys are always written together and others are created
// and deleted.
func TestReadsAreConsistent(t *testing.T) {
	s := memstore.New(memstore.Options{})
	load := func(text string, extra bool) {
		err := s.Load(func(tx *memstore.Tx) error {
			tx.Delete("a/n/extra")
			if extra {
				_ = tx.Put("a/n/extra", memstore.Draft{})
			}
			_ = tx.Put("a/n/left", memstore.Draft{Data: []byte(text), RevisionOffset: -1})
			return tx.Put("b/right", memstore.Draft{Data: []byte(text), RevisionOffset: -1})
		})
		if err != nil {
			t.Error(err)
		}
	}
	load("0", false)
	var writer, readers sync.WaitGroup
	stop := make(chan struct{})
	writer.Go(func() {
		for i := range 1500 {
			load(string(rune('a'+i%7)), i%2 == 0)
		}
		close(stop)
	})
	for range 3 {
		readers.Go(func() {
			for !isClosed(stop) {
				v := s.View()
				if rev := v.Revision(); rev > memstore.DefaultStartRevision+100 {
					past, err := s.ViewAt(rev - 64)
					if err != nil || past.Revision() != rev-64 {
						t.Error(past.Revision(), err)
					}
				}
				n := 0
				for range v.Range("", "") {
					n++
				}
				if l, r := v.Get("a/n/left"), v.Get("b/right"); string(l.Data) != string(r.Data) || n != v.Count("") {
					t.Errorf("torn view: %s, %s, %d of %d", l.Data, r.Data, n, v.Count(""))
				}
			}
		})
	}
	writer.Wait()
	readers.Wait()
}
