package versions

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// StoredForm identifies the version and the schema with which an object was stored. An object in
// the current form of its version is returned as it was stored. An object in another form has to be
// read first, because its schema may have new defaults or fewer fields, or because the object was
// stored without some defaults.
type StoredForm string

// incompleteSuffix follows the current form of the version in the form of an object that reading
// changes.
const incompleteSuffix = " incomplete"

// Version returns the name of the version.
func (f StoredForm) Version() string {
	name, _, _ := strings.Cut(string(f), " ")
	return name
}

// IsStoredAs reports whether an object stored in form f needs no conversion to be returned in
// version v.
func (v *Version) IsStoredAs(f StoredForm) bool { return f == v.form }

// CacheKey identifies the result of converting a stored object to the version. It differs if the
// result may, and is equal in all servers.
func (v *Version) CacheKey() string { return v.spec.Name + " " + v.crd.digest() }

// ConversionMayFail reports whether converting an object stored in form f to the version calls the
// webhook, or the CRD does not have the version of f any more.
func (v *Version) ConversionMayFail(f StoredForm) bool {
	if v.IsStoredAs(f) || f.Version() == v.spec.Name {
		return false
	}
	return v.crd.hasWebhook() || v.crd.versions[f.Version()] == nil
}

// StoringMayFail reports whether ToStorage calls the webhook.
func (v *Version) StoringMayFail() bool { return !v.IsStorage() && v.crd.hasWebhook() }

// hasWebhook reports whether a webhook converts the objects.
func (d *CRD) hasWebhook() bool {
	conversion := d.object.Spec.Conversion
	return conversion != nil && conversion.Strategy == apiextensionsv1.WebhookConverter
}

// IsStorage reports whether the version is the storage version.
func (v *Version) IsStorage() bool { return v == v.crd.storage }

// Storage returns the storage version.
func (d *CRD) Storage() *Version { return d.storage }

// conversionDigest returns a digest of everything that the result of a conversion and its Table
// depend on: the schemas and columns of all versions, and spec.conversion.
func conversionDigest(d *CRD) string {
	parts := make(map[string]any, 2*len(d.versions)+1)
	for name, v := range d.versions {
		parts[name], parts[name+" columns"] = v.Hash(), v.spec.AdditionalPrinterColumns
	}
	parts[""] = d.object.Spec.Conversion
	text, err := json.Marshal(parts)
	if err != nil { // cannot happen; an address equals no other digest
		return fmt.Sprintf("%p", d)
	}
	sum := sha256.Sum256(text)
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

// ToStorage converts an object to the storage version and returns it with its form. The result is
// obj if v is the storage version. Its numbers are those that its JSON decodes to, as it is in the
// watch cache of a real server. Errors are those of the conversion.
func (v *Version) ToStorage(obj *unstructured.Unstructured) (*unstructured.Unstructured, StoredForm, error) {
	storage := v.crd.storage
	if storage == v {
		return obj, v.storedFormOf(obj), nil
	}
	stored, err := v.crd.Convert(obj, storage.spec.Name)
	if err != nil {
		return nil, "", err
	}
	return stored, storage.storedFormOf(stored), nil
}

// storedFormOf returns the form of an object that is stored in the version, and decodes its
// numbers. It is the current form unless reading the object changes it. A real server sets the
// defaults of an object from a client before it drops the status, sets none after a conversion or a
// write to the scale subresource, and sets them again whenever it reads the object.
func (v *Version) storedFormOf(stored *unstructured.Unstructured) StoredForm {
	hasNegativeZero := decodeNumbers(stored.Object)
	if !hasNegativeZero && (v.IsComplete(stored.Object) || v.isReadUnchanged(stored)) {
		return v.form
	}
	return v.form + incompleteSuffix
}

// isReadUnchanged reports whether reading an object does not change it.
func (v *Version) isReadUnchanged(stored *unstructured.Unstructured) bool {
	read := stored.DeepCopy()
	v.DefaultStored(read.Object)
	return reflect.DeepEqual(read.Object, stored.Object)
}

// FromStorage converts an object stored in form f to the version. It sets the apiVersion and kind
// of obj, and may change and return it. Errors are those of the conversion, and that the CRD does
// not have the version of f any more.
func (v *Version) FromStorage(obj *unstructured.Unstructured, f StoredForm) (*unstructured.Unstructured, error) {
	group := v.crd.object.Spec.Group
	obj.SetAPIVersion(schema.GroupVersion{Group: group, Version: f.Version()}.String())
	obj.SetKind(v.crd.object.Status.AcceptedNames.Kind)
	stored := v.crd.versions[f.Version()] // nil if the CRD does not have it any more, which is an error of Convert
	if stored != nil && !stored.IsStoredAs(f) {
		stored.DefaultStored(obj.Object)
	}
	if stored == v {
		return obj, nil
	}
	return v.crd.Convert(obj, v.spec.Name)
}

// Convert returns an object, which it does not change, in another version, pruned by the schema of
// that version.
func (d *CRD) Convert(obj *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	out, err := d.ConvertUnpruned(obj, to)
	if err != nil {
		return nil, err
	}
	return out, d.versions[to].PruneConverted(out.Object)
}

// ConvertUnpruned is Convert without pruning. The result may have fields that the schema of its
// version does not have. It is what the field manager of a real server compares.
func (d *CRD) ConvertUnpruned(obj *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	if d.versions[to] == nil {
		return nil, fmt.Errorf("%s has no version %q", d.object.Name, to)
	}
	// The end of the server ends the call. Its context must not retain the converter afterwards.
	defer context.AfterFunc(d.callContext, d.converter.Close)()
	out, err := d.converter.Convert(d.callContext, []*unstructured.Unstructured{obj}, to)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}
