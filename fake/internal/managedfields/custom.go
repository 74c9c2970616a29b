package managedfields

import (
	"fmt"
	"maps"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// CRDOption tells Custom more of a custom resource.
type CRDOption func(*customResource)

// customResource is what is known of a custom resource.
type customResource struct {
	kind schema.GroupVersionKind
	// schemas are those of all versions by name, a nil one for a version without.
	schemas map[string]*structuralschema.Structural
	// status are the versions with a subresource of that name.
	status map[string]bool
	// fill puts in defaults, convert makes an object of another version.
	fill    func(*unstructured.Unstructured)
	convert func(*unstructured.Unstructured, schema.GroupVersion) (*unstructured.Unstructured, error)
}

// WithStatusSubresource tells that the version has the status subresource.
func WithStatusSubresource() CRDOption {
	return func(c *customResource) { c.status[c.kind.Version] = true }
}

// WithVersion tells of another version of the definition: its schema (nil for
// none), and whether it has the status subresource.
func WithVersion(version string, s *structuralschema.Structural, status bool) CRDOption {
	return func(c *customResource) { c.schemas[version], c.status[version] = s, status }
}

// WithDefaults gives the function that puts the defaults of its version into the
// result of an apply. It may change the object.
func WithDefaults(fill func(*unstructured.Unstructured)) CRDOption {
	return func(c *customResource) { c.fill = fill }
}

// WithConversion gives the function that makes an object of another version of an
// object, which it must not change. By default only the apiVersion becomes another.
func WithConversion(convert func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)) CRDOption {
	return func(c *customResource) { c.convert = convert }
}

// NewCRDFieldManager makes the tracker of a custom resource in one version, whose objects are
// unstructured. s is the schema of the version, which is not changed; nil stands for
// a definition without one, of which only values at the top have owners of their own.
// subresource is "", "status" or "scale"; that of scale is for Scales.
//
// It does what For's trackers do, with the same library (SA rules). A version with a
// status subresource leaves the status to it, which in turn leaves spec and metadata
// (SA-32). To make a tracker takes some 100 us: keep it.
func NewCRDFieldManager(kind schema.GroupVersionKind, s *structuralschema.Structural, subresource string, opts ...CRDOption) (*FieldManager, error) {
	if subresource == "scale" { // all Scales are alike
		return BuiltinFieldManager(builtin.Table().Lookup("apps", "v1", "deployments"), "scale")
	}
	if subresource != "" && subresource != "status" {
		return nil, fmt.Errorf("no managed fields for %s, subresource %q", kind, subresource)
	}
	c := &customResource{
		kind: kind, status: map[string]bool{}, convert: relabel,
		schemas: map[string]*structuralschema.Structural{kind.Version: s},
		fill:    func(*unstructured.Unstructured) {},
	}
	for _, opt := range opts {
		opt(c)
	}
	types, err := c.types()
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", kind, err)
	}
	t := &FieldManager{
		kind: kind, subresource: subresource,
		convert: c, store: kind.GroupVersion(),
	}
	if t.empty, err = c.New(kind); err != nil {
		return nil, err
	}
	t.whole = customPlan(types, t.empty)
	t.writable = t.whole
	if c.status[kind.Version] {
		t.writable = t.whole.withNames(excluded(subresource)).without(excluded(subresource))
	}
	t.library, err = managedfields.NewDefaultCRDFieldManager(
		types, c, c, c, kind, t.store, subresource, c.filters(subresource))
	return t, err
}

// filters are what a write at the subresource cannot own: in its own version at the
// main resource, in all versions at the status, as a real server has it.
func (c *customResource) filters(subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	byVersion := make(map[fieldpath.APIVersion]fieldpath.Filter)
	for version, status := range c.status {
		gv := fieldpath.APIVersion(schema.GroupVersion{Group: c.kind.Group, Version: version}.String())
		if status && (subresource == "status" || version == c.kind.Version) {
			byVersion[gv] = exclude(excluded(subresource))
		}
	}
	return byVersion
}

// excluded are the fields that a write at the subresource cannot own, in a version with
// the status subresource.
func excluded(subresource string) []path {
	if subresource == "status" {
		return []path{{"metadata"}, {"spec"}}
	}
	return []path{{"status"}}
}

var (
	_ runtime.ObjectConvertor = (*customResource)(nil)
	_ runtime.ObjectCreater   = (*customResource)(nil)
	_ runtime.ObjectDefaulter = (*customResource)(nil)
)

// New makes an empty object with its kind filled in.
func (c *customResource) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	return obj, nil
}

// Default is called for the result of an apply, in the version of the request.
func (c *customResource) Default(obj runtime.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		c.fill(u)
	}
}

// ConvertToVersion gives in as an object of the version target, and as it is if it is
// one already. A version that the definition does not have any more fails the write:
// unlike with built-in types, a real server does not drop its entries.
func (c *customResource) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	to, isVersion := target.(schema.GroupVersion)
	u, isRaw := in.(*unstructured.Unstructured)
	if !isVersion || !isRaw {
		return nil, fmt.Errorf("cannot convert %T to %v", in, target)
	}
	from := u.GroupVersionKind().GroupVersion()
	if from == to {
		return in, nil
	}
	const invalid = "request to convert CR %s an invalid group/version: %s"
	switch {
	case !c.has(to):
		return nil, fmt.Errorf(invalid, "to", to)
	case !c.has(from):
		return nil, fmt.Errorf(invalid, "from", from)
	}
	return c.convert(u, to)
}

func (c *customResource) has(gv schema.GroupVersion) bool {
	_, known := c.schemas[gv.Version]
	return known && gv.Group == c.kind.Group
}

// relabel is the conversion of a definition that names none: the objects share all
// but their apiVersion.
func relabel(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	content := maps.Clone(obj.Object)
	content["apiVersion"] = to.String()
	return &unstructured.Unstructured{Object: content}, nil
}

// Convert is not called by the library: ConvertToVersion serves.
func (c *customResource) Convert(in, out, _ any) error {
	return fmt.Errorf("cannot convert %T into %T", in, out)
}

// ConvertFieldLabel is not called by the library: it selects nothing.
func (c *customResource) ConvertFieldLabel(_ schema.GroupVersionKind, label, _ string) (string, string, error) {
	return "", "", fmt.Errorf("field label not supported: %s", label)
}
