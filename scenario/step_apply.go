package scenario

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Apply creates or replaces the objects of a manifest, one after the other, as if
// each had a step of its own: a GET, and then a POST if there is no such object, else a PUT with the
// resourceVersion that was read, unless the manifest has one. Unknown fields are
// an error. It is not server-side apply.
//
// name is the file's name when the step is printed; the manifest is YAML or JSON.
func Apply(name, manifest string) Step { return apply{name, endLine(manifest)} }

type apply struct{ name, manifest string }

func parseApply(a *args) (Step, error) {
	words, err := a.words(1, 1)
	if err != nil {
		return nil, err
	}
	f, err := a.in.file(words[0])
	if err != nil {
		return nil, err
	}
	return apply{f.name, f.data}, nil
}

func (s apply) String() string { return "apply " + quote(s.name) }

func (s apply) files() []file { return []file{{name: s.name, data: s.manifest}} }

func (s apply) Run(ctx context.Context, e *Env) error {
	objects, err := decodeManifest(s.manifest)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := put(ctx, e, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		e.settle()
	}
	return nil
}

// put creates or replaces one object.
func put(ctx context.Context, e *Env, o *unstructured.Unstructured) error {
	ctx, cancel := e.patience(ctx)
	defer cancel()
	resource, err := e.resourceOf(o)
	if err != nil {
		return err
	}
	current, err := resource.Get(ctx, o.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = resource.Create(ctx, o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	case err == nil:
		if o.GetResourceVersion() == "" {
			o.SetResourceVersion(current.GetResourceVersion())
		}
		_, err = resource.Update(ctx, o, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	}
	return answered(ctx, err)
}
