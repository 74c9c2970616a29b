package conformance

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docFinalizer        = "apiextensions controller/finalizer"
	definitionFinalizer = "customresourcecleanup.apiextensions.k8s.io"
)

// definitionEndCases are about the end of definitions, their objects and their watches (CD-07, CD-08).
func definitionEndCases() []Case {
	spec := object{"spec": free()}
	return []Case{
		onGears(Case{
			ID: "CD-07", Level: Must, Title: "nothing is created while the definition is going, not by apply either",
			Why: "objects would be left behind, or hold up the end for ever", Source: docCRHandler,
		}, spec, nothingCreatedAtTheEnd),
		onGears(Case{
			ID: "CD-07/writes", Level: Must, Title: "objects of a definition that is going are read, changed and deleted as before",
			Why: "controllers have to take their finalizers off", Source: docCRHandler,
		}, spec, writesAtTheEnd),
		onGears(Case{
			ID: "CD-08", Level: Must, Title: "the deletion of a definition deletes its objects, then itself and what is at its paths",
			Why: "uninstalling leaves nothing", Source: docDefinitions + ", Delete a CustomResourceDefinition",
		}, spec, objectsGo),
		onGears(Case{
			ID: "CD-08/finalizers", Level: Must, Title: "an object with a finalizer holds the definition, which says that it is Terminating",
			Why: "controllers clean up outside of the cluster", Source: docFinalizer,
		}, spec, finalizersHold),
		onGears(Case{
			ID: "CD-08/watch", Level: Must, Title: "watches see the objects of a definition that is deleted go, and end",
			Why: "informers would keep what is not there any more", Source: docFinalizer,
		}, spec, watchSeesTheEnd),
		onGears(Case{
			ID: "CD-08/again", Level: Must, Title: "a definition that is made again has none of the objects of before",
			Why: "what was deleted stays deleted", Source: docDefinitions + ", Delete a CustomResourceDefinition",
		}, spec, definedAgain),
		onGears(Case{
			ID: "CD-08/discovery", Level: Must, Title: "a group goes from discovery and OpenAPI with its last definition",
			Why: "clients would ask for what is not there", Source: "apiextensions customresource_discovery_controller.go",
		}, spec, func(ctx context.Context, d definition, _ collection) error {
			openAPI := get("/openapi/v3/apis/" + d.group + "/v1")
			if err := d.s.until(ctx, openAPI, code(200)); err != nil {
				return err
			}
			if err := d.s.try(ctx, del(d.path()), code(200)); err != nil {
				return err
			}
			for _, c := range []call{get("/apis/" + d.group), get("/apis/" + d.group + "/v1"), openAPI} {
				if err := d.s.until(ctx, c, code(404)); err != nil {
					return err
				}
			}
			return d.s.until(ctx, get("/apis"), without(d.group, "name", "groups"))
		}),
		onGears(Case{
			ID: "CD-08/change", Level: Must, Title: "a change of the definition ends the watches of its objects in good order, and new ones go on from a list",
			Why: "informers have to see the objects by the new schema", Source: docCRHandler,
		}, spec, changeEndsWatches),
	}
}

// without expects a list at a path none of whose items has this value in a field.
func without(value, field string, path ...string) expectation {
	return func(a *answer) error {
		here, err := a.at(path...)
		if err != nil {
			return err
		}
		items, ok := here.([]any)
		if !ok {
			return a.errorf("expected a list")
		}
		for _, item := range items {
			if fields, _ := item.(map[string]any); fields[field] == value {
				return a.errorf("expected no item with the %s %s", field, value)
			}
		}
		return nil
	}
}

// going creates an object "a" with the suite's finalizer, and deletes the definition, which the object holds.
func (d definition) going(ctx context.Context, c collection) error {
	if _, err := c.create(ctx, c.object("a").held()); err != nil {
		return err
	}
	if err := d.s.try(ctx, del(d.path()), code(http.StatusOK)); err != nil {
		return err
	}
	return d.s.until(ctx, get(c.item("a")), terminating(0))
}

