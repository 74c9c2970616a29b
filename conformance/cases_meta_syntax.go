package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docObjectMeta = "apimachinery api/validation/objectmeta.go"

// Parts of messages about names.
const (
	badNamePart   = "name part must consist of alphanumeric characters"
	longNamePart  = "name part must be no more than 63"
	badPrefix     = "prefix part a lowercase RFC 1123 subdomain must consist of"
	badLabelKey   = "a valid label key must consist of"
	badLabelValue = "a valid label must be an empty string or consist of"
)

// metaSyntaxCases returns the cases about the syntax of metadata (MD-18 to MD-23, MD-32, MD-33).
func metaSyntaxCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "MD-18", Level: Must, Title: "label keys are qualified names, and label values have at most 63 restricted characters",
			Why:    "selectors could not express other values",
			Source: "Labels and Selectors, Syntax and character set; " + docObjectMeta,
		}, checkInvalidMeta("labels",
			invalidValue{object{"bad key!": "v"}, badNamePart},
			invalidValue{object{strings.Repeat("a", 64): "v"}, longNamePart},
			invalidValue{object{"Upper.example.com/a": "v"}, badPrefix},
			invalidValue{object{"a/b/c": "v"}, badLabelKey},
			invalidValue{object{"a": "bad value!"}, badLabelValue},
			invalidValue{object{"a": strings.Repeat("v", 64)}, "must be no more than 63"},
		)),
		onBoth(Case{
			ID: "MD-19", Level: Must, Title: "annotation keys are qualified names in either case, and all annotations together have at most 256 KiB",
			Why:    "clients split keys at the slash; objects must fit into the storage",
			Source: "Annotations, Syntax and character set; " + docObjectMeta,
		}, checkAnnotationSyntax),
		onBoth(Case{
			ID: "MD-20", Level: Must, Title: "an owner reference requires apiVersion, kind, name and uid",
			Why:    "the garbage collector could not find the owner, and would delete the object",
			Source: docObjectMeta,
		}, checkIncompleteOwners),
		onBoth(Case{
			ID: "MD-21", Level: Must, Title: "at most one owner reference is the controller",
			Why:    "two controllers would manage the object",
			Source: docObjectMeta,
		}, func(ctx context.Context, s *session, c collection) error {
			owners := []object{ownerRef("1").with("controller", true), ownerRef("2").with("controller", true)}
			return s.expect(ctx, post(c.path(), c.object("a").withMeta("ownerReferences", owners)), c.invalid("a", metav1.CauseTypeFieldValueInvalid,
				"metadata.ownerReferences", `Only one reference can have Controller set to true. Found "true" in references for ConfigMap/owner-1 and ConfigMap/owner-2`))
		}),
		onBoth(Case{
			ID: "MD-22", Level: Should, Title: "duplicate owner references are merged, with a warning",
			Why:    "the client would add more of them with every write",
			Source: "apiserver handlers/rest.go",
		}, checkDuplicateOwners),
		onBoth(Case{
			ID: "MD-23", Level: Must, Title: "finalizers are qualified names, which need no prefix on custom resources",
			Why:    "controllers find their finalizers by name; many operators use names without a prefix",
			Source: docObjectMeta,
		}, checkFinalizerSyntax),
		onBoth(Case{
			ID: "MD-32", Level: Must, Title: "an Event cannot be an owner",
			Why:    "Events expire, and the garbage collector would delete the object",
			Source: docObjectMeta,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, post(c.path(), c.object("a").withMeta("ownerReferences", []object{ownerRef("1").with("kind", "Event")})),
				c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata.ownerReferences[0]", "/v1, Kind=Event is disallowed from being an owner"))
		}),
		onBoth(Case{
			ID: "MD-33", Level: Must, Title: "the finalizers orphan and foregroundDeletion are mutually exclusive",
			Why:    "dependents cannot be both orphaned and deleted",
			Source: docObjectMeta,
		}, func(ctx context.Context, s *session, c collection) error {
			return checkInvalidMeta("finalizers",
				invalidValue{[]string{"orphan", "foregroundDeletion"}, "finalizer orphan and foregroundDeletion cannot be both set"})(ctx, s, c)
		}),
	)
}

// invalidValue is an invalid value, and a part of the expected message.
type invalidValue struct {
	value   any
	message string
}

// checkInvalidMeta checks that a create and a patch with each of these values of a metadata field
// are invalid.
func checkInvalidMeta(field string, values ...invalidValue) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		for _, one := range values {
			rejected := func(name string) expectation {
				return c.invalid(name, metav1.CauseTypeFieldValueInvalid, "metadata."+field, one.message)
			}
			if err := s.expect(ctx, post(c.path(), c.object("b").withMeta(field, one.value)), rejected("b")); err != nil {
				return err
			}
			if err := s.expect(ctx, mergePatch(c.item("a"), object{"metadata": object{field: one.value}}), rejected("a")); err != nil {
				return err
			}
		}
		return nil
	}
}

