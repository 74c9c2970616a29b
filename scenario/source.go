package scenario

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// source is the manifest that a step writes, and the name of its file.
type source struct{ name, manifest string }

func newSource(name, manifest string) source { return source{name, endLine(manifest)} }

// parseSource reads a line that is FILE and flags.
func parseSource(a *args, allowed ...string) (source, flags, error) {
	words, given, err := a.raw(allowed...)
	if err != nil {
		return source{}, nil, err
	}
	names, err := texts(words, 1, 1)
	if err != nil {
		return source{}, nil, err
	}
	f, err := a.in.file(names[0])
	return source{f.name, f.data}, given, err
}

func (s source) files() []file { return []file{{name: s.name, data: s.manifest}} }

// allNamed refuses objects that leave their name to the server, which only create
// can do. What is no manifest at all is refused elsewhere.
func (s source) allNamed() error {
	objects, err := decodeManifest(s.manifest)
	if err != nil {
		return nil
	}
	for _, o := range objects {
		if o.GetName() == "" {
			return fmt.Errorf("expected metadata.name in %s, found generateName, which create takes", s.name)
		}
	}
	return nil
}

// each writes the objects one after the other, as if each had a step of its own.
func (s source) each(
	ctx context.Context, e *Env, write func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error,
) error {
	objects, err := decodeManifest(s.manifest)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := s.one(ctx, e, o, write); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), cmp.Or(o.GetName(), o.GetGenerateName()), err)
		}
		e.settle()
	}
	return nil
}

func (s source) one(
	ctx context.Context, e *Env, o *unstructured.Unstructured,
	write func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error,
) error {
	ctx, cancel := e.patience(ctx)
	defer cancel()
	to, err := e.resourceOf(o)
	if err != nil {
		return err
	}
	return answered(ctx, write(ctx, to, o))
}
