package openapi

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"

	"k8s.io/kube-openapi/pkg/aggregator"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
)

// V3Root is the path of the v3 index. The documents are below it.
const V3Root = "/openapi/v3"

// Documents has the OpenAPI documents of one table. It is safe for concurrent use.
type Documents struct {
	builtin *builtinDocuments
	// versions has the groups and versions of custom resources.
	versions map[string]*customVersion

	index func() []byte
	v3    map[string]func() *Document
	v2    func() *Document
	// swagger returns the object of v2, which must not be changed.
	swagger func() *spec.Swagger
}

// Document is an encoded document. Its bytes must not be changed.
type Document struct {
	JSON []byte
	// Hash is the hash of JSON. It is the ETag, unquoted, of both encodings, and part of the URL of
	// a v3 document.
	Hash string
	// Protobuf returns the document as a gnostic message. It is encoded at the first call.
	Protobuf func() []byte
}

func newDocument(body []byte, protobuf func() []byte) *Document {
	return &Document{JSON: body, Hash: fmt.Sprintf("%X", sha512.Sum512(body)), Protobuf: sync.OnceValue(protobuf)}
}

// New returns the documents of a table. It builds none. The first request for a document builds it,
// and a request for the index builds all v3 documents, because their URLs contain hashes. The table
// must not change, and its resources must have Go types; custom resources are added by
// WithCustomResources.
func New(table *resource.Table) *Documents {
	b := &builtinDocuments{v3: make(map[string]func() *Document)}
	b.schemas = sync.OnceValue(func() *schemaSet { return newSchemaSet(define(roots(table), false)) })
	b.definitions = sync.OnceValue(func() map[string]*definition { return define(roots(table), true) })
	b.swagger = sync.OnceValue(func() *spec.Swagger { return buildSwagger(everyRoute(table), b.definitions()) })
	b.v2 = sync.OnceValue(func() *Document {
		doc := b.swagger()
		return newDocument(encode(doc), func() []byte { return protobufV2(doc) })
	})
	for name, routes := range containers(table) {
		b.v3[name] = sync.OnceValue(func() *Document { return buildV3(routes(), b.schemas()) })
	}
	d := &Documents{builtin: b, v3: b.v3, v2: b.v2, swagger: b.swagger}
	d.index = sync.OnceValue(d.buildIndex)
	return d
}

// V3Index returns the JSON of /openapi/v3 (DI-18): the path of each document below V3Root with its
// server-relative URL, which contains the document's hash. It must not be changed.
func (d *Documents) V3Index() []byte { return d.index() }

// V3IndexWith returns V3Index with documents of aggregated API servers, by their names, which
// replace those of d.
func (d *Documents) V3IndexWith(remote map[string]string) []byte {
	paths := d.indexEntries()
	for name, location := range remote {
		paths[name] = IndexEntry{ServerRelativeURL: location}
	}
	return encode(map[string]any{"paths": paths})
}

// V3 returns the document with a name of the index: "api/v1", "apis/GROUP/VERSION", or a discovery
// path, "api", "apis", "apis/GROUP", "version", or that of a document about tokens, such as
// "openid/v1/jwks". It returns nil if there is no such document.
func (d *Documents) V3(name string) *Document {
	if get := d.v3[name]; get != nil {
		return get()
	}
	return nil
}

// V2 returns the v2 document.
func (d *Documents) V2() *Document { return d.v2() }

// V2With returns the v2 document with parts of those of aggregated API servers. Paths of d remain.
// Other definitions of the same names are renamed. It builds a document at each call.
func (d *Documents) V2With(parts []*spec.Swagger) (*Document, error) {
	doc := *d.swagger()
	doc.Paths, doc.Definitions, doc.Parameters = nil, nil, nil
	for _, part := range append([]*spec.Swagger{d.swagger()}, parts...) {
		if err := aggregator.MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters(&doc, part); err != nil {
			return nil, err
		}
	}
	return newDocument(encode(&doc), func() []byte { return protobufV2(&doc) }), nil
}

// V3URL returns the URL of a v3 document, which clients may cache for ever.
func V3URL(name, hash string) string {
	return V3Root + "/" + name + "?" + url.Values{"hash": {hash}}.Encode()
}

// IndexEntry is the entry of a document in the index.
type IndexEntry struct {
	ServerRelativeURL string `json:"serverRelativeURL"`
}

func (d *Documents) buildIndex() []byte { return encode(map[string]any{"paths": d.indexEntries()}) }

// indexEntries builds all documents, in parallel on all processors, and returns their entries.
func (d *Documents) indexEntries() map[string]IndexEntry {
	var group sync.WaitGroup
	for _, get := range d.v3 {
		group.Go(func() { get() })
	}
	group.Wait()
	paths := make(map[string]IndexEntry, len(d.v3))
	for name, get := range d.v3 {
		paths[name] = IndexEntry{ServerRelativeURL: V3URL(name, get().Hash)}
	}
	return paths
}

// containers returns the routes of each v3 document by its name.
func containers(table *resource.Table) map[string]func() *container {
	all := make(map[string]func() *container)
	single := func(name, description, what, kind string) {
		all[name] = func() *container {
			c := &container{root: "/" + name}
			c.add(discoveryRoute(c.root, description, what, model(metaPrefix+kind)))
			return c
		}
	}
	single("api", "get available API versions", "APIVersions", "APIVersions")
	single("apis", "get available API versions", "APIVersions", "APIGroupList")
	for _, g := range table.Groups() {
		if g.Name != "" {
			single("apis/"+g.Name, "get information of a group", "APIGroup", "APIGroup")
		}
		for _, version := range g.Versions {
			all[versionPath(g.Name, version)] = func() *container { return versionRoutes(table, g.Name, version) }
		}
	}
	other := func(name, description, what string, answer model, consumes []string, produces string) {
		all[name] = func() *container {
			c := &container{root: "/" + name}
			op := discoveryRoute(c.root, description, what, answer)
			op.consumes, op.produces = consumes, []string{produces}
			c.add(op)
			return c
		}
	}
	const jsonType = "application/json"
	other("version", "get the version information for this server", "CodeVersion", modelVersion, []string{jsonType}, jsonType)
	other(".well-known/openid-configuration", "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
		"ServiceAccountIssuerOpenIDConfiguration", modelText, nil, jsonType)
	other("openid/v1/jwks", "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
		"ServiceAccountIssuerOpenIDKeyset", modelText, nil, "application/jwk-set+json")
	return all
}

// encode calls MarshalJSON directly: encoding/json would validate and copy its result, and the
// documents are large.
func encode(value any) []byte {
	marshal := func() ([]byte, error) { return json.Marshal(value) }
	if m, ok := value.(json.Marshaler); ok {
		marshal = m.MarshalJSON
	}
	body, err := marshal()
	if err != nil {
		// Documents contain no values that cannot be encoded.
		panic(fmt.Sprintf("openapi: %T does not encode: %v", value, err))
	}
	return body
}

// object returns a JSON object with encoded members.
func object(members map[string][]byte) []byte {
	size := 2
	for name, value := range members {
		size += len(name) + len(value) + 4
	}
	b := append(make([]byte, 0, size), '{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, encode(name)...), ':'), members[name]...)
	}
	return append(b, '}')
}