func checkAnnotationSyntax(ctx context.Context, s *session, c collection) error {
	const limit = 262144
	if err := checkInvalidMeta("annotations",
		invalidValue{object{"bad key!": "v"}, badNamePart},
		invalidValue{object{strings.Repeat("a", 64): "v"}, longNamePart},
		invalidValue{object{"a/b/c": "v"}, badLabelKey},
	)(ctx, s, c); err != nil {
		return err
	}
	if _, err := c.create(ctx, c.object("upper").withMeta("annotations", object{"Upper.example.com/a": "any value!"})); err != nil {
		return err
	}
	if _, err := c.create(ctx, c.object("full").withMeta("annotations", object{"key": strings.Repeat("v", limit-3)})); err != nil {
		return err
	}
	return s.expect(ctx, post(c.path(), c.object("b").withMeta("annotations", object{"key": strings.Repeat("v", limit-2)})),
		c.invalid("b", "FieldValueTooLong", "metadata.annotations", "Too long: may not be more than 262144 bytes"))
}

func checkFinalizerSyntax(ctx context.Context, s *session, c collection) error {
	err := checkInvalidMeta("finalizers",
		invalidValue{[]string{"example.com/bad finalizer!"}, badNamePart},
		invalidValue{[]string{"example.com/a/b"}, badLabelKey},
		invalidValue{[]string{"example.com/" + strings.Repeat("a", 64)}, longNamePart},
	)(ctx, s, c)
	if err != nil || c.resource != "widgets" { // built-in types allow only known finalizers without a prefix
		return err
	}
	const prefer = `metadata.finalizers: %q: prefer a domain-qualified finalizer %s to avoid accidental conflicts with other finalizer writers`
	bare := c.object("bare").withMeta("finalizers", []string{"bare", "bare.example.com", "orphan", "example.com/whole"})
	wantWarnings := warningsAre(fmt.Sprintf(prefer, "bare", "name"), fmt.Sprintf(prefer, "bare.example.com", "name including a path (/)"))
	if err := s.expect(ctx, post(c.path(), bare), code(201), wantWarnings); err != nil {
		return err
	}
	if err := s.expect(ctx, mergePatch(c.item("bare"), object{"metadata": object{"labels": object{"a": "b"}}}), code(200), warningsAre()); err != nil {
		return err // the finalizers are not new
	}
	return s.expect(ctx, mergePatch(c.item("bare"), object{"metadata": object{"finalizers": nil}}), code(200), noField("metadata", "finalizers"))
}

// ownerRef returns a reference to an owner that does not exist.
func ownerRef(number string) object {
	return object{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner-" + number, "uid": "00000000-0000-0000-0000-00000000000" + number}
}

func checkIncompleteOwners(ctx context.Context, s *session, c collection) error {
	for _, part := range []string{"apiVersion", "kind", "name", "uid"} {
		for _, refs := range [][]object{{ownerRef("1").with(part, "")}, {ownerRef("1"), ownerRef("2").with(part, "")}} {
			at := "metadata.ownerReferences[" + string(rune('0'+len(refs)-1)) + "]." + part
			err := s.expect(ctx, post(c.path(), c.object("a").withMeta("ownerReferences", refs)),
				c.invalid("a", metav1.CauseTypeFieldValueRequired, at, "must not be empty"))
			if err != nil {
				return err
			}
		}
	}
	return s.expect(ctx, post(c.path(), c.object("a").withMeta("ownerReferences", []object{ownerRef("1").with("apiVersion", "a/b/c")})),
		c.invalid("a", metav1.CauseTypeFieldValueInvalid, "metadata.ownerReferences[0].apiVersion", "must be <group>/<version> or <version>"))
}

func checkDuplicateOwners(ctx context.Context, s *session, c collection) error {
	const text = ".metadata.ownerReferences contains duplicate entries"
	merged := metadata(func(m metav1.ObjectMeta) error {
		if len(m.OwnerReferences) != 1 {
			return fmt.Errorf("expected one owner reference, got %v", m.OwnerReferences)
		}
		return nil
	})
	// The owner exists, so that a garbage collector does not delete the dependents.
	there, err := c.create(ctx, c.object("owner"))
	if err != nil {
		return err
	}
	twice := func(flag string) []object {
		ref := object{"apiVersion": c.apiVersion, "kind": c.kind, "name": "owner", "uid": there.UID, flag: false}
		return []object{ref, ref}
	}
	o, err := s.doObject(ctx, post(c.path(), c.object("a").withMeta("ownerReferences", twice("controller"))), code(201), merged, hasWarning(text))
	if err != nil {
		return err
	}
	update := c.object("a").withMeta("resourceVersion", o.ResourceVersion).withMeta("ownerReferences", twice("blockOwnerDeletion"))
	if err := s.expect(ctx, put(c.item("a"), update), code(200), merged, hasWarning(text)); err != nil {
		return err
	}
	patch := object{"metadata": object{"ownerReferences": twice("controller")}}
	return s.expect(ctx, mergePatch(c.item("a"), patch), code(200), merged, hasWarning(text))
}
