package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docConcurrency = "API conventions, Concurrency Control and Consistency"
	docUpdate      = "apiserver registry/generic/registry/store.go"
)

// concurrencyCases returns the cases about PUT and resourceVersions (OC-01 to OC-07, OC-15 to
// OC-17, OC-19).
func concurrencyCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "OC-01", Level: Must, Title: "resourceVersion changes at every stored change, and not at reads",
			Why:    "clients detect changes by it",
			Source: docConcurrency,
		}, checkVersionOfEachChange),
		onBoth(Case{
			ID: "OC-02", Level: Must, Title: "PUT with another resourceVersion than the current one is a Conflict",
			Why:    "it would revert changes that the client has not seen",
			Source: docConcurrency,
		}, func(ctx context.Context, s *session, c collection) error {
			old, err := createAndChange(ctx, c)
			if err != nil {
				return err
			}
			later, err := unreachedVersion(old)
			if err != nil {
				return err
			}
			for _, version := range []string{old, later, "1"} {
				if err := s.expect(ctx, put(c.item("a"), c.object("a").withMeta("resourceVersion", version)), modifiedConflict(c, "a").check); err != nil {
					return err
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "OC-03", Level: Must, Title: "PUT of an unchanged object keeps the resourceVersion and sends no watch event",
			Why:    "controllers that repeat their writes would otherwise trigger each other forever",
			Source: "Kubernetes API Concepts; apiserver storage/etcd3",
		}, checkNoopPut),
		[]Case{
			onSecrets(Case{
				ID: "OC-04/typed", Level: Must, Title: "PUT without a resourceVersion overwrites, if the type allows it",
				Why:    "kubectl replace relies on it",
				Source: docUpdate,
			}, func(ctx context.Context, s *session, c collection) error {
				if _, err := createAndChange(ctx, c); err != nil {
					return err
				}
				for _, none := range []any{nil, "", "0"} {
					if err := s.expect(ctx, put(c.item("a"), c.object("a").withMeta("resourceVersion", none)), code(200), noField("metadata", "annotations")); err != nil {
						return err
					}
				}
				return nil
			}),
			{
				ID: "OC-04/lease", Level: Must, Title: "PUT without a resourceVersion is invalid for types that require one",
				Why:    "leaders would overwrite each other's leases",
				Source: docUpdate, check: func(ctx context.Context, s *session) error {
					c, err := s.leases(ctx, "a")
					if err != nil {
						return err
					}
					return checkUnversionedPut(ctx, s, c)
				},
			},
			onBasicCRs(Case{
				ID: "OC-04/custom", Level: Must, Title: "PUT of a custom resource without a resourceVersion is invalid",
				Why:    "it would revert changes that the client has not seen",
				Source: docUpdate,
			}, func(ctx context.Context, s *session, c collection) error {
				if _, err := c.create(ctx, c.object("a")); err != nil {
					return err
				}
				return checkUnversionedPut(ctx, s, c)
			}),
		},
		onBoth(Case{
			ID: "OC-05", Level: Must, Title: "PUT of an object that does not exist is NotFound, with or without a resourceVersion or uid",
			Why:    "an update that follows a deletion must not recreate the object",
			Source: docUpdate,
		}, func(ctx context.Context, s *session, c collection) error {
			deleted := failure{
				code: 404, reason: metav1.StatusReasonNotFound, details: c.statusDetails("a"),
				message: fmt.Sprintf("%s %q not found", c.groupResource(), "a"),
			}.check
			for _, body := range []object{
				c.object("a"),
				c.object("a").withMeta("resourceVersion", "5"),
				c.object("a").withMeta("uid", otherUID),
			} {
				if err := s.expect(ctx, put(c.item("a"), body), deleted); err != nil {
					return err
				}
			}
			return nil
		}),
		[]Case{{
			ID: "OC-21", Level: Must, Title: "PUT of an object that does not exist creates it, if the type allows it",
			Why:    "clients of these types create objects by PUT",
			Source: docUpdate, check: func(ctx context.Context, s *session) error {
				c, err := s.leases(ctx)
				if err != nil {
					return err
				}
				return checkPutCreates(ctx, s, c)
			},
		}},
		onBoth(Case{
			ID: "OC-06", Level: Must, Title: "PUT with the uid of another object is a Conflict",
			Why:    "the object was replaced by another of the same name",
			Source: "apiserver storage/interfaces.go, preconditions",
		}, func(ctx context.Context, s *session, c collection) error {
			o, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			body := c.object("a").withMeta("uid", otherUID).withMeta("resourceVersion", o.ResourceVersion).withLabel("a", "b")
			err = s.expect(ctx, put(c.item("a"), body), failure{
				code: 409, reason: metav1.StatusReasonConflict, details: c.statusDetails("a"),
				contains: fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", otherUID, o.UID),
			}.check)
			if err != nil {
				return err
			}
			return s.expect(ctx, put(c.item("a"), c.object("a").withMeta("uid", o.UID).withMeta("resourceVersion", o.ResourceVersion)), code(200))
		}),
		onBoth(Case{
			ID: "OC-07", Level: Must, Title: "PUT with an invalid resourceVersion fails, and so does an apply that would create",
			Why:    "nothing may be overwritten by mistake",
			Source: "apiserver storage/etcd3",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			for _, none := range []string{"abc", "-4", "5.0"} {
				if err := s.expect(ctx, put(c.item("a"), c.object("a").withMeta("resourceVersion", none)), isUnparsableVersion(none)); err != nil {
					return err
				}
				if err := s.expect(ctx, apply(c.item("absent"), c.object("absent").withMeta("resourceVersion", none)), isUnparsableVersion(none)); err != nil {
					return err
				}
			}
			return s.expect(ctx, get(c.item("absent")), code(404))
		}),
		onBoth(Case{
			ID: "OC-15", Level: Must, Title: "a rejected write leaves the object unchanged",
			Why:    "clients expect no effect of a failed request",
			Source: docConcurrency,
		}, checkRejectedWrites),
		onBoth(Case{
			ID: "OC-16", Level: Must, Title: "PUT of a state that was read before another client's change does not revert that change",
			Why:    "updates would be lost",
			Source: docConcurrency,
		}, checkLostUpdate),
		onBoth(Case{
			ID: "OC-17", Level: Must, Title: "PUT is answered 200 with the updated object",
			Why:    "the client continues with it",
			Source: docVerbs,
		}, func(ctx context.Context, s *session, c collection) error {
			o, err := c.create(ctx, c.object("a").withLabel("old", "1"))
			if err != nil {
				return err
			}
			body := c.object("a").withMeta("resourceVersion", o.ResourceVersion).withLabel("new", "1")
			r, err := s.do(ctx, put(c.item("a"), body), code(200), kind(c.apiVersion, c.kind), hasUID(o.UID), fieldNot(o.ResourceVersion, "metadata", "resourceVersion"),
				field("1", "metadata", "labels", "new"), noField("metadata", "labels", "old"))
			if err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), hasSameBody(r))
		}),
	)
}

