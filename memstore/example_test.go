package memstore_test

import (
	"errors"
	"fmt"

	"example.com/fakeapi/memstore"
)

// Two writes, what they left behind, and what a watcher sees of them.
func Example() {
	store := memstore.New(memstore.Options{})

	// The revision is inserted where Stamp says, when it is known.
	draft := func(phase string) *memstore.Draft {
		const head = `{"resourceVersion":"`
		return &memstore.Draft{Data: []byte(head + `","phase":"` + phase + `"}`), Stamp: len(head)}
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
			fmt.Printf("deleted: %s\n", e.Left().Data)
		}
	}

	// Output:
	// again: already exists
	// then: {"resourceVersion":"1001","phase":"Pending"}
	// now: 0
	// changed: {"resourceVersion":"1002","phase":"Running"}
	// deleted: {"resourceVersion":"1003","phase":"Running"}
}

// A fixture is loaded once and forked for each test.
func ExampleStore_Fork() {
	fixture := memstore.New(memstore.Options{})
	_ = fixture.Load(func(tx *memstore.Tx) error {
		for i := range 3 {
			if err := tx.Put(fmt.Sprintf("nodes/n%d", i), memstore.Draft{Data: []byte("a node"), Stamp: -1}); err != nil {
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
