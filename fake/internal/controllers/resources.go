package controllers

import (
	"maps"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
)

// resourceIndex finds the resources that are served now or were served before. The deletion of
// custom resources may be read after their definition is gone. Writers use it, too.
type resourceIndex struct {
	table func() *resource.Table
	last  atomic.Pointer[generation]
}

// generation is the index of one resource table. It does not change.
type generation struct {
	table *resource.Table
	// byTopic has the resources by the first part of the keys of their objects: the resource of the
	// storage version; for a custom resource, that of the preferred version.
	byTopic map[string]*resource.Resource
	byKind  map[schema.GroupVersionKind]*resource.Resource
}

func newResourceIndex(table func() *resource.Table) *resourceIndex {
	return &resourceIndex{table: table}
}

// current returns the generation of the current table. Concurrent calls may each build one.
func (k *resourceIndex) current() *generation {
	table, last := k.table(), k.last.Load()
	if last != nil && last.table == table {
		return last
	}
	next := &generation{
		table:   table,
		byTopic: make(map[string]*resource.Resource),
		byKind:  make(map[schema.GroupVersionKind]*resource.Resource),
	}
	if last != nil {
		maps.Copy(next.byTopic, last.byTopic)
		maps.Copy(next.byKind, last.byKind)
	}
	seen := make(map[string]bool)
	for _, res := range table.Stored() {
		next.byKind[res.GroupVersionKind()] = table.LookupKind(res.GroupVersionKind())
		topic := strings.TrimSuffix(codec.Key(res, "", ""), "/")
		if res.GroupVersion() == res.StorageVersion && res.GroupResource() == res.StorageResource && !seen[topic] {
			next.byTopic[topic], seen[topic] = res, true
		}
	}
	k.last.Store(next)
	return next
}

// location is the parsed key of an object.
type location struct {
	res             *resource.Resource
	namespace, name string
}

// find parses a key. It returns false if the key is not that of a type that is or was served.
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

// resourceForKind returns the resource of a kind that is or was served, or nil.
func (k *resourceIndex) resourceForKind(kind schema.GroupVersionKind) *resource.Resource {
	return k.current().byKind[kind]
}

// isResource reports whether the object is of the core group's type plural.
func (p location) isResource(plural string) bool {
	return p.res.Group == "" && p.res.Plural == plural
}

// isIgnored reports whether the garbage collector ignores the type, as it does with events.
func (p location) isIgnored() bool { return p.isResource("events") }

func namespaceKey(name string) string { return "namespaces/" + name }

// namespaceContent describes the deletion of the content of a namespace.
func namespaceContent(name string) string { return "content of namespace " + name }
