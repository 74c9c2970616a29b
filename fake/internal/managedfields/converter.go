package managedfields

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// versionConverter converts the objects of one built-in resource between its served versions. It is
// the runtime.ObjectConvertor and runtime.ObjectCreater of the library.
type versionConverter struct {
	resources      map[schema.GroupVersion]*resource.Resource
	versionByType  map[reflect.Type]schema.GroupVersion
	storageVersion schema.GroupVersion
	scheme         *runtime.Scheme
}

var (
	_ runtime.ObjectConvertor = (*versionConverter)(nil)
	_ runtime.ObjectCreater   = (*versionConverter)(nil)
)

func newVersionConverter(res *resource.Resource) *versionConverter {
	c := &versionConverter{
		resources:      make(map[schema.GroupVersion]*resource.Resource),
		versionByType:  make(map[reflect.Type]schema.GroupVersion),
		storageVersion: res.StorageVersion,
		scheme:         res.Scheme,
	}
	c.add(res) // builtin.AllVersions does not have the objects of all subresources
	for _, other := range builtin.AllVersions().All() {
		if other.StorageResource == res.StorageResource && other.Kind == res.Kind {
			c.add(other)
		}
	}
	return c
}

func (c *versionConverter) add(res *resource.Resource) {
	c.resources[res.GroupVersion()] = res
	c.versionByType[reflect.TypeOf(res.New())] = res.GroupVersion()
}

// versions returns the served versions in no particular order.
func (c *versionConverter) versions() []schema.GroupVersion {
	versions := make([]schema.GroupVersion, 0, len(c.resources))
	for gv := range c.resources {
		versions = append(versions, gv)
	}
	return versions
}

// New returns an empty object with its kind set.
func (c *versionConverter) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	res := c.resources[kind.GroupVersion()]
	if res == nil || res.Kind != kind.Kind {
		return nil, runtime.NewNotRegisteredErrForKind(c.scheme.Name(), kind)
	}
	obj := res.New()
	obj.GetObjectKind().SetGroupVersionKind(kind)
	return obj, nil
}

// ConvertToVersion returns in, which may be unstructured, as the Go type of the version target. It
// returns in itself if it is of that type. For a version that is not served it returns the error
// for which the library drops the entries of the version.
func (c *versionConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	to, ok := target.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("cannot convert %T to %v", in, target)
	}
	if _, ok := in.(runtime.Unstructured); ok {
		var err error
		if in, err = c.fromUnstructured(in); err != nil {
			return nil, err
		}
	}
	from, ok := c.versionByType[reflect.TypeOf(in)]
	if !ok {
		return nil, fmt.Errorf("cannot convert %T to %v", in, to)
	}
	if from == to {
		return in, nil
	}
	res := c.resources[to]
	if res == nil {
		return nil, runtime.NewNotRegisteredErrForKind(c.scheme.Name(), to.WithKind(in.GetObjectKind().GroupVersionKind().Kind))
	}
	stored, err := c.resources[from].Convert(in, c.storageVersion)
	if err != nil {
		return nil, err
	}
	return res.Convert(stored, to)
}

func (c *versionConverter) fromUnstructured(in runtime.Object) (runtime.Object, error) {
	kind := in.GetObjectKind().GroupVersionKind()
	if _, err := c.New(kind); err != nil {
		return nil, err
	}
	return c.scheme.ConvertToVersion(in, kind.GroupVersion())
}

// Convert returns an error. The library does not call it.
func (c *versionConverter) Convert(in, out, _ any) error {
	return fmt.Errorf("cannot convert %T into %T", in, out)
}

// ConvertFieldLabel returns an error. The library does not call it.
func (c *versionConverter) ConvertFieldLabel(_ schema.GroupVersionKind, label, _ string) (string, string, error) {
	return "", "", fmt.Errorf("field label not supported: %s", label)
}
