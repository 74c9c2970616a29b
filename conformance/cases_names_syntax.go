package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docNames = "Object Names and IDs; apimachinery api/validation"

// nameSyntaxCases returns the cases about the syntax of names, and names in bodies and URLs (NM).
func nameSyntaxCases() []Case {
	return slices.Concat([]Case{
		{
			ID: "NM-13/segment", Level: Must, Title: "a name that cannot be a path segment is rejected even if the type allows other names",
			Why:    "the object could not be addressed",
			Source: "apimachinery api/validation/path", check: checkPathSegmentNames,
		},
		{
			ID: "NM-14/dots", Level: Must, Title: "the name of a namespace contains no dots",
			Why:    "it is one DNS label",
			Source: docNames, check: checkInvalidNamespaceName("a.b", "must not contain dots"),
		},
		{
			ID: "NM-14/long", Level: Must, Title: "the name of a namespace has at most 63 characters",
			Why:    "it is one DNS label",
			Source: docNames, check: checkInvalidNamespaceName(strings.Repeat("a", 63), "must be no more than 63"),
		},
		{
			ID: "NM-19", Level: Must, Title: "the namespace of a cluster-scoped object is cleared",
			Why:    "the object has no namespace, but manifests set it for all their objects",
			Source: "apiserver registry/rest/meta.go", check: checkNamespaceOfClusterScoped,
		},
	},
		onBoth(Case{
			ID: "NM-11", Level: Must, Title: "a name that is not an RFC 1123 subdomain is invalid",
			Why:    "the name must be valid in URLs, file names and DNS",
			Source: docNames,
		}, checkInvalidNames("a lowercase RFC 1123 subdomain must consist of", "Bad_Name", "-a", "a..b")),
		onBoth(Case{
			ID: "NM-12", Level: Must, Title: "a name of more than 253 characters is invalid",
			Why:    "the name must be valid in URLs, file names and DNS",
			Source: docNames,
		}, checkInvalidNames("must be no more than 253", strings.Repeat("a", 254))),
		onBoth(Case{
			ID: "NM-13", Level: Must, Title: "a name with a slash or a percent sign, or of only dots, is rejected",
			Why:    "the object could not be addressed",
			Source: docNames,
		}, checkInvalidNames("", "a/b", "a%b", ".", "..")),
		onBoth(Case{
			ID: "NM-15", Level: Must, Title: "PUT with another name in the body than in the URL is rejected",
			Why:    "the wrong object could be overwritten",
			Source: "apiserver handlers/update.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, put(c.item("a"), c.object("b")), badRequest("the name of the object (b) does not match the name on the URL (a)"))
		}),
		onBoth(Case{
			ID: "NM-16", Level: Must, Title: "PUT without a name in the body is rejected",
			Why:    "the body was probably written for another request",
			Source: "apiserver handlers/rest.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, put(c.item("a"), c.object("")),
				badRequest("the name of the object (a based on URL) was undeterminable: name must be provided"))
		}),
		onBoth(Case{
			ID: "NM-17", Level: Must, Title: "another namespace in the body than in the URL is rejected",
			Why:    "the object would be created in an unexpected namespace",
			Source: docCreate,
		}, checkOtherNamespaceInBody),
		onBoth(Case{
			ID: "NM-18", Level: Must, Title: "an object without a namespace gets that of the URL",
			Why:    "manifests often omit it",
			Source: docMetadata,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, post(c.path(), c.object("a")), code(201), field(c.namespace, "metadata", "namespace"))
		}),
		onBoth(Case{
			ID: "NM-20", Level: Must, Title: "a patch that changes the name is rejected",
			Why:    "names are immutable",
			Source: "apiserver handlers/rest.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.expect(ctx, mergePatch(c.item("a"), object{"metadata": object{"name": "b"}}),
				badRequest("the name of the object (b) does not match the name on the URL (a)"))
		}),
		onBoth(Case{
			ID: "NM-21/existing", Level: Must, Title: "an apply to an existing object may omit the name",
			Why:    "the URL contains it",
			Source: "apiserver handlers/patch.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.expect(ctx, apply(c.item("a"), c.object("").withLabel("applied", "yes")), code(200),
				field("a", "metadata", "name"), field("yes", "metadata", "labels", "applied"))
		}),
		onBoth(Case{
			ID: "NM-22", Level: Must, Title: "a generateName with invalid characters is invalid, and so is the generated name",
			Why:    "the client learns which field to fix",
			Source: docNames,
		}, checkInvalidGenerateName),
		// kube-apiserver 1.37 rejects it because the object to create has no name. Clients rely
		// only on the fact that no other object is created.
		onBoth(Case{
			ID: "NM-21/absent", Level: Must, Title: "an apply without a name never creates an object under another name than that of the URL",
			Why:    "the client could not find the object",
			Source: "apiserver handlers/patch.go and rest.go",
		}, checkNamelessApply),
	)
}

