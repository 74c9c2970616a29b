package custom

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Form names a stored form: the version, and by which schema it was brought into it. What
// was stored in the form of today can be shown as it is. What was stored in another is
// read first: a schema may have been given defaults, or lost fields.
type Form string

// form is the Form of the version.
func (v *Version) form() Form { return Form(v.spec.Name + " " + v.Hash()) }

// Version is the name of the version of a form.
func (f Form) Version() string {
	name, _, _ := strings.Cut(string(f), " ")
	return name
}

// Shows reports whether what was stored in a form is, as it stands, what the version
// shows of it.
func (v *Version) Shows(f Form) bool { return f == v.form() }

// Piece names what the version shows of what was stored in another form: it differs
// where the result may, and is the same in all servers.
func (v *Version) Piece() string {
	return string(v.form()) + " of " + string(v.definition.storage.form())
}

// Keep gives an object of the version as it is stored, and the form that this is. Unless
// it has to be converted it is the object itself. Errors are those of the conversion.
func (v *Version) Keep(obj *unstructured.Unstructured) (*unstructured.Unstructured, Form, error) {
	storage := v.definition.storage
	if storage == v {
		return obj, v.form(), nil
	}
	stored, err := v.definition.Convert(obj, storage.spec.Name)
	return stored, storage.form(), err
}

// Read gives a stored object in the version. It takes the object over, whose apiVersion
// and kind it sets. Errors are those of the conversion, and that there is no such version
// any more.
func (v *Version) Read(obj *unstructured.Unstructured, f Form) (*unstructured.Unstructured, error) {
	stored := v.definition.versions[f.Version()]
	if stored == nil {
		return nil, fmt.Errorf("%s is stored in version %q, which its definition does not have", obj.GetName(), f.Version())
	}
	obj.SetAPIVersion(stored.GroupVersion().String())
	obj.SetKind(v.definition.crd.Status.AcceptedNames.Kind)
	if !stored.Shows(f) {
		stored.Restore(obj.Object)
	}
	if stored == v {
		return obj, nil
	}
	return v.definition.Convert(obj, v.spec.Name)
}

// Convert gives an object, which it does not change, in another version, without what that
// version's schema does not have.
func (d *Definition) Convert(obj *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	target := d.versions[to]
	if target == nil {
		return nil, fmt.Errorf("%s has no version %q", d.crd.Name, to)
	}
	out, err := d.converter.Convert(d.calls, []*unstructured.Unstructured{obj}, to)
	if err != nil {
		return nil, err
	}
	return out[0], target.Converted(out[0].Object)
}
