package openapi

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/kube-openapi/pkg/spec3"

	"example.com/fakeapi/fake/internal/resource"
)

// Root is the path of the index; the documents are below it.
const Root = "/openapi/v3"

// Documents are the OpenAPI documents of one table. They are safe for any
// number of goroutines.
type Documents struct {
	index     func() []byte
	documents map[string]func() document
}

// document is an encoded document and the hash in its address.
type document struct {
	body []byte
	hash string
}

// entry is what the index says of a document.
type entry struct {
	ServerRelativeURL string `json:"serverRelativeURL"`
}

// New prepares the documents of table. It makes none: the first to ask for the
// index, whose addresses carry the hash of every document, pays for all.
func New(table *resource.Table) *Documents {
	d := &Documents{documents: make(map[string]func() document)}
	for _, g := range table.Groups() {
		for _, version := range g.Versions {
			d.documents[path(g.Name, version)] = sync.OnceValue(func() document {
				return encodeDocument(build(table, g.Name, version))
			})
		}
	}
	d.index = sync.OnceValue(d.buildIndex)
	return d
}

// Index is the JSON of /openapi/v3 (DI-18): the path of each document below
// Root with its server-relative URL, which holds the document's hash. It may
// not be changed.
func (d *Documents) Index() []byte { return d.index() }

// Document gives the OpenAPI v3 document of a group and version as JSON, path
// being "api/v1" or "apis/GROUP/VERSION" without Root, and the hash that its
// address carries as ?hash=, which is also its ETag (unquoted): a request with
// that hash may be cached for ever. ok is false if there is no such document.
// The body may not be changed.
func (d *Documents) Document(path string) (body []byte, hash string, ok bool) {
	get, ok := d.documents[path]
	if !ok {
		return nil, "", false
	}
	doc := get()
	return doc.body, doc.hash, true
}

func (d *Documents) buildIndex() []byte {
	paths := make(map[string]entry, len(d.documents))
	for path, get := range d.documents {
		paths[path] = entry{ServerRelativeURL: Root + "/" + path + "?hash=" + get().hash}
	}
	return encode(map[string]any{"paths": paths})
}

// path is what a document is called in the index.
func path(group, version string) string {
	if group == "" {
		return "api/" + version
	}
	return "apis/" + group + "/" + version
}

func encodeDocument(doc *spec3.OpenAPI) document {
	body := encode(doc)
	return document{body: body, hash: fmt.Sprintf("%X", sha512.Sum512(body))}
}

func encode(value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		// The documents are built here, of nothing that can fail to encode.
		panic(fmt.Sprintf("openapi: %T does not encode: %v", value, err))
	}
	return body
}
