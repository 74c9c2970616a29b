package openapi

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
	builderutil "k8s.io/kube-openapi/pkg/builder3/util"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// roots returns the types that the operations of a table refer to.
func roots(table *resource.Table) []reflect.Type {
	types := []reflect.Type{
		reflect.TypeFor[metav1.APIGroup](), reflect.TypeFor[metav1.APIGroupList](),
		reflect.TypeFor[metav1.APIResourceList](), reflect.TypeFor[metav1.APIVersions](),
		reflect.TypeFor[metav1.DeleteOptions](), reflect.TypeFor[metav1.Patch](),
		reflect.TypeFor[metav1.Status](), reflect.TypeFor[metav1.WatchEvent](),
		reflect.TypeFor[version.Info](),
	}
	add := func(object any) { types = append(types, reflect.TypeOf(object).Elem()) }
	for _, r := range table.All() {
		add(r.New())
		if !r.IsOnlyCreated() {
			add(r.NewList())
		}
		for i := range r.Subresources {
			if body := r.Subresources[i].BodyResource(); body != nil {
				add(body.New())
			}
		}
	}
	return types
}

// kinds returns the kinds of each registered type, sorted.
var kinds = sync.OnceValue(func() map[reflect.Type][]any {
	byType := make(map[reflect.Type][]schema.GroupVersionKind)
	extended := builtin.Table().Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	aggregated := builtin.Table().Lookup("apiregistration.k8s.io", "v1", "apiservices")
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		byType[t] = append(byType[t], gvk)
	}
	for _, types := range []*runtime.Scheme{extended.Scheme, aggregated.Scheme} {
		for gvk, t := range types.AllKnownTypes() {
			if !isOfAllGroups(t) {
				byType[t] = append(byType[t], gvk)
			}
		}
	}
	extensions := make(map[reflect.Type][]any, len(byType))
	for t, gvks := range byType {
		slices.SortFunc(gvks, func(a, b schema.GroupVersionKind) int {
			return strings.Compare(a.Group+"\x00"+a.Version+"\x00"+a.Kind, b.Group+"\x00"+b.Version+"\x00"+b.Kind)
		})
		for _, gvk := range gvks {
			extensions[t] = append(extensions[t], kindExtension(gvk))
		}
	}
	return extensions
})

// isOfAllGroups reports whether a type, such as DeleteOptions, is registered for all groups.
func isOfAllGroups(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[metav1.DeleteOptions]().PkgPath()
}

func kindsOf(t reflect.Type) []any { return kinds()[t] }

// v3Schema returns a schema as v3 requires it: a reference has no siblings.
func v3Schema(s *spec.Schema) *spec.Schema { return builderutil.WrapRefs(s) }

// crossRegistered reports whether a kind belongs to every group and version.
func crossRegistered(name string) bool {
	return name == string(modelDeleteOptions) || name == string(modelWatchEvent)
}

// inVersion returns the schema of such a kind with the kinds of a document's group and version and
// of the core group, as a real server does since v1.36.
func inVersion(s *spec.Schema, group, version string) *spec.Schema {
	var concerned []any
	all, _ := s.Extensions[extensionKind].([]any)
	for _, kind := range all {
		k := kind.(map[string]any)
		if k["group"] == group && k["version"] == version || k["group"] == "" && k["version"] == "v1" {
			concerned = append(concerned, kind)
		}
	}
	narrowed := *v3Schema(s)
	narrowed.Extensions = spec.Extensions{extensionKind: concerned}
	return &narrowed
}

// schemaSet has the v3 schemas, each encoded once for all documents.
type schemaSet struct {
	all     map[string]*definition
	encoded map[string]func() []byte
}

func newSchemaSet(all map[string]*definition) *schemaSet {
	s := &schemaSet{all: all, encoded: make(map[string]func() []byte, len(all))}
	for name, def := range all {
		s.encoded[name] = sync.OnceValue(func() []byte { return encode(v3Schema(&def.schema)) })
	}
	return s
}

// names returns the schemas as the builders need them.
func (s *schemaSet) names() map[string]common.OpenAPIDefinition {
	names := make(map[string]common.OpenAPIDefinition, len(s.all))
	for name := range s.all {
		names[name] = common.OpenAPIDefinition{}
	}
	return names
}

// reached returns the encoded schemas of names and of all that they refer to, for the document of a
// group and version.
func (s *schemaSet) reached(names []string, group, version string) map[string][]byte {
	found := make(map[string][]byte)
	var walk func([]string)
	walk = func(names []string) {
		for _, name := range names {
			if found[name] != nil {
				continue
			}
			if crossRegistered(name) && version != "" {
				found[name] = encode(inVersion(&s.all[name].schema, group, version))
			} else {
				found[name] = s.encoded[name]()
			}
			walk(s.all[name].dependencies)
		}
	}
	walk(names)
	return found
}
