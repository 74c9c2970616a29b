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

// Document is one discovery document. It is shared by all requests: neither the object nor the
// bytes may be changed.
type Document struct {
	// Object has kind and apiVersion set as in the response.
	Object runtime.Object
	// JSON is Object in JSON on one line, with a newline, as the API server writes it.
	JSON []byte
	// ETag is the quoted hash of an aggregated document, which is compared with If-None-Match
	// (DI-07). It is empty for other documents.
	ETag string
}

// Documents has the discovery documents of the current table. It is safe for concurrent use.
type Documents struct {
	table   func() *resource.Table
	address string
	current atomic.Pointer[generation]
}

// generation has the documents of one table.
type generation struct {
	table             *resource.Table
	plain, aggregated map[string]func() Document
}

// New returns the documents of the table that table returns. The table may be replaced, but not
// changed; after that, the documents are those of the new table, with other ETags. address is the
// address of the server ("127.0.0.1:6443"), which /api contains. New builds no document.
func New(table func() *resource.Table, address string) *Documents {
	return &Documents{table: table, address: address}
}

// Get returns the document at path, which may end in a slash, in the aggregated form
// (APIGroupDiscoveryList of apidiscovery.k8s.io/v2, DI-06) or in the unaggregated form. ok is false
// if there is no such document. Only /api and /apis have an aggregated form.
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

// currentGeneration returns the documents of the current table. Concurrent requests for a new table
// may each build a generation, of which one is kept.
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

// once returns a function that builds a document on first use.
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
		// Discovery types have only strings, slices and booleans.
		panic(fmt.Sprintf("discovery: %T does not encode: %v", object, err))
	}
	return append(text, '\n')
}