// otherUID is a uid that no object has.
const otherUID = "00000000-1111-2222-3333-444444444444"

// isUnparsableVersion expects the error of a write with an invalid resourceVersion.
func isUnparsableVersion(sent string) expectation {
	return failure{code: 500, message: fmt.Sprintf("strconv.ParseUint: parsing %q: invalid syntax", sent)}.check
}

// hasSameBody expects the same document as in another response.
func hasSameBody(as *response) expectation {
	return func(r *response) error {
		if !equalJSON(r.body, as.body) {
			return fmt.Errorf("expected the same response as from %s: %s", as.method, excerpt(as.body))
		}
		return nil
	}
}

// createAndChange creates and changes an object, and returns its first resourceVersion.
func createAndChange(ctx context.Context, c collection) (string, error) {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return "", err
	}
	_, err = c.annotate(ctx, "a", "changed")
	return o.ResourceVersion, err
}

func checkVersionOfEachChange(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	seen := []string{o.ResourceVersion}
	for _, value := range []string{"1", "2", "1"} {
		if err := s.expect(ctx, get(c.item("a")), code(200), atResourceVersion(seen[len(seen)-1])); err != nil {
			return err
		}
		if o, err = c.annotate(ctx, "a", value); err != nil {
			return err
		}
		if slices.Contains(seen, o.ResourceVersion) {
			return fmt.Errorf("PATCH %s: expected a new resourceVersion, got %s again", c.item("a"), o.ResourceVersion)
		}
		seen = append(seen, o.ResourceVersion)
	}
	body := c.object("a").withMeta("resourceVersion", o.ResourceVersion)
	if o, err = s.doObject(ctx, put(c.item("a"), body), code(200), fieldNot(o.ResourceVersion, "metadata", "resourceVersion")); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), atResourceVersion(o.ResourceVersion))
}

