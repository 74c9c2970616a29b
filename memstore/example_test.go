package memstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/fakeapi/memstore"
)

// Two writes, the state before and after them, and the events of a watch.
func Example() {
	store := memstore.New(memstore.Options{})

	// The store inserts the revision at RevisionOffset.
	draft := func(phase string) *memstore.Draft {
		const head = `{"resourceVersion":"`
		return &memstore.Draft{Data: []byte(head + `","phase":"` + phase + `"}`), RevisionOffset: len(head)}
	}
	create := func(cur *memstore.Record) (*memstore.Draft, error) {
		if cur != nil {
			return nil, errors.New("already exists")
		}
		return draft("Pending"), nil
	}
	created, _ := store.Update("pods/default/web", create)
	_, err := store.Update("pods/default/web", create)
	fmt.Println("again:", err)

	_, _ = store.Update("pods/default/web", func(*memstore.Record) (*memstore.Draft, error) { return draft("Running"), nil })
	_, _ = store.Update("pods/default/web", func(*memstore.Record) (*memstore.Draft, error) { return nil, nil })

	past, _ := store.ViewAt(created.Revision)
	fmt.Printf("then: %s\n", past.Get("pods/default/web").Data)
	fmt.Println("now:", store.View().Count("pods/"))

	cursor, _ := store.Watch("pods/default/", created.Revision)
	buf := make([]*memstore.Event, 10)
	n, _ := cursor.Next(buf)
	for _, e := range buf[:n] {
		if e.Record != nil {
			fmt.Printf("changed: %s\n", e.Record.Data)
		} else {
			fmt.Printf("deleted: %s\n", e.DeletedRecord().Data)
		}
	}

	// Output:
	// again: already exists
	// then: {"resourceVersion":"1001","phase":"Pending"}
	// now: 0
	// changed: {"resourceVersion":"1002","phase":"Running"}
	// deleted: {"resourceVersion":"1003","phase":"Running"}
}

// Tests load a fixture once and use one fork each.
func ExampleStore_Fork() {
	fixture := memstore.New(memstore.Options{})
	_ = fixture.Load(func(tx *memstore.Tx) error {
		for i := range 3 {
			if err := tx.Put(fmt.Sprintf("nodes/n%d", i), memstore.Draft{Data: []byte("a node"), RevisionOffset: -1}); err != nil {
				return err
			}
		}
		return nil
	})

	store := fixture.Fork()
	_, _ = store.Update("nodes/n1", func(*memstore.Record) (*memstore.Draft, error) { return nil, nil })
	for r := range store.View().Range("nodes/", "") {
		fmt.Println(r.Key, r.Revision)
	}
	fmt.Println(fixture.View().Count("nodes/"), "in the fixture")

	// Output:
	// nodes/n0 1001
	// nodes/n2 1003
	// 3 in the fixture
}

// putText returns a function for Update that stores text.
func putText(text string) func(*memstore.Record) (*memstore.Draft, error) {
	return func(*memstore.Record) (*memstore.Draft, error) {
		return &memstore.Draft{Data: []byte(text), RevisionOffset: -1}, nil
	}
}

// Load makes several writes, all or none. The event of an Update has its result.
func ExampleStore_Load() {
	store := memstore.New(memstore.Options{})
	err := store.Load(func(tx *memstore.Tx) error {
		for _, key := range []string{"nodes/a", "nodes/b"} {
			if err := tx.Put(key, memstore.Draft{Data: []byte("ready"), RevisionOffset: -1}); err != nil {
				return err
			}
		}
		if tx.Get("nodes/a") != nil {
			tx.Delete("nodes/b")
		}
		return nil
	})
	fmt.Println(store.View().Count("nodes/"), err)

	same, _ := store.Update("nodes/a", putText("ready"))
	fmt.Println(same.Key(), same.Changed(), same.Revision)
	other, _ := store.Update("nodes/a", putText("gone"))
	fmt.Println(other.Key(), other.Changed(), other.Revision)
	// Output:
	// 1 <nil>
	// nodes/a false 1001
	// nodes/a true 1004
}

