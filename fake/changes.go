package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Change is one write to the store.
type Change struct {
	// ResourceVersion is the revision of the write.
	ResourceVersion uint64
	// Time is when [Server.EachChange] passed on the change.
	Time time.Time
	// Kind and Resource are those of the stored version of the object.
	Kind     schema.GroupVersionKind
	Resource schema.GroupVersionResource
	// Namespaced reports whether objects of the resource have a namespace.
	Namespaced bool
	// Namespace and Name are those of the object.
	Namespace, Name string
	// UID is the uid of the object.
	UID string
	// Object is the JSON of the object after the write, or nil if it was deleted. Previous is that
	// before the write, or nil if it was created. Built-in types have no apiVersion and kind in it.
	// The bytes must not be modified.
	Object, Previous []byte
}

// changeBatch is the number of changes that EachChange reads at a time.
const changeBatch = 64

// EachChange calls f with each change of the store after a resourceVersion, "" for the current one,
// in the order of the writes, and waits for more until ctx is done. It returns nil when ctx is
// done, and an error if changes after the resourceVersion have been forgotten. After "0" it first
// calls f with all objects that exist, as if they were created, with the revisions of their latest
// changes. It is not a request: fault rules and the lag of a Replica do not affect it. After
// Restore it goes on with the changes after the restored state.
func (s *Server) EachChange(ctx context.Context, after string, f func(Change)) error {
	kinds := &kindsByTopic{byTopic: map[string]*resource.Resource{}}
	revision := s.store.Revision()
	if after == "0" {
		view := s.store.View()
		revision = view.Revision()
		for _, res := range storageResources(s.types.Table()) {
			for rec := range view.Range(codec.Key(res, "", ""), "") {
				s.passChange(&memstore.Event{Revision: rec.Revision, Record: rec}, kinds, f)
			}
		}
	} else if after != "" {
		n, err := strconv.ParseUint(after, 10, 63)
		if err != nil {
			return fmt.Errorf("fakeapi: each change: %q is not a resourceVersion", after)
		}
		revision = memstore.Revision(n)
	}
	buffer := make([]*memstore.Event, changeBatch)
	for {
		cursor, err := s.store.Watch("", revision)
		for err == nil {
			var n int
			if n, err = cursor.Next(buffer); err != nil {
				break
			}
			for _, event := range buffer[:n] {
				s.passChange(event, kinds, f)
			}
			if n > 0 && ctx.Err() == nil {
				continue
			}
			select {
			case <-ctx.Done():
				return nil
			case <-cursor.Ready():
			}
		}
		if !errors.Is(err, memstore.ErrRestored) {
			return fmt.Errorf("fakeapi: each change: %w", err)
		}
		_, revision = s.store.Floors() // that of the restored state
	}
}

// kindsByTopic has the resources of a table by the first part of the keys of their objects. It
// keeps those of earlier tables, because a definition may be gone before the deletes of its objects
// are read.
type kindsByTopic struct {
	table   *resource.Table
	byTopic map[string]*resource.Resource
}

// find returns the resource of a topic in a table, or nil.
func (k *kindsByTopic) find(table *resource.Table, topic string) *resource.Resource {
	if k.table != table {
		k.table = table
		for _, res := range storageResources(table) {
			k.byTopic[strings.TrimSuffix(codec.Key(res, "", ""), "/")] = res
		}
	}
	return k.byTopic[topic]
}

// passChange calls f with an event of the store.
func (s *Server) passChange(event *memstore.Event, kinds *kindsByTopic, f func(Change)) {
	topic, rest, _ := strings.Cut(event.Key(), "/")
	res := kinds.find(s.types.Table(), topic)
	if res == nil { // its definition was deleted before the first call
		return
	}
	c := Change{
		ResourceVersion: uint64(event.Revision), Time: time.Now(), Kind: res.GroupVersionKind(),
		Resource: res.GroupVersionResource(), Namespaced: res.Namespaced, Name: rest,
	}
	if res.Namespaced {
		c.Namespace, c.Name, _ = strings.Cut(rest, "/")
	}
	if event.Prev != nil {
		c.Previous, c.UID = event.Prev.Data, event.Prev.UID
	}
	if event.Record != nil {
		c.Object, c.UID = event.Record.Data, event.Record.UID
	}
	f(c)
}