func checkNoopPut(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a").withLabel("a", "b")); err != nil {
		return err
	}
	now, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	var o metav1.PartialObjectMetadata
	if err := now.decode(&o); err != nil {
		return err
	}
	w, err := watchFromNow(ctx, c, "")
	if err != nil {
		return err
	}
	defer w.close()
	for range 2 {
		if err := s.expect(ctx, put(c.item("a"), string(now.body)), code(200), atResourceVersion(o.ResourceVersion)); err != nil {
			return err
		}
	}
	changed, err := c.annotate(ctx, "a", "changed")
	if err != nil {
		return err
	}
	return w.wantAt("MODIFIED", "a", changed.ResourceVersion)
}

// checkUnversionedPut expects that PUT of the object a without a resourceVersion is invalid.
func checkUnversionedPut(ctx context.Context, s *session, c collection) error {
	const text = "Invalid value: 0: must be specified for an update"
	for _, none := range []any{nil, "", "0"} {
		err := s.expect(ctx, put(c.item("a"), c.object("a").withMeta("resourceVersion", none)), failure{
			code: 422, reason: metav1.StatusReasonInvalid, details: c.statusDetails("a"),
			message: fmt.Sprintf("%s %q is invalid: metadata.resourceVersion: %s", c.groupResource(), "a", text),
			causes:  []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.resourceVersion", Message: text}},
		}.check)
		if err != nil {
			return err
		}
	}
	return nil
}

func checkPutCreates(ctx context.Context, s *session, c collection) error {
	if err := s.expect(ctx, put(c.item("a"), c.object("a").withMeta("resourceVersion", "abc")), isUnparsableVersion("abc")); err != nil {
		return err
	}
	if err := s.expect(ctx, put(c.item("b"), c.object("b").withMeta("resourceVersion", "5")), code(201), fieldNot("5", "metadata", "resourceVersion")); err != nil {
		return err
	}
	r, err := s.do(ctx, put(c.item("a"), c.object("a")), code(http.StatusCreated), kind(c.apiVersion, c.kind), matchesPattern(uuidPattern, "metadata", "uid"))
	if err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), hasSameBody(r))
}

func checkRejectedWrites(ctx context.Context, s *session, c collection) error {
	old, err := createAndChange(ctx, c)
	if err != nil {
		return err
	}
	before, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	for _, write := range []call{
		put(c.item("a"), c.object("a").withMeta("resourceVersion", old).withLabel("refused", "yes")),
		put(c.item("a"), c.object("a").withMeta("uid", otherUID).withLabel("refused", "yes")),
		put(c.item("a"), c.object("b").withLabel("refused", "yes")),
		mergePatch(c.item("a"), object{"metadata": object{"resourceVersion": old, "labels": object{"refused": "yes"}}}),
		mergePatch(c.item("a"), object{"metadata": object{"labels": object{"refused": "y e s"}}}),
		apply(c.item("a"), c.object("a").withMeta("resourceVersion", old).withLabel("refused", "yes")),
		post(c.path(), c.object("a").withLabel("refused", "yes")),
	} {
		if err := s.expect(ctx, write, code(400, 409, 422)); err != nil {
			return err
		}
		if err := s.expect(ctx, get(c.item("a")), code(200), hasSameBody(before)); err != nil {
			return err
		}
	}
	return nil
}

func checkLostUpdate(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	var mine object
	r, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	if err := r.decode(&mine); err != nil {
		return err
	}
	if _, err := c.setLabel(ctx, "a", "theirs", "yes"); err != nil {
		return err
	}
	mine["metadata"].(map[string]any)["annotations"] = object{"mine": "yes"}
	if err := s.expect(ctx, put(c.item("a"), mine), modifiedConflict(c, "a").check); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), field("yes", "metadata", "labels", "theirs"), noField("metadata", "annotations"))
}
