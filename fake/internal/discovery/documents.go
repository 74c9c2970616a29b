package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
)

// Document is one discovery document. It is shared by all who ask for it:
// neither the object nor the bytes may be changed.
type Document struct {
	// Object has its kind and apiVersion filled in as they go over the wire.
	Object runtime.Object
	// JSON is Object in one line with a newline behind it, as the API server
	// writes it.
	JSON []byte
	// ETag is the quoted hash of an aggregated document, to be compared with
	// If-None-Match (DI-07); "" for the others, which have none.
	ETag string
}

// Documents are the discovery documents of a table that may be replaced by another.
// They are safe for any number of goroutines.
type Documents struct {
	table   func() *resource.Table
	address string
	current atomic.Pointer[generation]
}

// generation are the documents of one table.
type generation struct {
	table             *resource.Table
	plain, aggregated map[string]func() Document
}

// New prepares the documents of the table that table gives, for a server that
// clients reach at address ("127.0.0.1:6443", which /api repeats to them). It makes
// none yet. A table does not change; where table gives another one, the documents
// are those of that from then on, with ETags of their own.
func New(table func() *resource.Table, address string) *Documents {
	return &Documents{table: table, address: address}
}

// Get gives the document at path, which may end in a slash, in the aggregated
// form (APIGroupDiscoveryList of apidiscovery.k8s.io/v2, DI-06) or else in the
// plain one. ok is false where there is no such document; only /api and /apis
// have an aggregated form.
func (d *Documents) Get(path string, aggregated bool) (doc Document, ok bool) {
	e := d.currentGeneration()
	documents := e.plain
	if aggregated {
		documents = e.aggregated
	}
	get, ok := documents[strings.TrimSuffix(path, "/")]
	if !ok {
		return Document{}, false
	}
	return get(), true
}

// currentGeneration gives the documents of the table of now. If two ask at once for those of
// a new table, one of them makes them in vain.
func (d *Documents) currentGeneration() *generation {
	table, known := d.table(), d.current.Load()
	if known != nil && known.table == table {
		return known
	}
	fresh := newGeneration(table, d.address)
	d.current.CompareAndSwap(known, fresh)
	return fresh
}

func newGeneration(table *resource.Table, address string) *generation {
	e := &generation{
		table: table,
		plain: map[string]func() Document{
			"/api":  once(func() runtime.Object { return coreVersions(table, address) }),
			"/apis": once(func() runtime.Object { return groupList(table) }),
		},
		aggregated: map[string]func() Document{
			"/api":  withETag(func() runtime.Object { return aggregate(table, true) }),
			"/apis": withETag(func() runtime.Object { return aggregate(table, false) }),
		},
	}
	for _, g := range table.Groups() {
		prefix := "/api"
		if g.Name != "" {
			prefix = "/apis/" + g.Name
			e.plain[prefix] = once(func() runtime.Object { return groupDocument(g) })
		}
		for _, version := range g.Versions {
			e.plain[prefix+"/"+version] = once(func() runtime.Object { return resourceList(table, g.Name, version) })
		}
	}
	return e
}

// once makes a document on first use.
func once(build func() runtime.Object) func() Document {
	return sync.OnceValue(func() Document {
		object := build()
		return Document{Object: object, JSON: encode(object)}
	})
}

// withETag is once for a document with an ETag.
func withETag(build func() runtime.Object) func() Document {
	plain := once(build)
	return sync.OnceValue(func() Document {
		doc := plain()
		doc.ETag = fmt.Sprintf(`"%X"`, sha512.Sum512(doc.JSON))
		return doc
	})
}

func encode(object runtime.Object) []byte {
	text, err := json.Marshal(object)
	if err != nil {
		// Discovery types hold nothing but strings, slices and booleans.
		panic(fmt.Sprintf("discovery: %T does not encode: %v", object, err))
	}
	return append(text, '\n')
}
