package fakeapi

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/fixtures"
)

// CRDTypeOptions describes a custom resource beyond its Go type.
type CRDTypeOptions struct {
	// Plural is the name of the resource in paths. The default is the guess of
	// meta.UnsafeGuessKindToResource from the kind.
	Plural string
	// ClusterScoped is true for a resource without namespaces.
	ClusterScoped bool
	// StorageVersion is the version in which objects are stored. It is required if the scheme has
	// several versions of the kind.
	StorageVersion string
}

// CRDFromGoType returns a source of a definition that is built from the Go type of object, for
// types without manifests. Its kind and versions are those of the scheme. Versions whose type has a
// field with the JSON name status have the subresource. Between versions only the apiVersion is
// converted.
//
// The schema accepts all fields (x-kubernetes-preserve-unknown-fields), because markers such as
// +kubebuilder:validation and +kubebuilder:default are comments that do not exist at run time.
// Nothing is validated, defaulted or pruned, there are no printer columns, and lists are applied as
// a whole. The manifests of controller-gen have all of that: prefer CRDsFromPaths if they exist.
//
// The Go types of the scheme are added as with WithScheme.
func CRDFromGoType(scheme *runtime.Scheme, object runtime.Object, opts CRDTypeOptions) CRDSource {
	return CRDSource{scheme: scheme, read: func() ([]fixtures.Item, error) {
		crd, err := opts.build(scheme, object)
		if err != nil {
			return nil, fmt.Errorf("fakeapi: CRDs: %T: %w", object, err)
		}
		return []fixtures.Item{{Object: crd}}, nil
	}}
}

// build returns the definition.
func (t *CRDTypeOptions) build(scheme *runtime.Scheme, object runtime.Object) (*apiextensionsv1.CustomResourceDefinition, error) {
	if scheme == nil || object == nil {
		return nil, errors.New("a scheme and an object are needed")
	}
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	kind := kinds[0].GroupKind()
	for _, other := range kinds[1:] {
		if other.GroupKind() != kind {
			return nil, fmt.Errorf("the scheme has it as %s and as %s", kind, other.GroupKind())
		}
	}
	if kind.Group == "" {
		return nil, fmt.Errorf("%s is in the group of built-in types, which has no custom resources", kind.Kind)
	}
	versions, err := t.versions(scheme, kind)
	if err != nil {
		return nil, err
	}
	plural, singular := meta.UnsafeGuessKindToResource(kind.WithVersion(versions[0].Name))
	if t.Plural != "" {
		plural.Resource = t.Plural
	}
	scope := apiextensionsv1.NamespaceScoped
	if t.ClusterScoped {
		scope = apiextensionsv1.ClusterScoped
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural.GroupResource().String()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: plural.Resource, Singular: singular.Resource, Kind: kind.Kind, ListKind: kind.Kind + "List",
			},
			Scope:    scope,
			Versions: versions,
		},
	}, nil
}

// versions returns the versions of a kind in the scheme.
func (t *CRDTypeOptions) versions(scheme *runtime.Scheme, kind schema.GroupKind) ([]apiextensionsv1.CustomResourceDefinitionVersion, error) {
	var all []apiextensionsv1.CustomResourceDefinitionVersion
	var names []string
	for _, gv := range scheme.VersionsForGroupKind(kind) {
		if gv.Version == runtime.APIVersionInternal {
			continue
		}
		object, err := scheme.New(gv.WithKind(kind.Kind))
		if err != nil {
			return nil, err
		}
		names = append(names, gv.Version)
		all = append(all, preserveUnknownVersion(gv.Version, hasStatus(reflect.TypeOf(object).Elem())))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the scheme has only an internal version of %s", kind)
	}
	index := 0
	switch {
	case t.StorageVersion != "":
		index = slices.Index(names, t.StorageVersion)
	case len(all) > 1:
		index = -1
	}
	if index < 0 {
		return nil, fmt.Errorf("StorageVersion must be one of the versions of %s: %s", kind, strings.Join(names, ", "))
	}
	all[index].Storage = true
	return all, nil
}

// preserveUnknownVersion returns a version that accepts all fields.
func preserveUnknownVersion(name string, status bool) apiextensionsv1.CustomResourceDefinitionVersion {
	yes := true
	v := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true,
		Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes},
		},
	}
	if status {
		v.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	return v
}

// hasStatus reports whether a struct has a field with the JSON name status.
func hasStatus(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name == "status" {
			return true
		}
	}
	return false
}
