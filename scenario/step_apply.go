package scenario

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Apply creates or replaces the objects of a manifest in their order. For each it sends a GET, and
// then a POST if the object does not exist, or a PUT with the current resourceVersion, unless the
// manifest has one. Unknown fields are an error. For server-side apply see [ServerSideApply].
//
// name is the file name in the text of the step. The manifest is YAML or JSON.
func Apply(name, manifest string) Step { return apply{newManifestFile(name, manifest)} }

type apply struct{ manifestFile }

func (kinds) Apply() stepKind {
	return stepKind{"apply FILE [--server-side [--manager NAME] [--force]]", parseApply}
}

// parseApply parses Apply and ServerSideApply.
func parseApply(a *args) (Step, error) {
	from, given, err := parseManifestFile(a, "--server-side", "--manager=", "--force")
	if err != nil {
		return nil, err
	}
	if err := from.checkNames(); err != nil {
		return nil, err
	}
	_, force := given["--force"]
	manager := given["--manager"]
	if _, ok := given["--server-side"]; ok {
		return serverSideApply{from, manager, force}, nil
	}
	if force || manager != "" {
		return nil, errors.New("expected --server-side beside --manager or --force")
	}
	return apply{from}, nil
}

func (s apply) String() string { return "apply " + quote(s.name) }

func (s apply) Run(ctx context.Context, e *Env) error { return s.forEachObject(ctx, e, put) }

func (s apply) simplifications() []Step {
	return s.smallerManifests(func(less manifestFile) Step { return apply{less} })
}

// put creates or replaces one object.
func put(ctx context.Context, to dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	current, err := to.Get(ctx, o.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = to.Create(ctx, o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	case err == nil:
		if o.GetResourceVersion() == "" {
			o.SetResourceVersion(current.GetResourceVersion())
		}
		_, err = to.Update(ctx, o, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	}
	return err
}

// ServerSideApply applies the objects of a manifest with one PATCH each. The default manager is
// "scenario". Without force, a field that another manager owns with another value is a 409
// Conflict.
func ServerSideApply(name, manifest, manager string, force bool) Step {
	return serverSideApply{newManifestFile(name, manifest), manager, force}
}

type serverSideApply struct {
	manifestFile
	manager string
	force   bool
}

func (s serverSideApply) String() string {
	manager, force := "", ""
	if s.manager != "" {
		manager = "--manager " + quote(s.manager)
	}
	if s.force {
		force = "--force"
	}
	return joinWords("apply", quote(s.name), "--server-side", manager, force)
}

func (s serverSideApply) Run(ctx context.Context, e *Env) error {
	options := metav1.PatchOptions{
		FieldManager: s.manager, Force: &s.force, FieldValidation: metav1.FieldValidationStrict,
	}
	if options.FieldManager == "" {
		options.FieldManager = stepUserAgent
	}
	return s.forEachObject(ctx, e, func(ctx context.Context, to dynamic.ResourceInterface, o *unstructured.Unstructured) error {
		body, err := o.MarshalJSON()
		if err != nil {
			return err
		}
		_, err = to.Patch(ctx, o.GetName(), types.ApplyPatchType, body, options)
		return err
	})
}

func (s serverSideApply) simplifications() []Step {
	return s.smallerManifests(func(less manifestFile) Step { return serverSideApply{less, s.manager, s.force} })
}
