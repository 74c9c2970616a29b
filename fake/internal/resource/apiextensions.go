package resource

import (
	"context"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/definition"
)

// apiextensionsRows are the definitions of custom resources. What they define has rows of
// its own, see CustomRows.
func apiextensionsRows() []Resource {
	status := status()
	status.Prepare = func(obj, old runtime.Object) { definition.PrepareStatus(crd(obj), crd(old)) }
	status.Validate = func(ctx context.Context, obj, old runtime.Object) field.ErrorList {
		return definition.ValidateStatus(ctx, crd(obj), crd(old))
	}
	return []Resource{{
		Group: apiextensionsv1.GroupName, Version: "v1", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition",
		ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"}, Status: true,
		Subresources: []Subresource{status},
		Generation:   true,
		scheme:       extensions(),
		Normalize:    decoded,
		Begin:        func(obj runtime.Object) { definition.PrepareCreate(crd(obj)) },
		Keep: func(obj, old runtime.Object) {
			definition.PrepareUpdate(crd(obj), crd(old))
			crd(obj).Generation = crd(old).Generation // the verbs count it, as for all types
		},
		ValidateNew: func(obj runtime.Object, _ field.ErrorList) field.ErrorList {
			return definition.ValidateCreate(background(), crd(obj))
		},
		ValidateChange: func(ctx context.Context, obj, old runtime.Object, _ field.ErrorList) field.ErrorList {
			return definition.ValidateUpdate(ctx, crd(obj), crd(old))
		},
		Terminate: func(obj runtime.Object, now time.Time) { *crd(obj) = *definition.MarkDeleted(crd(obj), now) },
		Warnings: func(obj, old runtime.Object) []string {
			was, _ := old.(*apiextensionsv1.CustomResourceDefinition)
			return definition.Warnings(crd(obj), was)
		},
	}}
}

// decoded gives a definition its defaults. What cannot be decoded is left as it is, and
// refused by the validation.
func decoded(obj runtime.Object) { _ = definition.Decoded(crd(obj)) }

// IsDefinitions tells the type that defines others.
func IsDefinitions(r *Resource) bool {
	return r.Group == apiextensionsv1.GroupName && r.Plural == "customresourcedefinitions"
}

// DefinitionKey is where a definition is stored, and without a name what all their keys
// begin with.
func DefinitionKey(name string) string {
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