// released takes the finalizer off the object "a".
func released(c collection) call {
	return mergePatch(c.item("a"), object{"metadata": object{"finalizers": nil}})
}

func nothingCreatedAtTheEnd(ctx context.Context, d definition, c collection) error {
	if err := d.going(ctx, c); err != nil {
		return err
	}
	refused := refusal{
		code: 403, reason: metav1.StatusReasonForbidden, details: c.about("late"),
		message: c.qualified() + ` "late" is forbidden: create not allowed while custom resource definition is terminating`,
	}.check
	return d.s.all(ctx,
		ask(post(c.path(), c.object("late")), refused),
		ask(c.trial(c.object("late")), refused),
		ask(apply(c.item("late"), c.object("late")), refused),
		ask(get(c.item("late")), code(404)),
	)
}

func writesAtTheEnd(ctx context.Context, d definition, c collection) error {
	if err := d.going(ctx, c); err != nil {
		return err
	}
	changed := c.gear("a", object{"x": 2}).held()
	return d.s.all(ctx,
		ask(mergePatch(c.item("a"), object{"spec": object{"x": 1}}), code(200), holds(1, "spec", "x")),
		ask(apply(c.item("a"), changed).query("force=true"), code(200), holds(2, "spec", "x")),
		ask(get(c.path()), code(200), holds(2, "items", "0", "spec", "x")),
		ask(released(c), code(200)),
		ask(get(c.item("a")), code(404)),
	)
}

func objectsGo(ctx context.Context, d definition, c collection) error {
	for _, name := range []string{"a", "b"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	err := d.s.try(ctx, del(d.path()), code(200), kind("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
		present("metadata", "deletionTimestamp"), finalizers(definitionFinalizer))
	if err != nil {
		return err
	}
	if err := d.s.until(ctx, get(d.path()), code(404)); err != nil {
		return err
	}
	for _, path := range []string{c.item("a"), c.path(), c.everywhere()} {
		if err := d.s.until(ctx, get(path), pageNotFound); err != nil {
			return err
		}
	}
	return nil
}

func finalizersHold(ctx context.Context, d definition, c collection) error {
	if err := d.going(ctx, c); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(d.path()), code(200), condition("Terminating", "True", "InstanceDeletionInProgress")); err != nil {
		return err
	}
	if err := d.s.try(ctx, get(d.path()), present("metadata", "deletionTimestamp"), finalizers(definitionFinalizer)); err != nil {
		return err
	}
	if err := d.s.try(ctx, released(c), code(200)); err != nil {
		return err
	}
	return d.s.until(ctx, get(d.path()), code(404))
}

func watchSeesTheEnd(ctx context.Context, d definition, c collection) error {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=1&resourceVersion="+o.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	if err := d.s.try(ctx, del(d.path()), code(200)); err != nil {
		return err
	}
	if _, err := w.want("DELETED", "a"); err != nil {
		return err
	}
	return w.wantEnd()
}

func definedAgain(ctx context.Context, d definition, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	if err := d.s.try(ctx, del(d.path()), code(200)); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(d.path()), code(404)); err != nil {
		return err
	}
	again, err := d.serve(ctx)
	if err != nil {
		return err
	}
	l, err := d.s.list(ctx, again.everywhere())
	if err != nil {
		return err
	}
	return l.has()
}

func changeEndsWatches(ctx context.Context, d definition, c collection) error {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=1&resourceVersion="+o.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	if err := d.change(ctx, set("/spec/versions/0/schema/openAPIV3Schema/description", "Gears turn")); err != nil {
		return err
	}
	if err := w.wantEnd(); err != nil {
		return err
	}
	// The server may need a moment, and may have forgotten what was before the change.
	if err := d.s.until(ctx, get(c.path()), code(200)); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if err := l.has("a"); err != nil {
		return err
	}
	if _, err := c.change(ctx, "a", "1"); err != nil {
		return err
	}
	next, err := c.watch(ctx, "?watch=1&resourceVersion="+l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer next.close()
	_, err = next.want("MODIFIED", "a")
	return err
}
