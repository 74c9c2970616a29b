package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleteOptionCases returns the cases about delete options (DL).
func deleteOptionCases() []Case {
	return slices.Concat(preconditionCases(), propagationCases(), deleteBodyCases(), onBoth(Case{
		ID: "DL-26", Level: Must, Title: "types without a grace period ignore gracePeriodSeconds",
		Why:    "clients send the same options for all types",
		Source: "apiserver rest/delete.go",
	}, checkIgnoredGrace), onBoth(Case{
		ID: "DL-34", Level: Must, Title: "deleting an object as unreadable is rejected if it can be read",
		Why:    "this option skips finalizers and preconditions",
		Source: "apiserver registry/generic/registry/corrupt_obj_deleter.go; KEP-3926",
	}, checkReadableDelete), onBoth(Case{
		ID: "DL-35", Level: Must, Title: "deleting an unreadable object allows no other options",
		Why:    "they could not be applied",
		Source: "API conventions, Force deletion; apimachinery meta/v1/validation",
	}, checkIgnoreReadErrorAlone), onBoth(Case{
		ID: "DL-35/collection", Level: Must, Title: "deletecollection of unreadable objects is rejected",
		Why:    "each object must be checked individually",
		Source: "apiserver handlers/delete.go",
	}, func(ctx context.Context, s *session, c collection) error {
		return s.expect(ctx, del(c.path()+"?"+ignoreReadError+"=true"), invalidDeleteOptions(metav1.StatusCause{
			Type: metav1.CauseTypeFieldValueInvalid, Field: ignoreReadError, Message: "is not allowed with DELETECOLLECTION",
		}).check)
	}))
}

// ignoreReadError is the option to delete objects that cannot be read.
const ignoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential"

// delWithOptions returns a DELETE with options in the body.
func delWithOptions(path string, options any) call {
	request := del(path)
	request.body = options
	return request
}

// invalidDeleteOptions is the failure of invalid delete options.
func invalidDeleteOptions(causes ...metav1.StatusCause) failure {
	return failure{
		code: 422, reason: metav1.StatusReasonInvalid, contains: `DeleteOptions.meta.k8s.io "" is invalid: `,
		details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "DeleteOptions"}, causes: causes,
	}
}

func preconditionCases() []Case {
	// stale returns a check that a deletion is rejected if its precondition names another object,
	// or another state of it.
	stale := func(precondition, noun, hint string) collectionCheck {
		return func(ctx context.Context, s *session, c collection) error {
			want := func(c collection, o metav1.PartialObjectMetadata) failure {
				record := map[string]string{"uid": string(o.UID), "resourceVersion": o.ResourceVersion}[precondition]
				return failure{
					code: 409, reason: metav1.StatusReasonConflict, details: &metav1.StatusDetails{Name: "a", Group: c.group, Kind: c.kind},
					message: fmt.Sprintf(`Operation cannot be fulfilled on %s "a": the %s in the precondition (1) does not match the %s in record (%s). %s`,
						c.groupKind(), noun, noun, record, hint),
				}
			}
			inBody := func(path string) call {
				return delWithOptions(path, object{"preconditions": object{precondition: "1"}})
			}
			if err := checkRejectedDelete(inBody, "", want)(ctx, s, c); err != nil {
				return err
			}
			other, err := c.inNewNamespace(ctx)
			if err != nil {
				return err
			}
			return checkRejectedDelete(del, "?"+precondition+"=1", want)(ctx, s, other)
		}
	}
	met := func(precondition string) collectionCheck {
		return func(ctx context.Context, s *session, c collection) error {
			o, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			have := map[string]any{"uid": o.UID, "resourceVersion": o.ResourceVersion}[precondition]
			err = s.expect(ctx, delWithOptions(c.item("a"), object{"preconditions": object{precondition: have}}), code(200), isDeletedStatus(c, o))
			if err != nil {
				return err
			}
			return c.expectNotFound(ctx, "a")
		}
	}
	const source = "apiserver rest/delete.go; API conventions, Concurrency Control"
	return slices.Concat([]Case{
		ifNamespaceLifecycle(Case{
			ID: "DL-10/namespace", Level: Must, Title: "DELETE of a namespace is rejected if its precondition names another uid, with the message of updates",
			Why:    "a new namespace of the same name must not be deleted instead of the old one",
			Source: "k/k registry/core/namespace/storage", check: checkNamespacePrecondition("uid", "UID"),
		}),
		ifNamespaceLifecycle(Case{
			ID: "DL-11/namespace", Level: Must, Title: "DELETE of a namespace is rejected if its precondition names another resourceVersion, with the message of updates",
			Why:    "the client decided by an outdated state",
			Source: "k/k registry/core/namespace/storage", check: checkNamespacePrecondition("resourceVersion", "ResourceVersion"),
		}),
	},
		onBoth(Case{
			ID: "DL-10", Level: Must, Title: "DELETE is rejected if its precondition names another uid",
			Why: "a new object of the same name must not be deleted instead of the old one", Source: source,
		}, stale("uid", "UID", "The object might have been deleted and then recreated")),
		onBoth(Case{
			ID: "DL-10/met", Level: Must, Title: "DELETE succeeds if its precondition names the current uid",
			Why: "garbage collectors delete this way", Source: source,
		}, met("uid")),
		onBoth(Case{
			ID: "DL-11", Level: Must, Title: "DELETE is rejected if its precondition names another resourceVersion",
			Why: "the client decided by an outdated state", Source: source,
		}, stale("resourceVersion", "ResourceVersion", "The object might have been modified")),
		onBoth(Case{
			ID: "DL-11/met", Level: Must, Title: "DELETE succeeds if its precondition names the current resourceVersion",
			Why: "leaders and schedulers delete this way", Source: source,
		}, met("resourceVersion")),
	)
}

