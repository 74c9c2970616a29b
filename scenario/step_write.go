package scenario

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// Create creates the objects of a manifest with one POST each. An object that exists is a 409
// AlreadyExists. An object may have generateName instead of a name. Unknown fields are an error.
// For name and manifest see [Apply].
func Create(name, manifest string) Step { return create{newManifestFile(name, manifest)} }

type create struct{ manifestFile }

func (kinds) Create() stepKind {
	return stepKind{"create FILE", parseCreate}
}

func parseCreate(a *args) (Step, error) {
	from, _, err := parseManifestFile(a)
	return create{from}, err
}

func (s create) String() string { return "create " + quote(s.name) }

func (s create) Run(ctx context.Context, e *Env) error {
	return s.forEachObject(ctx, e, func(ctx context.Context, to dynamic.ResourceInterface, o *unstructured.Unstructured) error {
		made, err := to.Create(ctx, o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		if err == nil && o.GetName() == "" {
			e.Note("created %s", made.GetName())
		}
		return err
	})
}

func (s create) simplifications() []Step {
	return s.smallerManifests(func(less manifestFile) Step { return create{less} })
}

// Update replaces the objects of a manifest with one PUT each. An object that does not exist is a
// 404, and one with a resourceVersion that is not current a 409 Conflict. An object without a
// resourceVersion is replaced in any case. Unknown fields are an error. For name and manifest see
// [Apply].
func Update(name, manifest string) Step { return updateStep{newManifestFile(name, manifest), ""} }

// UpdateSubresource is [Update] for a subresource, such as "status".
func UpdateSubresource(name, manifest, subresource string) Step {
	return updateStep{newManifestFile(name, manifest), subresource}
}

type updateStep struct {
	manifestFile
	subresource string
}

func (kinds) Update() stepKind {
	return stepKind{"update FILE [--subresource NAME]", parseUpdate}
}

func parseUpdate(a *args) (Step, error) {
	from, given, err := parseManifestFile(a, subresourceFlag+"=")
	if err == nil {
		err = from.checkNames()
	}
	return updateStep{from, given[subresourceFlag]}, err
}

func (s updateStep) String() string {
	return joinWords("update", quote(s.name), subresourceText(s.subresource))
}

func (s updateStep) Run(ctx context.Context, e *Env) error {
	return s.forEachObject(ctx, e, func(ctx context.Context, to dynamic.ResourceInterface, o *unstructured.Unstructured) error {
		_, err := to.Update(ctx, o, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict}, subresources(s.subresource)...)
		return err
	})
}

func (s updateStep) simplifications() []Step {
	return s.smallerManifests(func(less manifestFile) Step { return updateStep{less, s.subresource} })
}

// subresourceFlag is the flag for the name of a subresource.
const subresourceFlag = "--subresource"

func subresourceText(name string) string {
	if name == "" {
		return ""
	}
	return subresourceFlag + " " + quote(name)
}

// subresources returns the variadic arguments of client-go's methods; "" is the object itself.
func subresources(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
