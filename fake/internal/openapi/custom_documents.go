package openapi

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// WithCustomResources returns the documents of the table of d and of custom resources. It builds
// nothing. It shares with d the documents of the table, and those of groups and versions with the
// same custom resources in any order. So a server calls New once, and WithCustomResources of the
// latest documents when a definition changes. Custom resources in a group and version of the table
// are not described.
func (d *Documents) WithCustomResources(custom []*CustomResource) *Documents {
	next := &Documents{builtin: d.builtin, versions: make(map[string]*customVersion), v3: maps.Clone(d.builtin.v3)}
	byPath := make(map[string][]*CustomResource)
	for _, c := range custom {
		if path := versionPath(c.Group, c.Version); d.builtin.v3[path] == nil {
			byPath[path] = append(byPath[path], c)
		}
	}
	for path, all := range byPath {
		slices.SortFunc(all, func(a, b *CustomResource) int { return strings.Compare(a.Plural, b.Plural) })
		v := d.versions[path]
		if v == nil || !slices.Equal(v.custom, all) {
			v = d.builtin.version(path, all)
		}
		next.versions[path] = v
		next.v3[path] = v.v3
	}
	next.index = sync.OnceValue(next.buildIndex)
	next.swagger = sync.OnceValue(func() *spec.Swagger { return next.builtin.merge(next.versions) })
	next.v2 = sync.OnceValue(func() *Document {
		doc := next.swagger()
		return newDocument(encode(doc), func() []byte { return protobufV2(doc) })
	})
	if len(byPath) == 0 {
		next.v2, next.swagger = d.builtin.v2, d.builtin.swagger
	}
	return next
}

// builtinDocuments is what documents with different custom resources share.
type builtinDocuments struct {
	schemas func() *schemaSet
	// definitions returns the schemas of v2.
	definitions func() map[string]*definition
	swagger     func() *spec.Swagger
	v3          map[string]func() *Document
	v2          func() *Document
}

// customVersion has the custom resources of a group and version.
type customVersion struct {
	custom []*CustomResource
	v3     func() *Document
	// swagger returns their part of the v2 document.
	swagger func() *spec.Swagger
}

func (b *builtinDocuments) version(path string, all []*CustomResource) *customVersion {
	routes := sync.OnceValue(func() *container { return customRoutes("/"+path, all) })
	return &customVersion{
		custom:  all,
		v3:      sync.OnceValue(func() *Document { return buildCustomV3(routes(), b.schemas().with(customSchemas(all, false))) }),
		swagger: sync.OnceValue(func() *spec.Swagger { return buildCustomV2(routes(), b.definitions(), customSchemas(all, true)) }),
	}
}

// customInfo returns the info of such a document.
func customInfo() *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes CRD Swagger", Version: "v0.1.0"}}
}

// buildCustomV3 builds a document as buildV3 does, without the security definitions.
func buildCustomV3(c *container, schemas *schemaSet) *Document {
	doc := buildRoutes(c, schemas, customInfo())
	// Kinds that belong to every group are not narrowed here.
	reached := schemas.reached(slices.Collect(maps.Keys(doc.Components.Schemas)), "", "")
	return encodeV3(doc, map[string][]byte{"schemas": object(reached)})
}

// with returns the schemas of s and more.
func (s *schemaSet) with(more map[string]*definition) *schemaSet {
	all := newSchemaSet(more)
	maps.Copy(all.all, s.all)
	maps.Copy(all.encoded, s.encoded)
	return all
}

// buildCustomV2 builds their part of the v2 document.
func buildCustomV2(c *container, shared, more map[string]*definition) *spec.Swagger {
	maps.Copy(more, shared)
	return buildSwagger([]common.RouteContainer{c}, more)
}

// merge builds the v2 document with all custom resources.
func (b *builtinDocuments) merge(versions map[string]*customVersion) *spec.Swagger {
	doc := *b.swagger()
	paths := *doc.Paths
	doc.Paths, paths.Paths = &paths, maps.Clone(paths.Paths)
	doc.Definitions, doc.Parameters = maps.Clone(doc.Definitions), maps.Clone(doc.Parameters)
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		part := versions[name].swagger()
		maps.Copy(paths.Paths, part.Paths.Paths)
		maps.Copy(doc.Definitions, part.Definitions)
		// The name of a parameter contains its hash.
		maps.Copy(doc.Parameters, part.Parameters)
	}
	return &doc
}
