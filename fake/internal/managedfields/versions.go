package managedfields

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// versions converts the objects of one resource between the versions that show
// them. It is the runtime.ObjectConvertor and ObjectCreater that the library
// wants, for one kind of object only.
type versions struct {
	rows   map[schema.GroupVersion]*resource.Resource
	byType map[reflect.Type]schema.GroupVersion
	store  schema.GroupVersion
	scheme *runtime.Scheme
}

var (
	_ runtime.ObjectConvertor = (*versions)(nil)
	_ runtime.ObjectCreater   = (*versions)(nil)
)

func versionsOf(res *resource.Resource) *versions {
	v := &versions{
		rows:   make(map[schema.GroupVersion]*resource.Resource),
		byType: make(map[reflect.Type]schema.GroupVersion),
		store:  res.StorageVersion,
		scheme: res.Scheme,
	}
	v.add(res) // which may be the body of a subresource, and not in the table
	for _, row := range builtin.Table().All() {
		if row.StorageResource == res.StorageResource && row.Kind == res.Kind {
			v.add(row)
		}
	}
	return v
}

func (v *versions) add(row *resource.Resource) {
	v.rows[row.GroupVersion()] = row
	v.byType[reflect.TypeOf(row.New())] = row.GroupVersion()
}

// list gives the versions in no order.
func (v *versions) list() []schema.GroupVersion {
	all := make([]schema.GroupVersion, 0, len(v.rows))
	for gv := range v.rows {
		all = append(all, gv)
	}
	return all
}

// New makes an empty object with its kind filled in.
func (v *versions) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	row := v.rows[kind.GroupVersion()]
	if row == nil || row.Kind != kind.Kind {
		return nil, runtime.NewNotRegisteredErrForKind(v.scheme.Name(), kind)
	}
	obj := row.New()
	obj.GetObjectKind().SetGroupVersionKind(kind)
	return obj, nil
}

// ConvertToVersion gives in, which may be unstructured, as the Go type of the
// version target. What is there already is returned as it is. A version that is
// not served gives the error by which the library knows it and drops its entries.
func (v *versions) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	to, ok := target.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("cannot convert %T to %v", in, target)
	}
	if _, isRaw := in.(runtime.Unstructured); isRaw {
		var err error
		if in, err = v.structured(in); err != nil {
			return nil, err
		}
	}
	from, ok := v.byType[reflect.TypeOf(in)]
	if !ok {
		return nil, fmt.Errorf("cannot convert %T to %v", in, to)
	}
	if from == to {
		return in, nil
	}
	row := v.rows[to]
	if row == nil {
		return nil, runtime.NewNotRegisteredErrForKind(v.scheme.Name(), to.WithKind(in.GetObjectKind().GroupVersionKind().Kind))
	}
	stored, err := v.rows[from].Convert(in, v.store)
	if err != nil {
		return nil, err
	}
	return row.Convert(stored, to)
}

func (v *versions) structured(in runtime.Object) (runtime.Object, error) {
	kind := in.GetObjectKind().GroupVersionKind()
	if _, err := v.New(kind); err != nil {
		return nil, err
	}
	return v.scheme.ConvertToVersion(in, kind.GroupVersion())
}

// Convert is not called by the library: ConvertToVersion serves.
func (v *versions) Convert(in, out, _ any) error {
	return fmt.Errorf("cannot convert %T into %T", in, out)
}

// ConvertFieldLabel is not called by the library: it selects nothing.
func (v *versions) ConvertFieldLabel(_ schema.GroupVersionKind, label, _ string) (string, string, error) {
	return "", "", fmt.Errorf("field label not supported: %s", label)
}
