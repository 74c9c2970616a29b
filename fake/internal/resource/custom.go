package resource

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/util/jsonpath"

	"example.com/fakeapi/fake/internal/crd/versions"
)

// ForCRD returns the resources of a CustomResourceDefinition: one for each served version, and that
// of the storage version, which need not be served. Records have the fields of the storage version;
// those of other versions are read from converted objects.
func ForCRD(d *versions.CRD) (served []*Resource, stored *Resource) {
	spec := &d.Object().Spec
	for i := range spec.Versions {
		v := &spec.Versions[i]
		if !v.Served && !v.Storage {
			continue
		}
		res := newCustomResource(d.Version(v.Name))
		complete(res, nil)
		if v.Storage {
			stored = res
		}
		if v.Served {
			served = append(served, res)
		}
	}
	stored.storedFields = sortedFields(stored.Fields)
	for _, res := range served {
		res.storedFields = stored.storedFields
	}
	return served, stored
}

// newCustomResource returns the resource of one version. Its StorageVersion is its own version:
// package codec converts to the storage version of the CustomResourceDefinition.
func newCustomResource(v *versions.Version) *Resource {
	crd := v.CRD().Object()
	names := &crd.Status.AcceptedNames
	gv := v.GroupVersion()
	r := &Resource{
		Group: gv.Group, Version: gv.Version,
		Plural: names.Plural, Singular: names.Singular, Kind: names.Kind, ListKind: names.ListKind,
		ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced:    crd.Spec.Scope == "Namespaced",
		Verbs:         []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"},
		Status:        v.HasStatus(),
		HasGeneration: true,
		Custom:        v,
		Validate: func(ctx context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList {
			return v.Validate(ctx, asUnstructured(obj), metadataErrors(ctx, v, asUnstructured(obj), nil, metadata)...)
		},
		ValidateUpdate: func(ctx context.Context, obj, old runtime.Object, metadata MetadataErrors) field.ErrorList {
			found := metadataErrors(ctx, v, asUnstructured(obj), asUnstructured(old), metadata.ForAllTypes)
			return slices.Concat(metadata.ForAllTypes, v.ValidateUpdate(ctx, asUnstructured(obj), asUnstructured(old), found...))
		},
		WarningsOnCreate: func(obj runtime.Object) []string {
			return finalizerWarnings(asUnstructured(obj).GetFinalizers(), nil)
		},
		WarningsOnUpdate: func(obj, old runtime.Object) []string {
			return finalizerWarnings(asUnstructured(obj).GetFinalizers(), asUnstructured(old).GetFinalizers())
		},
		Fields: selectableFields(v),
	}
	if v.HasStatus() {
		r.Subresources = append(r.Subresources, customStatusSubresource(v))
	}
	if v.Scale() != nil {
		r.Subresources = append(r.Subresources, ScaleSubresource())
	}
	if v.Object().Deprecated {
		r.Deprecation = customDeprecationWarning(v)
	}
	return r
}

// decodeMetadata returns the metadata of an object, or the error that it does not decode. An apply
// may have set the deletionTimestamp to a text that is no time, and an admission webhook any field
// to any value.
func decodeMetadata(u *unstructured.Unstructured) (*metav1.ObjectMeta, field.ErrorList) {
	metadata, _ := u.Object["metadata"].(map[string]any)
	decoded := &metav1.ObjectMeta{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, decoded); err != nil {
		return nil, field.ErrorList{field.Invalid(field.NewPath("metadata"), metadata, err.Error())}
	}
	return decoded, nil
}

// hasWellTypedMetadata reports whether the metadata of an object surely decodes.
func hasWellTypedMetadata(u *unstructured.Unstructured) bool {
	metadata, ok := u.Object["metadata"].(map[string]any)
	return ok && isWellTyped(metadata)
}

// isWellTyped reports whether metadata surely decodes as metav1.ObjectMeta.
func isWellTyped(metadata map[string]any) bool {
	for key, value := range metadata {
		ok := true
		switch key {
		case "name", "generateName", "namespace", "uid", "resourceVersion", "selfLink", "creationTimestamp":
			_, ok = value.(string)
		case "generation":
			_, ok = value.(int64)
		case "labels", "annotations":
			ok = isStringMap(value)
		case "finalizers":
			ok = isStringSlice(value)
		case "managedFields": // checked after admission
			_, ok = value.([]any)
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}

func isStringMap(value any) bool {
	m, ok := value.(map[string]any)
	for _, v := range m {
		if _, isString := v.(string); !isString {
			return false
		}
	}
	return ok
}

func isStringSlice(value any) bool {
	list, ok := value.([]any)
	return ok && !slices.ContainsFunc(list, func(v any) bool { _, isString := v.(string); return !isString })
}

// metadataErrors returns the errors of the metadata of a new object, or of one that replaces old if
// that is not nil: that it does not decode, or those of the declarative rules if found, the errors
// of its validation, has any. A real server validates the metadata of custom resources by these
// rules, too, and reports some of the errors once that the validation of other types reports for
// each value.
func metadataErrors(ctx context.Context, v *versions.Version, u, old *unstructured.Unstructured, found field.ErrorList) field.ErrorList {
	if len(found) == 0 && hasWellTypedMetadata(u) {
		return nil
	}
	decoded, errs := decodeMetadata(u)
	if len(found) == 0 || len(errs) > 0 {
		return errs
	}
	op, validateName := operation.Create, validation.NameIsDNSSubdomain
	var was *metav1.ObjectMeta
	if old != nil {
		op, validateName = operation.Update, nil
		if was, errs = decodeMetadata(old); len(errs) > 0 {
			return errs
		}
	}
	isNamespaced := v.CRD().Object().Spec.Scope == "Namespaced"
	return validation.ValidateObjectMetaDeclaratively(ctx, op, decoded, was, isNamespaced, validateName, field.NewPath("metadata"), true)
}

func asUnstructured(obj runtime.Object) *unstructured.Unstructured {
	return obj.(*unstructured.Unstructured)
}

// customDeprecationWarning returns the warning of a deprecated version: its own text, or a default
// that names the newest version.
func customDeprecationWarning(v *versions.Version) string {
	if text := v.Object().DeprecationWarning; text != nil {
		return *text
	}
	spec := &v.CRD().Object().Spec
	newest := v.Object().Name
	for i := range spec.Versions {
		other := &spec.Versions[i]
		if other.Served && !other.Deprecated && version.CompareKubeAwareVersionStrings(newest, other.Name) < 0 {
			newest = other.Name
		}
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, v.Object().Name, spec.Names.Kind)
	if newest != v.Object().Name {
		text += fmt.Sprintf("; use %s/%s %s", spec.Group, newest, spec.Names.Kind)
	}
	return text
}

// WithResources returns a table with resources added after those of t. A resource whose path
// exists in t is not added.
func (t *Table) WithResources(resources []*Resource) *Table {
	resources = slices.SortedFunc(slices.Values(resources), func(a, b *Resource) int {
		return cmp.Or(
			cmp.Compare(a.Group, b.Group),
			version.CompareKubeAwareVersionStrings(b.Version, a.Version),
			cmp.Compare(a.Plural, b.Plural),
		)
	})
	out := &Table{
		resources: slices.Clone(t.resources),
		groups:    t.Groups(),
		byPlural:  maps.Clone(t.byPlural),
		byKind:    maps.Clone(t.byKind),
		versions:  maps.Clone(t.versions),

		builtinGroups: maps.Clone(t.builtinGroups),
		notServed:     t.notServed,
	}
	for _, r := range resources {
		if out.byPlural[r.GroupVersionResource()] == nil {
			out.add(r)
		}
	}
	return out
}

// setUnstructuredTypes sets the Go types of a custom resource.
func setUnstructuredTypes(r *Resource) {
	r.objectType, r.storageType = reflect.TypeFor[unstructured.Unstructured](), reflect.TypeFor[unstructured.Unstructured]()
	r.listType = reflect.TypeFor[unstructured.UnstructuredList]()
}

// selectableFields returns the selectableFields of a version (KEP-4358).
func selectableFields(v *versions.Version) []Field {
	var fields []Field
	for _, f := range v.Object().SelectableFields {
		path := jsonpath.New("selectableField").AllowMissingKeys(true)
		err := path.Parse("{" + f.JSONPath + "}")
		fields = append(fields, Field{Label: strings.TrimPrefix(f.JSONPath, "."), Value: func(obj runtime.Object) string {
			if err != nil { // the validation rejects such a path
				return ""
			}
			return jsonPathValue(path, asUnstructured(obj))
		}})
	}
	return fields
}

// jsonPathValue returns the value at a path as text, "" if there is none.
func jsonPathValue(path *jsonpath.JSONPath, obj *unstructured.Unstructured) string {
	results, err := path.FindResults(obj.Object)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return ""
	}
	if value := results[0][0].Interface(); value != nil {
		return fmt.Sprint(value)
	}
	return ""
}