// badRequest expects a BadRequest with a message.
func badRequest(message string) expectation {
	return failure{code: 400, reason: metav1.StatusReasonBadRequest, message: message}.check
}

// checkInvalidNames checks that creates with these names are invalid, with a message that contains
// a text.
func checkInvalidNames(text string, names ...string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for _, name := range names {
			if err := s.expect(ctx, post(c.path(), c.object(name)), invalidName(c, name, text).check); err != nil {
				return err
			}
		}
		return nil
	}
}

// invalidName is the failure of a create with an invalid name. The causes are not compared, because
// a name may violate several rules.
func invalidName(c collection, name, text string) failure {
	return failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: name, Group: c.group, Kind: c.kind},
		contains: fmt.Sprintf("metadata.name: Invalid value: %q: %s", name, text),
	}
}

func checkPathSegmentNames(ctx context.Context, s *session) error {
	c, err := s.roles(ctx)
	if err != nil {
		return err
	}
	for name, text := range sortedByKey(map[string]string{
		"a/b": "may not contain '/'", "a%b": "may not contain '%'", ".": "may not be '.'", "..": "may not be '..'",
	}) {
		if err := s.expect(ctx, post(c.path(), c.object(name)), invalidName(c, name, text).check); err != nil {
			return err
		}
	}
	return nil
}

// checkInvalidNamespaceName checks the name of a namespace that begins with the prefix of the run,
// in case the server accepts it.
func checkInvalidNamespaceName(rest, text string) checkFunc {
	return func(ctx context.Context, s *session) error {
		name := s.run.prefix() + rest
		return s.expect(ctx, post("/api/v1/namespaces", newObject("v1", "Namespace", name)), invalidName(collection{kind: "Namespace"}, name, text).check)
	}
}

func checkNamespaceOfClusterScoped(ctx context.Context, s *session) error {
	name := s.run.prefix() + "cluster-scoped"
	path := "/api/v1/namespaces/" + name
	s.track(path)
	wrongNamespace := func() object { return newObject("v1", "Namespace", name).withMeta("namespace", "somewhere") }
	cleared := noField("metadata", "namespace")
	if err := s.expect(ctx, post("/api/v1/namespaces", wrongNamespace()), code(201), cleared); err != nil {
		return err
	}
	for _, write := range []call{
		put(path, wrongNamespace()),
		mergePatch(path, object{"metadata": object{"namespace": "somewhere"}}),
		apply(path, wrongNamespace()),
		get(path),
	} {
		if err := s.expect(ctx, write, code(200), cleared); err != nil {
			return err
		}
	}
	return nil
}

func checkOtherNamespaceInBody(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for _, one := range []call{
		post(c.path(), c.object("b").withMeta("namespace", "elsewhere")),
		put(c.item("a"), c.object("a").withMeta("namespace", "elsewhere")),
	} {
		err := s.expect(ctx, one, badRequest("the namespace of the provided object does not match the namespace sent on the request"))
		if err != nil {
			return err
		}
	}
	return nil
}

func checkNamelessApply(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, apply(c.item("a"), c.object("")), code(201, 400))
	if err != nil {
		return err
	}
	if r.code == 400 {
		err = r.expect(badRequest("the name of the object (a based on URL) was undeterminable: name must be provided"))
	} else {
		err = r.expect(field("a", "metadata", "name"))
	}
	if err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if r.code == 400 {
		return l.expectNames()
	}
	return l.expectNames("a")
}

func checkInvalidGenerateName(ctx context.Context, s *session, c collection) error {
	const text = "a lowercase RFC 1123 subdomain must consist of"
	err := s.expect(ctx, post(c.path(), c.object("").withMeta("generateName", "BAD_")), failure{
		code: 422, reason: metav1.StatusReasonInvalid, contains: c.groupKind() + ` "BAD_`,
		causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.generateName", Message: text},
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.name", Message: text},
		},
	}.check)
	if err != nil {
		return err
	}
	for _, fine := range []string{"dash-", "two--"} {
		if err := expectGeneratedName(ctx, c, fine, fine); err != nil {
			return err
		}
	}
	return nil
}