// A reader pulls events and waits if there are none.
func ExampleStore_Watch() {
	store := memstore.New(memstore.Options{})
	cursor, err := store.Watch("pods/", store.Revision())
	if err != nil {
		fmt.Println(err)
		return
	}
	buf := make([]*memstore.Event, 10)
	next := func() {
		n, err := cursor.Next(buf)
		for _, e := range buf[:n] {
			fmt.Println(e.Key(), e.Revision)
		}
		fmt.Println(n, "events, up to", cursor.Revision(), err)
	}
	next()
	wake := cursor.Ready()
	_, _ = store.Update("pods/a", putText("Pending"))
	<-wake
	next()

	// ReadyFor waits for matching events only.
	wake = cursor.ReadyFor(func(e *memstore.Event) bool { return string(e.Record.Data) == "Running" })
	_, _ = store.Update("pods/b", putText("Pending"))
	_, _ = store.Update("pods/a", putText("Running"))
	<-wake
	next()
	// Output:
	// 0 events, up to 1000 <nil>
	// pods/a 1001
	// 1 events, up to 1001 <nil>
	// pods/b 1002
	// pods/a 1003
	// 2 events, up to 1003 <nil>
}

// CompactViews removes old states, CompactAll also removes the events.
func ExampleStore_CompactViews() {
	store := memstore.New(memstore.Options{HistoryAge: time.Hour})
	first, _ := store.Update("pods/a", putText("Pending"))
	_, _ = store.Update("pods/a", putText("Running"))

	fmt.Println("written less than an hour ago:", store.Age(first.Revision) < time.Hour)

	store.CompactViews()
	_, err := store.ViewAt(first.Revision)
	fmt.Println(err)
	_, err = store.Watch("pods/", first.Revision)
	fmt.Println(err)

	store.CompactAll()
	_, err = store.Watch("pods/", first.Revision)
	fmt.Println(errors.Is(err, memstore.ErrCompacted))
	exact, watch := store.Floors()
	fmt.Println(exact, watch)
	// Output:
	// written less than an hour ago: true
	// memstore: revision 1001 has been compacted, the oldest is 1002
	// <nil>
	// true
	// 1002 1002
}

// Without a bump, Restore sets the revision back to that of the snapshot. With a bump, it sets a
// higher one.
func ExampleStore_Restore() {
	store := memstore.New(memstore.Options{})
	_, _ = store.Update("pods/a", putText("Pending"))
	backup := store.Snapshot()
	_, _ = store.Update("pods/a", putText("Running"))
	cursor, _ := store.Watch("pods/", store.Revision())

	store.Restore(backup, 0)
	view := store.View()
	fmt.Printf("%s at %s, as in the backup of %s\n", view.Get("pods/a").Data, view.Revision(), backup.Revision())
	_, err := cursor.Next(make([]*memstore.Event, 1))
	fmt.Println(err)

	store.Restore(backup, 1000)
	fmt.Println(store.Revision(), "after", store.RestoreCount(), "restores")
	// Output:
	// Pending at 1001, as in the backup of 1001
	// memstore: store was restored from a snapshot
	// 2001 after 2 restores
}

// Wait blocks until the store has reached a revision.
func ExampleStore_Wait() {
	store := memstore.New(memstore.Options{})
	_, err := store.ViewAt(1001)
	fmt.Println(err)
	go func() { _, _ = store.Update("pods/a", putText("Pending")) }()
	if err := store.Wait(context.Background(), 1001); err != nil {
		fmt.Println(err)
	}
	view, err := store.ViewAt(1001)
	fmt.Println(view.Count(""), err)
	// Output:
	// memstore: revision 1001 is in the future, the current one is 1000
	// 1 <nil>
}

// CachedEncoding computes another encoding once. WithRevision returns a record with another
// revision.
func ExampleRecord_CachedEncoding() {
	store := memstore.New(memstore.Options{})
	event, _ := store.Update("pods/a", func(*memstore.Record) (*memstore.Draft, error) {
		return &memstore.Draft{Data: []byte(`{"rv":""}`), RevisionOffset: len(`{"rv":"`)}, nil
	})
	shout := func(r *memstore.Record) ([]byte, error) {
		fmt.Println("made of", string(r.Data))
		return bytes.ToUpper(r.Data), nil
	}
	for range 2 {
		loud, err := event.Record.CachedEncoding("loud", shout)
		fmt.Println(string(loud), err)
	}
	fmt.Println(string(event.Record.WithRevision(2000).Data))
	// Output:
	// made of {"rv":"1001"}
	// {"RV":"1001"} <nil>
	// {"RV":"1001"} <nil>
	// {"rv":"2000"}
}

// Pairs are the labels and fields of a record.
func ExampleMakePairs() {
	labels := memstore.MakePairs(map[string]string{"tier": "web", "app": "shop"})
	fmt.Println(labels)
	fmt.Println(labels.Get("tier"))
	// Output:
	// [{app shop} {tier web}]
	// web true
}
