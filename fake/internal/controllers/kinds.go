package controllers

import (
	"strings"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
)

// kinds finds the row of the objects under a key: the one of the StoreVersion, of a
// custom resource the preferred one.
type kinds struct {
	table func() *resource.Table
	// known are the rows of the table that was asked last, by what the keys begin with.
	known map[string]*resource.Resource
	asked *resource.Table
}

func newKinds(table func() *resource.Table) *kinds { return &kinds{table: table} }

// rows gives the rows of the table of now.
func (k *kinds) rows() map[string]*resource.Resource {
	if table := k.table(); table != k.asked {
		k.asked, k.known = table, make(map[string]*resource.Resource)
		for _, res := range table.All() {
			topic := strings.TrimSuffix(codec.Key(res, "", ""), "/")
			if res.GroupVersion() == res.StoreVersion && res.GroupResource() == res.Store && k.known[topic] == nil {
				k.known[topic] = res
			}
		}
	}
	return k.known
}

// place is where an object is stored, taken apart.
type place struct {
	res             *resource.Resource
	namespace, name string
}

// find takes a key apart. It is false for what is no object of a served type.
func (k *kinds) find(key string) (place, bool) {
	topic, rest, _ := strings.Cut(key, "/")
	p := place{res: k.rows()[topic], name: rest}
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
