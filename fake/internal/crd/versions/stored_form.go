package versions

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// StoredForm names a stored form: the version, and by which schema it was brought into it. What
// was stored in the form of today can be shown as it is. What was stored in another is
// read first: a schema may have been given defaults, or lost fields.
type StoredForm string

// storedForm is the Form of the version.
func (v *Version) storedForm() StoredForm { return StoredForm(v.spec.Name + " " + v.Hash()) }

// Version is the name of the version of a form.
func (f StoredForm) Version() string {
	name, _, _ := strings.Cut(string(f), " ")
	return name
}

// IsStoredAs reports whether what was stored in a form is, as it stands, what the version
// shows of it.
func (v *Version) IsStoredAs(f StoredForm) bool { return f == v.storedForm() }

// CacheKey names what the version shows of what was stored in another form: it differs
// where the result may, and is the same in all servers.
func (v *Version) CacheKey() string { return v.spec.Name + " " + v.crd.digest() }

// NeedsWebhook reports whether the webhook is called to show the version of what was stored in a form.
func (v *Version) NeedsWebhook(f StoredForm) bool {
	conversion := v.crd.object.Spec.Conversion
	return conversion != nil && conversion.Strategy == apiextensionsv1.WebhookConverter && f.Version() != v.spec.Name
}

// IsStorage reports whether objects are stored in the version.
func (v *Version) IsStorage() bool { return v == v.crd.storage }

// Storage is the version in which objects are stored.
func (d *CRD) Storage() *Version { return d.storage }

// conversionDigest stands for all that the result of reading, converting and showing depends on: the
// schemas and the columns of all versions, and the conversion.
func conversionDigest(d *CRD) string {
	parts := make(map[string]any, 2*len(d.versions)+1)
	for name, v := range d.versions {
		parts[name], parts[name+" columns"] = v.Hash(), v.spec.AdditionalPrinterColumns
	}
	parts[""] = d.object.Spec.Conversion
	text, err := json.Marshal(parts)
	if err != nil { // such parts always encode; what cannot be compared is the same as nothing
		return fmt.Sprintf("%p", d)
	}
	sum := sha256.Sum256(text)
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

// ToStorage gives an object of the version as it is stored, and the form that this is. Unless
// it has to be converted it is the object itself. Errors are those of the conversion.
func (v *Version) ToStorage(obj *unstructured.Unstructured) (*unstructured.Unstructured, StoredForm, error) {
	storage := v.crd.storage
	if storage == v {
		return obj, v.storedForm(), nil
	}
	stored, err := v.crd.Convert(obj, storage.spec.Name)
	if err != nil {
		return nil, "", err
	}
	return stored, storage.storedFormOf(stored), nil
}

// storedFormOf is the Form of what a conversion made, which may lack defaults of the version: it
// gets them when it is read.
func (v *Version) storedFormOf(stored *unstructured.Unstructured) StoredForm {
	restored := stored.DeepCopy()
	v.DefaultStored(restored.Object)
	if equality.Semantic.DeepEqual(restored.Object, stored.Object) {
		return v.storedForm()
	}
	return v.storedForm() + " incomplete"
}

// FromStorage gives a stored object in the version. It takes the object over, whose apiVersion
// and kind it sets. Errors are those of the conversion, and that there is no such version
// any more.
func (v *Version) FromStorage(obj *unstructured.Unstructured, f StoredForm) (*unstructured.Unstructured, error) {
	stored := v.crd.versions[f.Version()]
	if stored == nil {
		return nil, fmt.Errorf("%s is stored in version %q, which its definition does not have", obj.GetName(), f.Version())
	}
	obj.SetAPIVersion(stored.GroupVersion().String())
	obj.SetKind(v.crd.object.Status.AcceptedNames.Kind)
	if !stored.IsStoredAs(f) {
		stored.DefaultStored(obj.Object)
	}
	if stored == v {
		return obj, nil
	}
	return v.crd.Convert(obj, v.spec.Name)
}

// Convert gives an object, which it does not change, in another version, without what that
// version's schema does not have.
func (d *CRD) Convert(obj *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	target := d.versions[to]
	if target == nil {
		return nil, fmt.Errorf("%s has no version %q", d.object.Name, to)
	}
	out, err := d.converter.Convert(d.callContext, []*unstructured.Unstructured{obj}, to)
	if err != nil {
		return nil, err
	}
	return out[0], target.PruneConverted(out[0].Object)
}
