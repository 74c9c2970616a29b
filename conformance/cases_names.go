package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docMetadata   = "API conventions, Metadata"
	docIdempotent = "API conventions, Idempotency"
	docCreate     = "apiserver registry/rest/create.go"
)

// nameCases returns the cases about unique and generated names (NM).
func nameCases() []Case {
	return slices.Concat([]Case{
		onSecrets(Case{
			ID: "NM-01", Level: Must, Title: "a name can be used again in another namespace and by another type",
			Why:    "names are unique within a namespace and type only",
			Source: docMetadata,
		}, checkReuseName),
	},
		onBoth(Case{
			ID: "NM-02", Level: Must, Title: "a create under a used name is rejected as AlreadyExists",
			Why:    "create-if-absent depends on this response",
			Source: docIdempotent,
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.expect(ctx, post(c.path(), c.object("a")), alreadyExists(c, "a", "").check)
		}),
		onBoth(Case{
			ID: "NM-03", Level: Must, Title: "while the object of that name is terminating, the error states it",
			Why:    "a client can decide whether to wait",
			Source: "apiserver registry/generic/registry/store.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a").withFinalizer()); err != nil {
				return err
			}
			if err := s.expect(ctx, del(c.item("a")), code(200)); err != nil {
				return err
			}
			return s.expect(ctx, post(c.path(), c.object("a")), alreadyExists(c, "a", "object is being deleted: ").check)
		}),
		onBoth(Case{
			ID: "NM-04", Level: Must, Title: "a create with neither name nor generateName is invalid",
			Why:    "the cause names the missing field",
			Source: docCreate,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, post(c.path(), c.object("")), failure{
				code: 422, reason: metav1.StatusReasonInvalid,
				message: c.groupKind() + ` "" is invalid: metadata.name: Required value: name or generateName is required`,
				details: &metav1.StatusDetails{Group: c.group, Kind: c.kind},
				causes: []metav1.StatusCause{{
					Type: metav1.CauseTypeFieldValueRequired, Field: "metadata.name",
					Message: "Required value: name or generateName is required",
				}},
			}.check)
		}),
		onBoth(Case{
			ID: "NM-05", Level: Must, Title: "with generateName alone the server appends five characters and keeps generateName",
			Why:    "the client reads the name from the response",
			Source: docIdempotent,
		}, func(ctx context.Context, s *session, c collection) error {
			return expectGeneratedName(ctx, c, "base-", "base-")
		}),
		onBoth(Case{
			ID: "NM-06", Level: Must, Title: "a long generateName is truncated so that the name has at most 63 characters",
			Why:    "the name must be valid as a label value and a DNS label",
			Source: "apiserver pkg/storage/names",
		}, func(ctx context.Context, s *session, c collection) error {
			long := strings.Repeat("abcdefghij", 7)
			return expectGeneratedName(ctx, c, long, long[:58])
		}),
		onBoth(Case{
			ID: "NM-07", Level: Must, Title: "with both name and generateName, name is used and generateName is stored",
			Why:    "objects that were read from another server have both",
			Source: docCreate,
		}, func(ctx context.Context, s *session, c collection) error {
			hasNames := []expectation{field("a", "metadata", "name"), field("base-", "metadata", "generateName")}
			return s.expectAll(ctx,
				send(post(c.path(), c.object("a").withMeta("generateName", "base-")), append(hasNames, code(201))...),
				send(get(c.item("a")), append(hasNames, code(200))...),
			)
		}),
		onBoth(Case{
			ID: "NM-09", Level: Must, Title: "a used name together with generateName is rejected as AlreadyExists with a retry delay",
			Why:    "the client may retry and get another name",
			Source: "apiserver registry/generic/registry/store.go; apimachinery errors.NewGenerateNameConflict",
		}, checkGenerateNameConflict),
		onBoth(Case{
			ID: "NM-10", Level: Must, Title: "generated characters are consonants and unambiguous digits",
			Why:    "names are read aloud, and must not form words",
			Source: "apimachinery pkg/util/rand",
		}, checkGeneratedAlphabet),
	)
}

// alreadyExists is the failure of a create under a used name.
func alreadyExists(c collection, name, prefix string) failure {
	return failure{
		code: 409, reason: metav1.StatusReasonAlreadyExists,
		message: fmt.Sprintf("%s%s %q already exists", prefix, c.groupResource(), name), details: c.statusDetails(name),
	}
}

func checkReuseName(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	other, err := c.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	if _, err := other.create(ctx, other.object("a")); err != nil {
		return err
	}
	maps := c
	maps.kind, maps.resource = "ConfigMap", "configmaps"
	_, err = maps.create(ctx, maps.object("a"))
	return err
}

// expectGeneratedName creates an object with a generateName, and expects a name of a prefix and
// five more characters.
func expectGeneratedName(ctx context.Context, c collection, generateName, prefix string) error {
	r, err := c.s.do(ctx, post(c.path(), c.object("").withMeta("generateName", generateName)), code(201),
		field(generateName, "metadata", "generateName"))
	if err != nil {
		return err
	}
	var o metav1.PartialObjectMetadata
	if err := r.decode(&o); err != nil {
		return err
	}
	if suffix, ok := strings.CutPrefix(o.Name, prefix); !ok || len(suffix) != 5 {
		return r.errorf("expected the name to be %q and five characters, got %q", prefix, o.Name)
	}
	return c.s.expect(ctx, get(c.item(o.Name)), code(200), field(string(o.UID), "metadata", "uid"))
}

func checkGenerateNameConflict(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	want := alreadyExists(c, "a", "")
	want.message += ", the server was not able to generate a unique name for the object"
	want.details.RetryAfterSeconds = 1
	r, err := s.do(ctx, post(c.path(), c.object("a").withMeta("generateName", "base-")), want.check)
	if err != nil {
		return err
	}
	if got := r.header.Get("Retry-After"); got != "1" {
		return r.errorf("expected the header Retry-After: 1, got %q", got)
	}
	return nil
}

func checkGeneratedAlphabet(ctx context.Context, _ *session, c collection) error {
	for range 5 {
		o, err := c.create(ctx, c.object("").withMeta("generateName", "base-"))
		if err != nil {
			return err
		}
		suffix := strings.TrimPrefix(o.Name, "base-")
		if strings.Trim(suffix, "bcdfghjklmnpqrstvwxz2456789") != "" {
			return fmt.Errorf("POST %s: expected only characters of bcdfghjklmnpqrstvwxz2456789 after %q, got %q", c.path(), "base-", o.Name)
		}
	}
	return nil
}
