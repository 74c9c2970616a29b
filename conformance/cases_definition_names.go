package conformance

import (
	"context"
	"fmt"
)

const docNaming = "apiextensions controller/status/naming_controller.go"

// definitionNameCases are about definitions that want the same names (CD-14). Names are unique within a group.
func definitionNameCases() []Case {
	about := func(id, title, why string, check func(context.Context, definition) error) Case {
		return defining(Case{ID: id, Level: Must, Title: title, Why: why, Source: docNaming}, object{"spec": free()}, check)
	}
	return []Case{
		about("CD-14", "a definition that wants the kind of another is not accepted, not Established and not served", "one kind must mean one resource",
			func(ctx context.Context, d definition) error {
				return d.conflict(ctx, "KindConflict", func(names object) { names["kind"], names["listKind"] = "Gear", "WheelList" }, `"Gear" is already in use`)
			}),
		about("CD-14/list", "the kind of lists must not be taken either", "one kind must mean one resource", func(ctx context.Context, d definition) error {
			return d.conflict(ctx, "ListKindConflict", func(names object) { names["listKind"] = "GearList" }, `"GearList" is already in use`)
		}),
		about("CD-14/short", "a short name must not be the plural of another", "kubectl get must not depend on luck", func(ctx context.Context, d definition) error {
			return d.conflict(ctx, "ShortNamesConflict", func(names object) { names["shortNames"] = []string{"gears"} }, `"gears" is already in use`)
		}),
		about("CD-14/singular", "a singular name must not be that of another", "kubectl get must not depend on luck", func(ctx context.Context, d definition) error {
			return d.conflict(ctx, "SingularConflict", func(names object) { names["singular"] = "gear" }, `"gear" is already in use`)
		}),
		about("CD-14/release", "names are free once the definition that had them is gone", "the next one need not be made again", releasedNames),
		about("CD-14/later", "a definition that is Established stays so when it wants a name that is taken, and has its old names", "objects must not go out of reach", lateConflict),
		about("CD-14/groups", "the same names in another group are no conflict", "groups are there to have names of their own", func(ctx context.Context, d definition) error {
			if _, err := d.serve(ctx); err != nil {
				return err
			}
			other := d.s.define(object{})
			if err := other.send(ctx, code(201)); err != nil {
				return err
			}
			return d.s.until(ctx, get(other.path()), condition("NamesAccepted", "True", "NoConflicts"), condition("Established", "True", "InitialNamesAccepted"))
		}),
	}
}

// rival is a definition in the same group, of Wheels.
func (d definition) rival() definition {
	rival := d.s.define(object{})
	rival.group = d.group
	rival.body.meta("name", "wheels."+d.group)
	rival.spec()["group"], rival.spec()["names"] = d.group, object{"plural": "wheels", "kind": "Wheel"}
	return rival
}

// wheels are the objects of a rival, in no namespace.
func (d definition) wheels() string { return "/apis/" + d.group + "/v1/wheels" }

func (d definition) conflict(ctx context.Context, reason string, want func(names object), says string) error {
	if _, err := d.serve(ctx); err != nil {
		return err
	}
	rival := d.rival()
	want(rival.names())
	if err := rival.send(ctx, code(201)); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(rival.path()), condition("NamesAccepted", "False", reason), condition("Established", "False", "NotAccepted")); err != nil {
		return err
	}
	if err := d.s.try(ctx, get(rival.path()), conditionSays("NamesAccepted", says)); err != nil {
		return err
	}
	return d.s.try(ctx, get(rival.wheels()), pageNotFound)
}

// conditionSays expects the message of a condition.
func conditionSays(kind, message string) expectation {
	return func(a *answer) error {
		var got struct {
			Status struct {
				Conditions []struct{ Type, Message string }
			}
		}
		if err := a.decode(&got); err != nil {
			return err
		}
		for _, c := range got.Status.Conditions {
			if c.Type == kind && c.Message == message {
				return nil
			}
		}
		return fmt.Errorf("expected a condition %s that says %q, got %v", kind, message, got.Status.Conditions)
	}
}

func releasedNames(ctx context.Context, d definition) error {
	if _, err := d.serve(ctx); err != nil {
		return err
	}
	rival := d.rival()
	rival.names()["shortNames"] = []string{"gear"}
	if err := rival.send(ctx, code(201)); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(rival.path()), condition("NamesAccepted", "False", "ShortNamesConflict")); err != nil {
		return err
	}
	if err := d.s.try(ctx, del(d.path()), code(200)); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(rival.path()), condition("NamesAccepted", "True", "NoConflicts"), condition("Established", "True", "InitialNamesAccepted"),
		value([]string{"gear"}, "status", "acceptedNames", "shortNames")); err != nil {
		return err
	}
	return d.s.until(ctx, get(rival.wheels()), code(200))
}

func lateConflict(ctx context.Context, d definition) error {
	if _, err := d.serve(ctx); err != nil {
		return err
	}
	rival := d.rival()
	if err := rival.send(ctx, code(201)); err != nil {
		return err
	}
	established := condition("Established", "True", "InitialNamesAccepted")
	if err := d.s.until(ctx, get(rival.path()), established); err != nil {
		return err
	}
	if err := rival.change(ctx, set("/spec/names/shortNames", []string{"gear"})); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(rival.path()), condition("NamesAccepted", "False", "ShortNamesConflict"), established,
		value(nil, "status", "acceptedNames", "shortNames")); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(rival.wheels()), code(200)); err != nil {
		return err
	}
	if err := rival.change(ctx, set("/spec/names/shortNames", []string{"wh"})); err != nil {
		return err
	}
	return d.s.until(ctx, get(rival.path()), condition("NamesAccepted", "True", "NoConflicts"), value([]string{"wh"}, "status", "acceptedNames", "shortNames"))
}