// checkNamespacePrecondition checks a precondition for namespaces, which kube-apiserver handles
// with separate code.
func checkNamespacePrecondition(precondition, noun string) checkFunc {
	return func(ctx context.Context, s *session) error {
		name, body := s.nameNewNamespace()
		o, err := s.doObject(ctx, post("/api/v1/namespaces", body), code(201))
		if err != nil {
			return err
		}
		have := map[string]string{"uid": string(o.UID), "resourceVersion": o.ResourceVersion}[precondition]
		err = s.expect(ctx, delWithOptions(namespacePath(name), object{"preconditions": object{precondition: "1"}}), failure{
			code: 409, reason: metav1.StatusReasonConflict, details: &metav1.StatusDetails{Name: name, Kind: "namespaces"},
			message: fmt.Sprintf("Operation cannot be fulfilled on namespaces %q: Precondition failed: %s in precondition: 1, %s in object meta: %s",
				name, noun, noun, have),
		}.check)
		if err != nil {
			return err
		}
		return s.expect(ctx, get(namespacePath(name)), code(200), value(nil, "metadata", "deletionTimestamp"), field("Active", "status", "phase"))
	}
}

// checkRejectedDelete checks that a deletion is rejected and leaves the object unchanged.
func checkRejectedDelete(request func(string) call, query string, want func(collection, metav1.PartialObjectMetadata) failure) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		o, err := c.create(ctx, c.object("a"))
		if err != nil {
			return err
		}
		if err := s.expect(ctx, request(c.item("a")+query), want(c, o).check); err != nil {
			return err
		}
		return s.expect(ctx, get(c.item("a")), code(200), atResourceVersion(o.ResourceVersion), value(nil, "metadata", "deletionTimestamp"))
	}
}

// checkReadableDelete deletes objects as unreadable that can be read or do not exist.
func checkReadableDelete(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	for _, more := range []string{"", "&dryRun=All"} {
		query := "?" + ignoreReadError + "=true" + more
		err := s.expect(ctx, del(c.item("a")+query), failure{
			code: 409, reason: metav1.StatusReasonConflict, details: c.statusDetails("a"),
			contains: "unsafe deletion is not allowed because the object is decodable from storage",
		}.check)
		if err != nil {
			return err
		}
		if err := s.expect(ctx, del(c.item("b")+query), notFound(c, "b").check); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), atResourceVersion(o.ResourceVersion), value(nil, "metadata", "deletionTimestamp"))
}

func checkIgnoreReadErrorAlone(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for options, names := range sortedByKey(map[string][]string{
		"propagationPolicy=Background": {"propagationPolicy"},
		"gracePeriodSeconds=1":         {"gracePeriodSeconds"},
		"uid=1":                        {"preconditions"},
		"orphanDependents=false":       {"orphanDependents"},
		"propagationPolicy=Background&gracePeriodSeconds=1&uid=1": {"propagationPolicy", "gracePeriodSeconds", "preconditions"},
	}) {
		var causes []metav1.StatusCause
		for _, name := range names {
			causes = append(causes, metav1.StatusCause{
				Type: metav1.CauseTypeFieldValueInvalid, Field: ignoreReadError, Message: "Invalid value: true: cannot be set together with ." + name,
			})
		}
		if err := s.expect(ctx, del(c.item("a")+"?"+ignoreReadError+"=true&"+options), invalidDeleteOptions(causes...).check); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200))
}

func checkIgnoredGrace(ctx context.Context, s *session, c collection) error {
	for name, seconds := range sortedByKey(map[string]int{"long": 60, "none": 0, "negative": -5}) {
		o, err := c.create(ctx, c.object(name))
		if err != nil {
			return err
		}
		if err := s.expect(ctx, delWithOptions(c.item(name), object{"gracePeriodSeconds": seconds}), code(200), isDeletedStatus(c, o)); err != nil {
			return err
		}
		if err := c.expectNotFound(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
