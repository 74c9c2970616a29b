package scenario

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// manifestFile is the manifest of a step and the name of its file.
type manifestFile struct{ name, manifest string }

func newManifestFile(name, manifest string) manifestFile {
	return manifestFile{name, withFinalNewline(manifest)}
}

// parseManifestFile parses a line of FILE and flags.
func parseManifestFile(a *args, allowed ...string) (manifestFile, flags, error) {
	words, given, err := a.wordsAndFlags(allowed...)
	if err != nil {
		return manifestFile{}, nil, err
	}
	names, err := unquoteWords(words, 1, 1)
	if err != nil {
		return manifestFile{}, nil, err
	}
	f, err := a.parser.useFile(names[0])
	return manifestFile{f.name, f.data}, given, err
}

func (f manifestFile) files() []file { return []file{{name: f.name, data: f.manifest}} }

// checkNames returns an error if an object has no name but a generateName, which only create
// supports. Invalid manifests are reported elsewhere.
func (f manifestFile) checkNames() error {
	objects, err := decodeManifest(f.manifest)
	if err != nil {
		return nil
	}
	for _, o := range objects {
		if o.GetName() == "" {
			return fmt.Errorf("expected metadata.name in %s, found generateName, which only create supports", f.name)
		}
	}
	return nil
}

// forEachObject writes the objects in order and waits after each, as if each were a step.
func (f manifestFile) forEachObject(
	ctx context.Context, e *Env, write func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error,
) error {
	objects, err := decodeManifest(f.manifest)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := f.writeObject(ctx, e, o, write); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), cmp.Or(o.GetName(), o.GetGenerateName()), err)
		}
		e.waitIdle()
	}
	return nil
}

func (f manifestFile) writeObject(
	ctx context.Context, e *Env, o *unstructured.Unstructured,
	write func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error,
) error {
	ctx, cancel := e.withRequestTimeout(ctx)
	defer cancel()
	to, err := e.resourceOf(o)
	if err != nil {
		return err
	}
	return requestError(ctx, write(ctx, to, o))
}

// smallerManifests returns steps with fewer or smaller objects.
func (f manifestFile) smallerManifests(step func(manifestFile) Step) (steps []Step) {
	objects, err := decodeManifest(f.manifest)
	if err != nil {
		return nil
	}
	add := func(objects []*unstructured.Unstructured) {
		if text, ok := encodeManifest(objects); ok && text != f.manifest {
			steps = append(steps, step(newManifestFile(f.name, text)))
		}
	}
	for i, o := range objects {
		if len(objects) > 1 {
			add(slices.Concat(objects[:i], objects[i+1:]))
		}
		for _, less := range smallerObjects(o) {
			changed := slices.Clone(objects)
			changed[i] = less
			add(changed)
		}
	}
	return steps
}
