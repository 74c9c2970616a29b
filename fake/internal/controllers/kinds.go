package controllers

import (
	"strings"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
)

// kinds finds the row of the objects under a key: the one of the StoreVersion.
type kinds map[string]*resource.Resource

func newKinds(table *resource.Table) kinds {
	k := make(kinds)
	for _, res := range table.All() {
		if res.GroupVersion() == res.StoreVersion && res.GroupResource() == res.Store {
			k[strings.TrimSuffix(codec.Key(res, "", ""), "/")] = res
		}
	}
	return k
}

// place is where an object is stored, taken apart.
type place struct {
	res             *resource.Resource
	namespace, name string
}

// find takes a key apart. It is false for what is no object of a served type.
func (k kinds) find(key string) (place, bool) {
	topic, rest, _ := strings.Cut(key, "/")
	p := place{res: k[topic], name: rest}
	if p.res == nil {
		return place{}, false
	}
	if p.res.Namespaced {
		p.namespace, p.name, _ = strings.Cut(rest, "/")
	}
	return p, true
}

// is reports whether it is an object of a type of the core group.
func (p place) is(plural string) bool {
	return p.res.Group == "" && p.res.Plural == plural
}

// ignored reports whether the garbage collector leaves a type alone, as it does
// with events.
func (p place) ignored() bool { return p.is("events") }

func namespaceKey(name string) string { return "namespaces/" + name }
