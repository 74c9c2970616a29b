package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

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

// Documents are the discovery documents of one table. They are safe for any
// number of goroutines.
type Documents struct {
	plain, aggregated map[string]func() Document
}

// New prepares the documents of table for a server that clients reach at
// address ("127.0.0.1:6443", which /api repeats to them). It makes none yet.
func New(table *resource.Table, address string) *Documents {
	d := &Documents{
		plain: map[string]func() Document{
			"/api":  once(func() runtime.Object { return coreVersions(table, address) }),
			"/apis": once(func() runtime.Object { return groupList(table) }),
		},
		aggregated: map[string]func() Document{
			"/api":  tagged(func() runtime.Object { return aggregate(table, true) }),
			"/apis": tagged(func() runtime.Object { return aggregate(table, false) }),
		},
	}
	for _, g := range table.Groups() {
		prefix := "/api"
		if g.Name != "" {
			prefix = "/apis/" + g.Name
			d.plain[prefix] = once(func() runtime.Object { return groupDocument(g) })
		}
		for _, version := range g.Versions {
			d.plain[prefix+"/"+version] = once(func() runtime.Object { return resourceList(table, g.Name, version) })
		}
	}
	return d
}

// Get gives the document at path, which may end in a slash, in the aggregated
// form (APIGroupDiscoveryList of apidiscovery.k8s.io/v2, DI-06) or else in the
// plain one. ok is false where there is no such document; only /api and /apis
// have an aggregated form.
func (d *Documents) Get(path string, aggregated bool) (doc Document, ok bool) {
	documents := d.plain
	if aggregated {
		documents = d.aggregated
	}
	get, ok := documents[strings.TrimSuffix(path, "/")]
	if !ok {
		return Document{}, false
	}
	return get(), true
}

// once makes a document on first use.
func once(build func() runtime.Object) func() Document {
	return sync.OnceValue(func() Document {
		object := build()
		return Document{Object: object, JSON: encode(object)}
	})
}

// tagged is once for a document with an ETag.
func tagged(build func() runtime.Object) func() Document {
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
