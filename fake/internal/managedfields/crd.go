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

	"example.com/fakeapi/fake/internal/managedfields/fastpath"
)

// CRDOption is an option of NewCRDFieldManager.
type CRDOption func(*crd)

// crd has the properties of a CustomResourceDefinition that its field managers need. It is the
// runtime.ObjectConvertor, runtime.ObjectCreater and runtime.ObjectDefaulter of the library.
type crd struct {
	kind schema.GroupVersionKind
	// schemas has the schemas of all versions by name. It is nil for a version without a schema.
	schemas map[string]*structuralschema.Structural
	// hasStatus has the versions with the status subresource.
	hasStatus   map[string]bool
	setDefaults func(*unstructured.Unstructured)
	convert     func(*unstructured.Unstructured, schema.GroupVersion) (*unstructured.Unstructured, error)
}

// WithStatusSubresource declares that the version has the status subresource.
func WithStatusSubresource() CRDOption {
	return func(c *crd) { c.hasStatus[c.kind.Version] = true }
}

// WithVersion adds another version of the definition: its schema (nil if it has none), and whether
// it has the status subresource.
func WithVersion(version string, s *structuralschema.Structural, hasStatus bool) CRDOption {
	return func(c *crd) { c.schemas[version], c.hasStatus[version] = s, hasStatus }
}

// WithDefaults sets the function that sets the defaults of the version in the result of an apply.
// By default there are none.
func WithDefaults(setDefaults func(*unstructured.Unstructured)) CRDOption {
	return func(c *crd) { c.setDefaults = setDefaults }
}

// WithConversion sets the function that converts objects to another version, without pruning what
// the schema of that version does not have. It must not change obj. By default a conversion sets
// the apiVersion only.
func WithConversion(convert func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)) CRDOption {
	return func(c *crd) { c.convert = convert }
}

// NewCRDFieldManager returns a FieldManager for a custom resource in one version. Its objects are
// unstructured. s is the schema of the version and is not changed. It may be nil, and then only
// values at the top level have their own owners. subresource is "", "status" or "scale". The
// FieldManager of scale is for Scale objects, and has a 500 for most applies, as in kube-apiserver.
//
// In a version with the status subresource, writes to the main resource cannot own fields in the
// status, and writes to the status cannot own fields in the spec and the metadata (SA-32).
//
// NewCRDFieldManager takes about 100 us. Callers should cache the FieldManager.
func NewCRDFieldManager(kind schema.GroupVersionKind, s *structuralschema.Structural, subresource string, opts ...CRDOption) (*FieldManager, error) {
	if subresource == "scale" {
		return newCRDScaleManager(kind.GroupVersion())
	}
	if subresource != "" && subresource != "status" {
		return nil, fmt.Errorf("no managed fields for %s, subresource %q", kind, subresource)
	}
	c := &crd{
		kind: kind, hasStatus: map[string]bool{}, convert: setAPIVersion,
		schemas:     map[string]*structuralschema.Structural{kind.Version: s},
		setDefaults: func(*unstructured.Unstructured) {},
	}
	for _, opt := range opts {
		opt(c)
	}
	types, err := c.types()
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", kind, err)
	}
	m := &FieldManager{
		kind: kind, subresource: subresource,
		converter: c, storageVersion: kind.GroupVersion(),
	}
	if m.emptyObject, err = c.New(kind); err != nil {
		return nil, err
	}
	options := fastpath.Options{Kind: kind, Subresource: subresource, Empty: m.emptyObject, Default: c.Default}
	if c.hasStatus[kind.Version] {
		options.Excluded = excludedFields(subresource)
	}
	m.fast = fastpath.NewUpdater(fastpath.NewType(types, m.emptyObject), options)
	m.library, err = managedfields.NewDefaultCRDFieldManager(
		types, c, c, c, kind, m.storageVersion, subresource, c.filters(subresource))
	return m, err
}

// filters returns the filters of the fields that a write to the subresource can own. As in
// kube-apiserver, a write to the main resource is filtered in its own version only, a write to the
// status in all versions.
func (c *crd) filters(subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	filters := make(map[fieldpath.APIVersion]fieldpath.Filter)
	for version, hasStatus := range c.hasStatus {
		gv := fieldpath.APIVersion(schema.GroupVersion{Group: c.kind.Group, Version: version}.String())
		if hasStatus && (subresource == "status" || version == c.kind.Version) {
			filters[gv] = excludeFilter(excludedFields(subresource))
		}
	}
	return filters
}

// excludedFields returns the paths of the fields that a write to the subresource cannot own in a
// version with the status subresource.
func excludedFields(subresource string) [][]string {
	if subresource == "status" {
		return [][]string{{"metadata"}, {"spec"}}
	}
	return [][]string{{"status"}}
}

var (
	_ runtime.ObjectConvertor = (*crd)(nil)
	_ runtime.ObjectCreater   = (*crd)(nil)
	_ runtime.ObjectDefaulter = (*crd)(nil)
)

// New returns an empty object with its kind set.
func (c *crd) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	return obj, nil
}

// Default sets defaults in the result of an apply, in the version of the request.
func (c *crd) Default(obj runtime.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		c.setDefaults(u)
	}
}

// ConvertToVersion returns in as an object of the version target. It returns in itself if it is of
// that version. A version that the definition does not have makes the write fail. As in
// kube-apiserver, its entries are not dropped as those of a built-in resource are.
func (c *crd) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	to, isVersion := target.(schema.GroupVersion)
	u, isUnstructured := in.(*unstructured.Unstructured)
	if !isVersion || !isUnstructured {
		return nil, fmt.Errorf("cannot convert %T to %v", in, target)
	}
	from := u.GroupVersionKind().GroupVersion()
	if from == to {
		return in, nil
	}
	const invalid = "request to convert CR %s an invalid group/version: %s"
	switch {
	case to.Group != from.Group:
		return nil, fmt.Errorf("%s is unstructured and is not suitable for converting to %q", u.GroupVersionKind(), to)
	case !c.hasVersion(to):
		return nil, fmt.Errorf(invalid, "to", to)
	case !c.hasVersion(from):
		return nil, fmt.Errorf(invalid, "from", from)
	}
	return c.convert(u, to)
}

func (c *crd) hasVersion(gv schema.GroupVersion) bool {
	_, ok := c.schemas[gv.Version]
	return ok && gv.Group == c.kind.Group
}

// setAPIVersion is the conversion of a definition without a webhook. The result shares all fields
// but apiVersion with obj.
func setAPIVersion(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	content := maps.Clone(obj.Object)
	content["apiVersion"] = to.String()
	return &unstructured.Unstructured{Object: content}, nil
}

// Convert returns an error. The library does not call it.
func (c *crd) Convert(in, out, _ any) error {
	return fmt.Errorf("cannot convert %T into %T", in, out)
}

// ConvertFieldLabel returns an error. The library does not call it.
func (c *crd) ConvertFieldLabel(_ schema.GroupVersionKind, label, _ string) (string, string, error) {
	return "", "", fmt.Errorf("field label not supported: %s", label)
}
