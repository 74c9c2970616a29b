package conformance

import (
	"context"
	"fmt"
)

const docNaming = "apiextensions controller/status/naming_controller.go"

// crdNameCases returns the cases about CRDs that request the same names (CD-14). Names are unique
// within a group.
func crdNameCases() []Case {
	about := func(id, title, why string, check func(context.Context, crdPerCase) error) Case {
		return withCRDPerCase(Case{ID: id, Level: Must, Title: title, Why: why, Source: docNaming}, object{"spec": anySchema()}, check)
	}
	return []Case{
		about("CD-14", "a CRD with the kind of another is not accepted, not Established and not served", "a kind must identify one resource",
			func(ctx context.Context, d crdPerCase) error {
				return d.checkNameConflict(ctx, "KindConflict", func(names object) { names["kind"], names["listKind"] = "Gear", "WheelList" }, `"Gear" is already in use`)
			}),
		about("CD-14/list", "the list kind must be unique, too", "a kind must identify one resource", func(ctx context.Context, d crdPerCase) error {
			return d.checkNameConflict(ctx, "ListKindConflict", func(names object) { names["listKind"] = "GearList" }, `"GearList" is already in use`)
		}),
		about("CD-14/short", "a short name must differ from the plural names of others", "kubectl get must resolve names unambiguously", func(ctx context.Context, d crdPerCase) error {
			return d.checkNameConflict(ctx, "ShortNamesConflict", func(names object) { names["shortNames"] = []string{"gears"} }, `"gears" is already in use`)
		}),
		about("CD-14/singular", "a singular name must differ from those of others", "kubectl get must resolve names unambiguously", func(ctx context.Context, d crdPerCase) error {
			return d.checkNameConflict(ctx, "SingularConflict", func(names object) { names["singular"] = "gear" }, `"gear" is already in use`)
		}),
		about("CD-14/release", "names become available when the CRD that has them is deleted", "a waiting CRD need not be created again", checkNamesReleased),
		about("CD-14/later", "an Established CRD stays Established when it requests a name that is in use, and keeps its accepted names", "its objects must stay reachable", checkLaterConflict),
		about("CD-14/groups", "the same names in another group do not conflict", "groups are namespaces for names", func(ctx context.Context, d crdPerCase) error {
			if _, err := d.createAndWait(ctx); err != nil {
				return err
			}
			other := d.s.newCRDPerCase(object{})
			if err := other.create(ctx, code(201)); err != nil {
				return err
			}
			return d.s.waitFor(ctx, get(other.path()), condition("NamesAccepted", "True", "NoConflicts"), condition("Established", "True", "InitialNamesAccepted"))
		}),
	}
}

// conflictingCRD returns a second CRD in the same group, whose objects are called Wheels.
func (d crdPerCase) conflictingCRD() crdPerCase {
	other := d.s.newCRDPerCase(object{})
	other.group = d.group
	other.body.withMeta("name", "wheels."+d.group)
	other.spec()["group"], other.spec()["names"] = d.group, object{"plural": "wheels", "kind": "Wheel"}
	return other
}

// conflictingPath returns the path of the objects of a conflicting CRD.
func (d crdPerCase) conflictingPath() string { return "/apis/" + d.group + "/v1/wheels" }

func (d crdPerCase) checkNameConflict(ctx context.Context, reason string, want func(names object), text string) error {
	if _, err := d.createAndWait(ctx); err != nil {
		return err
	}
	other := d.conflictingCRD()
	want(other.names())
	if err := other.create(ctx, code(201)); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(other.path()), condition("NamesAccepted", "False", reason), condition("Established", "False", "NotAccepted")); err != nil {
		return err
	}
	if err := d.s.expect(ctx, get(other.path()), conditionMessage("NamesAccepted", text)); err != nil {
		return err
	}
	return d.s.expect(ctx, get(other.conflictingPath()), pageNotFound)
}

// conditionMessage expects a condition with a message.
func conditionMessage(kind, message string) expectation {
	return func(r *response) error {
		var got struct {
			Status struct {
				Conditions []struct{ Type, Message string }
			}
		}
		if err := r.decode(&got); err != nil {
			return err
		}
		for _, c := range got.Status.Conditions {
			if c.Type == kind && c.Message == message {
				return nil
			}
		}
		return fmt.Errorf("expected a condition %s with %q, got %v", kind, message, got.Status.Conditions)
	}
}

func checkNamesReleased(ctx context.Context, d crdPerCase) error {
	if _, err := d.createAndWait(ctx); err != nil {
		return err
	}
	other := d.conflictingCRD()
	other.names()["shortNames"] = []string{"gear"}
	if err := other.create(ctx, code(201)); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(other.path()), condition("NamesAccepted", "False", "ShortNamesConflict")); err != nil {
		return err
	}
	if err := d.s.expect(ctx, del(d.path()), code(200)); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(other.path()), condition("NamesAccepted", "True", "NoConflicts"), condition("Established", "True", "InitialNamesAccepted"),
		value([]string{"gear"}, "status", "acceptedNames", "shortNames")); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get(other.conflictingPath()), code(200))
}

func checkLaterConflict(ctx context.Context, d crdPerCase) error {
	if _, err := d.createAndWait(ctx); err != nil {
		return err
	}
	other := d.conflictingCRD()
	if err := other.create(ctx, code(201)); err != nil {
		return err
	}
	established := condition("Established", "True", "InitialNamesAccepted")
	if err := d.s.waitFor(ctx, get(other.path()), established); err != nil {
		return err
	}
	if err := other.patch(ctx, setOp("/spec/names/shortNames", []string{"gear"})); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(other.path()), condition("NamesAccepted", "False", "ShortNamesConflict"), established,
		value(nil, "status", "acceptedNames", "shortNames")); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(other.conflictingPath()), code(200)); err != nil {
		return err
	}
	if err := other.patch(ctx, setOp("/spec/names/shortNames", []string{"wh"})); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get(other.path()), condition("NamesAccepted", "True", "NoConflicts"), value([]string{"wh"}, "status", "acceptedNames", "shortNames"))
}
