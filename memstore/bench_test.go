package memstore_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/fakeapi/memstore"
)

// sizes are numbers of objects of 1 KiB.
var sizes = []int{1_000, 10_000, 100_000, 1_000_000}

var value1KiB = []byte(strings.Repeat("x", 1024))

func benchKey(i int) string { return fmt.Sprintf("pods/namespace-%02d/pod-%07d", i%50, i) }

// newFilledStore returns a store with n objects. HistoryAge is not limited, so that the time of a
// run does not matter.
func newFilledStore(tb testing.TB, n int) *memstore.Store {
	tb.Helper()
	s := memstore.New(memstore.Options{HistoryAge: -1})
	err := s.Load(func(tx *memstore.Tx) error {
		for i := range n {
			if err := tx.Put(benchKey(i), memstore.Draft{Data: value1KiB, RevisionOffset: 100}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.CompactAll() // the events of the load are not measured
	return s
}

// alternatingDrafts returns two different drafts. Storing them in turn always changes the record.
func alternatingDrafts() [2]*memstore.Draft {
	other := append([]byte{}, value1KiB...)
	other[0] = 'y'
	return [2]*memstore.Draft{{Data: value1KiB, RevisionOffset: 100}, {Data: other, RevisionOffset: 100}}
}

// write stores an alternating draft under one of n keys. i is the number of the call.
func write(b *testing.B, s *memstore.Store, n, i int, drafts *[2]*memstore.Draft) {
	_, err := s.Update(benchKey(i*7919%n), func(*memstore.Record) (*memstore.Draft, error) {
		return drafts[1-(i/n)%2], nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			s, drafts := newFilledStore(b, n), alternatingDrafts()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				write(b, s, n, i, &drafts)
			}
		})
	}
}

func BenchmarkCreateDelete(b *testing.B) {
	s, drafts := newFilledStore(b, 10_000), alternatingDrafts()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, err := s.Update("pods/namespace-07/pod-new", func(*memstore.Record) (*memstore.Draft, error) {
			if i%2 == 0 {
				return drafts[0], nil
			}
			return nil, nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newFilledStore(b, 10_000)
	}
}

func BenchmarkGet(b *testing.B) {
	s := newFilledStore(b, 10_000)
	key := benchKey(5_000)
	b.ReportAllocs()
	for b.Loop() {
		if s.View().Get(key) == nil {
			b.Fatal("missing")
		}
	}
}

// BenchmarkRange iterates over 10,000 records, and over pages of 500, in the current view and in
// one that is as far as possible from a kept state.
func BenchmarkRange(b *testing.B) {
	const n = 10_000
	s, drafts := newFilledStore(b, n), alternatingDrafts()
	for i := range 127 {
		write(b, s, n, i, &drafts)
	}
	historic := s.Revision() - s.Revision()%64 - 1
	for _, run := range []struct {
		name, from string
		limit      int
	}{
		{"all", "", n},
		{"page/front", "", 500},
		{"page/middle", benchKey(5_025), 500},
	} {
		for _, when := range []string{"current", "historic"} {
			b.Run(run.name+"/"+when, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					v := s.View()
					if when == "historic" {
						var err error
						if v, err = s.ViewAt(historic); err != nil {
							b.Fatal(err)
						}
					}
					left := run.limit
					for range v.Range("pods/", run.from) {
						if left--; left == 0 {
							break
						}
					}
					if left != 0 {
						b.Fatalf("%d short", left)
					}
				}
			})
		}
	}
}

func BenchmarkCount(b *testing.B) {
	s := newFilledStore(b, 10_000)
	for b.Loop() {
		if s.View().Count("pods/namespace-07/") != 200 {
			b.Fatal("wrong count")
		}
	}
}

// BenchmarkWriteWatched measures writes while goroutines watch the topic. "idle" has cursors on
// which no goroutine waits. "parked" measures the write alone while every watcher waits. "burst"
// writes continuously while watchers follow. "drained" measures until the last waiting watcher has
// the event.
func BenchmarkWriteWatched(b *testing.B) {
	for _, how := range []string{"idle", "parked", "burst", "drained"} {
		for _, watchers := range []int{1, 100, 10_000} {
			b.Run(fmt.Sprintf("%s=%d", how, watchers), func(b *testing.B) {
				if how == "idle" {
					benchIdle(b, watchers)
				} else {
					benchParked(b, watchers, how)
				}
			})
		}
	}
}

func watchPods(b *testing.B, s *memstore.Store) *memstore.Cursor {
	c, err := s.Watch("pods/", s.Revision())
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func benchIdle(b *testing.B, watchers int) {
	const n = 10_000
	s, drafts := newFilledStore(b, n), alternatingDrafts()
	cursors := make([]*memstore.Cursor, watchers)
	for i := range cursors {
		cursors[i] = watchPods(b, s)
	}
	for i := 0; b.Loop(); i++ {
		cursors[i%watchers].Ready() // each write has a channel to close
		write(b, s, n, i, &drafts)
	}
}

func benchParked(b *testing.B, watchers int, how string) {
	const n = 10_000
	s, drafts := newFilledStore(b, n), alternatingDrafts()
	ctx, cancel := context.WithCancel(b.Context())
	var ended, got sync.WaitGroup
	parked := make(chan struct{}, watchers)
	for range watchers {
		c := watchPods(b, s)
		ended.Go(func() { follow(ctx, b, c, &got, parked, how != "burst") })
	}
	defer ended.Wait()
	defer cancel()

	var spent time.Duration
	writes := 0
	for ; b.Loop(); writes++ {
		if how != "burst" {
			for range watchers {
				<-parked
			}
			runtime.Gosched() // let the watcher reach its select
		}
		got.Add(watchers)
		start := time.Now()
		write(b, s, n, writes, &drafts)
		if how == "drained" {
			got.Wait()
		}
		spent += time.Since(start)
		if how != "burst" {
			got.Wait()
		}
	}
	got.Wait()
	b.ReportMetric(float64(spent.Nanoseconds())/float64(writes), "ns/op") // exclude the time between writes
}

// follow reads the events of a cursor.
func follow(ctx context.Context, b *testing.B, c *memstore.Cursor, got *sync.WaitGroup, parked chan<- struct{}, signal bool) {
	buf := make([]*memstore.Event, 16)
	for ctx.Err() == nil {
		n, err := c.Next(buf)
		if err != nil {
			b.Error(err)
			return
		}
		if n > 0 {
			got.Add(-n)
			continue
		}
		wake := c.Ready()
		if signal {
			parked <- struct{}{}
		}
		select {
		case <-wake:
		case <-ctx.Done():
		}
	}
}

// BenchmarkMemory reports the heap size for each object of 1 KiB and for each revision of the
// history.
func BenchmarkMemory(b *testing.B) {
	b.Run("live", func(b *testing.B) {
		const n = 100_000
		for b.Loop() {
			before := heapBytes()
			s := newFilledStore(b, n)
			b.ReportMetric(float64(heapBytes()-before)/n, "B/object")
			runtime.KeepAlive(s)
		}
	})
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("history/objects=%d", n), func(b *testing.B) {
			const revisions = 20_000
			for b.Loop() {
				s, drafts := newFilledStore(b, n), alternatingDrafts()
				before := heapBytes()
				for i := range revisions {
					write(b, s, n, i, &drafts)
				}
				b.ReportMetric(float64(heapBytes()-before)/revisions, "B/revision")
				runtime.KeepAlive(s)
			}
		})
	}
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkIdentity returns the identity of a prefix, and that of all records.
func BenchmarkIdentity(b *testing.B) {
	s := newFilledStore(b, 10_000)
	for _, prefix := range []string{"pods/namespace-07/", ""} {
		b.Run("prefix="+prefix, func(b *testing.B) {
			first := s.View().Identity(prefix)
			b.ReportAllocs()
			for b.Loop() {
				if s.View().Identity(prefix) != first {
					b.Fatal("the identity has changed")
				}
			}
		})
	}
}
