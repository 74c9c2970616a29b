package resource

import (
	"context"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/crd/lifecycle"
)

// apiextensionsRows are the definitions of custom resources. What they define has rows of
// its own, see CustomRows.
func apiextensionsRows() []Resource {
	status := status()
	status.PrepareForUpdate = func(obj, old runtime.Object) { lifecycle.PrepareStatus(crd(obj), crd(old)) }
	status.Validate = func(ctx context.Context, obj, old runtime.Object) field.ErrorList {
		return lifecycle.ValidateStatus(ctx, crd(obj), crd(old))
	}
	return []Resource{{
		Group: apiextensionsv1.GroupName, Version: "v1", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition",
		ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"}, Status: true,
		Subresources:     []Subresource{status},
		HasGeneration:    true,
		scheme:           extensions(),
		Canonicalize:     decoded,
		PrepareForCreate: func(obj runtime.Object) { lifecycle.PrepareCreate(crd(obj)) },
		PrepareForUpdate: func(obj, old runtime.Object) {
			lifecycle.PrepareUpdate(crd(obj), crd(old))
			crd(obj).Generation = crd(old).Generation // the verbs count it, as for all types
		},
		ValidateCreate: func(obj runtime.Object, _ field.ErrorList) field.ErrorList {
			return lifecycle.ValidateCreate(background(), crd(obj))
		},
		ValidateUpdate: func(ctx context.Context, obj, old runtime.Object, _ field.ErrorList) field.ErrorList {
			return lifecycle.ValidateUpdate(ctx, crd(obj), crd(old))
		},
		MarkTerminating: func(obj runtime.Object, now time.Time) { *crd(obj) = *lifecycle.MarkDeleted(crd(obj), now) },
		WarningsFor: func(obj, old runtime.Object) []string {
			was, _ := old.(*apiextensionsv1.CustomResourceDefinition)
			return lifecycle.Warnings(crd(obj), was)
		},
	}}
}

// decoded gives a definition its defaults. What cannot be decoded is left as it is, and
// refused by the validation.
func decoded(obj runtime.Object) { _ = lifecycle.Decoded(crd(obj)) }

// IsCRDs tells the type that defines others.
func IsCRDs(r *Resource) bool {
	return r.Group == apiextensionsv1.GroupName && r.Plural == "customresourcedefinitions"
}

// CRDKey is where a definition is stored, and without a name what all their keys
// begin with.
func CRDKey(name string) string {
	return "customresourcedefinitions." + apiextensionsv1.GroupName + "/" + name
}

func crd(obj runtime.Object) *apiextensionsv1.CustomResourceDefinition {
	return obj.(*apiextensionsv1.CustomResourceDefinition)
}

// extensions is the scheme of apiextensions.k8s.io, as the part of a real server that
// serves it has one of its own. It only has to know the types.
func extensions() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(apiextensionsv1.SchemeGroupVersion,
		&apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinitionList{})
	return s
}
