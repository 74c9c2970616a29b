package conformance

import (
	"context"
	"slices"
)

const docGeneration = "API conventions, Metadata; apiserver registry/rest/update.go and delete.go"

// metaGenerationCases returns the cases about metadata.generation (MD-14 to MD-17).
func metaGenerationCases() []Case {
	return slices.Concat(
		onGeneration(Case{
			ID: "MD-14", Level: Must, Title: "generation starts at 1",
			Why:    "controllers compare it with their observedGeneration",
			Source: docGeneration,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.expect(ctx, post(c.path(), c.withColor("a", "red")), code(201), generation(1)); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), generation(1))
		}),
		onStatus(Case{
			ID: "MD-15", Level: Must, Title: "generation increases by one at spec changes, and not at metadata or status changes",
			Why:    "controllers would do useless work, or miss changes",
			Source: docGeneration,
		}, checkGenerationChanges),
		onGeneration(Case{
			ID: "MD-16", Level: Must, Title: "generation increases by one when a deletion starts",
			Why:    "controllers see that the object changed",
			Source: docGeneration,
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.withColor("a", "red").withFinalizer()); err != nil {
				return err
			}
			if err := s.expect(ctx, del(c.item("a")), code(200)); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), generation(2))
		}),
		onGeneration(Case{
			ID: "MD-17", Level: Must, Title: "a client cannot set generation",
			Why:    "a controller would conclude that it has processed all changes",
			Source: docGeneration,
		}, checkSentGeneration),
		[]Case{onSecrets(Case{
			ID: "MD-17/unused", Level: Must, Title: "a type without a generation keeps the one of its create, which an update cannot change",
			Why:    "backups and copies of objects have the generation of the original",
			Source: docGeneration,
		}, func(ctx context.Context, s *session, c collection) error {
			return checkGenerationOfUpdates(ctx, s, c, c.object("a"), 7)
		})},
	)
}

// withColor returns an object whose spec depends on a color.
func (c collection) withColor(name, color string) object {
	o := c.object(name)
	o["spec"] = c.colorSpec(color)
	return o
}

// colorSpec returns a spec that contains the color, as a value or in a selector.
func (c collection) colorSpec(color string) object {
	selector := object{"matchLabels": object{"color": color}}
	switch c.resource {
	case "poddisruptionbudgets":
		return object{"minAvailable": 1, "selector": selector}
	case "networkpolicies":
		return object{"podSelector": selector}
	}
	return object{"color": color}
}

// statusPatch returns a patch that changes the status of an object.
func (c collection) statusPatch(name string) call {
	return mergePatch(c.item(name)+"/status", object{"status": object{"observedGeneration": 7}})
}

func checkGenerationChanges(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.withColor("a", "red")); err != nil {
		return err
	}
	for _, step := range []struct {
		call
		want int64
	}{
		{mergePatch(c.item("a"), object{"spec": c.colorSpec("blue")}), 2},
		{mergePatch(c.item("a"), object{"metadata": object{"labels": object{"a": "b"}, "annotations": object{"a": "b"}}}), 2},
		{c.statusPatch("a"), 2},
		{mergePatch(c.item("a"), object{"spec": c.colorSpec("blue")}), 2},
		{mergePatch(c.item("a"), object{"spec": c.colorSpec("green"), "metadata": object{"labels": object{"a": "c"}}}), 3},
	} {
		if err := s.expect(ctx, step.call, code(200), generation(step.want)); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), generation(3))
}

func checkSentGeneration(ctx context.Context, s *session, c collection) error {
	return checkGenerationOfUpdates(ctx, s, c, c.withColor("a", "red"), 1)
}

// checkGenerationOfUpdates sends a generation with a create, and other ones with updates that do
// not change the generation.
func checkGenerationOfUpdates(ctx context.Context, s *session, c collection, o object, want int64) error {
	made, err := s.doObject(ctx, post(c.path(), o.withMeta("generation", 7)), code(201), generation(want))
	if err != nil {
		return err
	}
	update := o.withMeta("generation", 8).withMeta("resourceVersion", made.ResourceVersion).withLabel("a", "b")
	patch := object{"metadata": object{"generation": 9, "labels": object{"a": "c"}}}
	return s.expectAll(ctx,
		send(put(c.item("a"), update), code(200), generation(want)),
		send(mergePatch(c.item("a"), patch), code(200), generation(want)),
		send(get(c.item("a")), code(200), generation(want)),
	)
}
