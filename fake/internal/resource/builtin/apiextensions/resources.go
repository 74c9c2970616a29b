// Package apiextensions has the built-in types of the group apiextensions.k8s.io.
package apiextensions

import (
	"context"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/crd/lifecycle"
	"example.com/fakeapi/fake/internal/resource"
)

// Resources returns the resource of CustomResourceDefinitions. The resources that they
// define are made by resource.ForCRD. The functions of the library that validate an update compare
// the metadata with that of the stored object, so that only the checks of all types come from here.
func Resources() []resource.Resource {
	status := resource.StatusSubresource()
	status.PrepareForUpdate = func(_ context.Context, obj, old runtime.Object) {
		lifecycle.PrepareStatusForUpdate(asCRD(obj), asCRD(old))
	}
	status.ValidateUpdate = func(ctx context.Context, obj, old runtime.Object, metadata resource.MetadataErrors) field.ErrorList {
		return slices.Concat(metadata.ForAllTypes, lifecycle.ValidateStatusUpdate(ctx, asCRD(obj), asCRD(old)))
	}
	return []resource.Resource{{
		Group: apiextensionsv1.GroupName, Version: "v1", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition",
		ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"}, Status: true,
		Subresources:     []resource.Subresource{status},
		HasGeneration:    true,
		HashedVersion:    "v1beta1", // whose encoding is shorter
		StoredAsJSON:     true,
		Scheme:           newAPIExtensionsScheme(),
		InternalPackage:  "apiextensions",
		Canonicalize:     canonicalizeCRD,
		CheckDecoded:     func(obj runtime.Object) error { return lifecycle.CheckJSON(asCRD(obj)) },
		PrepareForCreate: func(_ context.Context, obj runtime.Object) { lifecycle.PrepareForCreate(asCRD(obj)) },
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			lifecycle.PrepareForUpdate(asCRD(obj), asCRD(old))
			asCRD(obj).Generation = asCRD(old).Generation // the handlers increment it, as for all types
		},
		Validate: func(ctx context.Context, obj runtime.Object, _ field.ErrorList) field.ErrorList {
			return lifecycle.Validate(ctx, asCRD(obj))
		},
		ValidateUpdate: func(ctx context.Context, obj, old runtime.Object, metadata resource.MetadataErrors) field.ErrorList {
			return slices.Concat(metadata.ForAllTypes, lifecycle.ValidateUpdate(ctx, asCRD(obj), asCRD(old)))
		},
		MarkTerminating:  func(obj runtime.Object, now time.Time) { *asCRD(obj) = *lifecycle.MarkTerminating(asCRD(obj), now) },
		WarningsOnCreate: func(obj runtime.Object) []string { return lifecycle.WarningsOnCreate(asCRD(obj)) },
		WarningsOnUpdate: func(obj, old runtime.Object) []string { return lifecycle.WarningsOnUpdate(asCRD(obj), asCRD(old)) },
	}}
}

// canonicalizeCRD sets the defaults of a CustomResourceDefinition. One that cannot be converted
// stays as it is; the validation rejects it.
func canonicalizeCRD(obj runtime.Object) { _ = lifecycle.Canonicalize(asCRD(obj)) }

func asCRD(obj runtime.Object) *apiextensionsv1.CustomResourceDefinition {
	return obj.(*apiextensionsv1.CustomResourceDefinition)
}

// newAPIExtensionsScheme returns the scheme of apiextensions.k8s.io, which on a real server is
// apart from the scheme of the other types, too.
func newAPIExtensionsScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(apiextensionsv1.SchemeGroupVersion,
		&apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinitionList{})
	s.AddKnownTypes(apiextensionsv1beta1.SchemeGroupVersion,
		&apiextensionsv1beta1.CustomResourceDefinition{}, &apiextensionsv1beta1.CustomResourceDefinitionList{})
	for _, version := range []schema.GroupVersion{apiextensionsv1.SchemeGroupVersion, apiextensionsv1beta1.SchemeGroupVersion, metav1.Unversioned} {
		metav1.AddToGroupVersion(s, version)
	}
	return s
}
