package conformance

import (
	"context"
	"slices"
)

const docGeneration = "API conventions, Metadata; apiserver registry/rest/update.go and delete.go"

// metaGenerationCases are about metadata.generation (MD-14 to MD-17).
func metaGenerationCases() []Case {
	return slices.Concat(
		onGeneration(Case{
			ID: "MD-14", Level: Must, Title: "generation begins with 1",
			Why:    "controllers compare it with their observedGeneration",
			Source: docGeneration,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.try(ctx, post(c.path(), c.colored("a", "red")), code(201), generation(1)); err != nil {
				return err
			}
			return s.try(ctx, get(c.item("a")), code(200), generation(1))
		}),
		onStatus(Case{
			ID: "MD-15", Level: Must, Title: "generation rises by one with the spec, and with neither metadata nor status",
			Why:    "controllers would work in vain, or never",
			Source: docGeneration,
		}, countedChanges),
		onGeneration(Case{
			ID: "MD-16", Level: Must, Title: "generation rises by one when deletion begins",
			Why:    "controllers see that there is something to do",
			Source: docGeneration,
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.colored("a", "red").held()); err != nil {
				return err
			}
			if err := s.try(ctx, del(c.item("a")), code(200)); err != nil {
				return err
			}
			return s.try(ctx, get(c.item("a")), code(200), generation(2))
		}),
		onGeneration(Case{
			ID: "MD-17", Level: Must, Title: "a client cannot set generation",
			Why:    "a controller would think that it has seen all",
			Source: docGeneration,
		}, sentGenerations),
	)
}

// colored is an object whose spec has something to change: the color of a Widget, or what a policy or a budget selects.
func (c collection) colored(name, color string) object {
	o := c.object(name)
	o["spec"] = c.spec(color)
	return o
}

// spec is one that says this color, whatever the kind.
func (c collection) spec(color string) object {
	selector := object{"matchLabels": object{"color": color}}
	switch c.resource {
	case "poddisruptionbudgets":
		return object{"minAvailable": 1, "selector": selector}
	case "networkpolicies":
		return object{"podSelector": selector}
	}
	return object{"color": color}
}

// statusPatch changes the status of an object.
func (c collection) statusPatch(name string) call {
	return mergePatch(c.item(name)+"/status", object{"status": object{"observedGeneration": 7}})
}

func countedChanges(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.colored("a", "red")); err != nil {
		return err
	}
	for _, step := range []struct {
		call
		want int64
	}{
		{mergePatch(c.item("a"), object{"spec": c.spec("blue")}), 2},
		{mergePatch(c.item("a"), object{"metadata": object{"labels": object{"a": "b"}, "annotations": object{"a": "b"}}}), 2},
		{c.statusPatch("a"), 2},
		{mergePatch(c.item("a"), object{"spec": c.spec("blue")}), 2},
		{mergePatch(c.item("a"), object{"spec": c.spec("green"), "metadata": object{"labels": object{"a": "c"}}}), 3},
	} {
		if err := s.try(ctx, step.call, code(200), generation(step.want)); err != nil {
			return err
		}
	}
	return s.try(ctx, get(c.item("a")), code(200), generation(3))
}

func sentGenerations(ctx context.Context, s *session, c collection) error {
	o, err := s.object(ctx, post(c.path(), c.colored("a", "red").meta("generation", 7)), code(201), generation(1))
	if err != nil {
		return err
	}
	update := c.colored("a", "red").meta("generation", 8).meta("resourceVersion", o.ResourceVersion).label("a", "b")
	if err := s.try(ctx, put(c.item("a"), update), code(200), generation(1)); err != nil {
		return err
	}
	patch := object{"metadata": object{"generation": 9, "labels": object{"a": "c"}}}
	return s.try(ctx, mergePatch(c.item("a"), patch), code(200), generation(1))
}
