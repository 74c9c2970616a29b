package controllers

import (
	"maps"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
)

// resourceIndex finds rows of what is served now, and of what was: that the objects of a custom
// resource are gone is read after the resource itself may have gone. Writers ask it, too.
type resourceIndex struct {
	table func() *resource.Table
	last  atomic.Pointer[generation]
}

// generation is what is known by one table. It does not change.
type generation struct {
	table *resource.Table
	// byTopic has the rows by what the keys of their objects begin with: the one of the
	// StoreVersion, of a custom resource the preferred one.
	byTopic map[string]*resource.Resource
	byKind  map[schema.GroupVersionKind]*resource.Resource
}

func newKinds(table func() *resource.Table) *resourceIndex { return &resourceIndex{table: table} }

// current gives the edition of the table of now. If two make one at once, either will do.
func (k *resourceIndex) current() *generation {
	table, last := k.table(), k.last.Load()
	if last != nil && last.table == table {
		return last
	}
	e := &generation{
		table:   table,
		byTopic: make(map[string]*resource.Resource),
		byKind:  make(map[schema.GroupVersionKind]*resource.Resource),
	}
	if last != nil {
		maps.Copy(e.byTopic, last.byTopic)
		maps.Copy(e.byKind, last.byKind)
	}
	seen := make(map[string]bool)
	for _, res := range table.Stored() {
		e.byKind[res.GroupVersionKind()] = table.LookupKind(res.GroupVersionKind())
		topic := strings.TrimSuffix(codec.Key(res, "", ""), "/")
		if res.GroupVersion() == res.StorageVersion && res.GroupResource() == res.StorageResource && !seen[topic] {
			e.byTopic[topic], seen[topic] = res, true
		}
	}
	k.last.Store(e)
	return e
}

// location is where an object is stored, taken apart.
type location struct {
	res             *resource.Resource
	namespace, name string
}

// find takes a key apart. It is false for what is no object of a type that is or was served.
func (k *resourceIndex) find(key string) (location, bool) {
	topic, rest, _ := strings.Cut(key, "/")
	p := location{res: k.current().byTopic[topic], name: rest}
	if p.res == nil {
		return location{}, false
	}
	if p.res.Namespaced {
		p.namespace, p.name, _ = strings.Cut(rest, "/")
	}
	return p, true
}

// resourceForKind finds the row of a kind that is or was served, nil if there is none.
func (k *resourceIndex) resourceForKind(kind schema.GroupVersionKind) *resource.Resource {
	return k.current().byKind[kind]
}

// isResource reports whether it is an object of a type of the core group.
func (p location) isResource(plural string) bool {
	return p.res.Group == "" && p.res.Plural == plural
}

// isIgnored reports whether the garbage collector leaves a type alone, as it does
// with events.
func (p location) isIgnored() bool { return p.isResource("events") }

func namespaceKey(name string) string { return "namespaces/" + name }
