package conformance

import (
	"context"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docFields = "Kubernetes documentation, Field Selectors; apimachinery fields"

// fieldSelectorCases returns the cases about the syntax of field selectors and the supported fields
// (SE-04 to SE-08, SE-13).
func fieldSelectorCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "SE-04", Level: Must, Title: "a field selector supports =, == and !=, and commas for AND",
			Why:    "kubelets and kubectl select by them",
			Source: docFields,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			return expectSelected(ctx, c, "fieldSelector", []selection{
				{"metadata.name=b", "b"}, {"metadata.name==b", "b"}, {"metadata.name!=b", "a c d e"},
				{"metadata.name!=b,metadata.name!=c", "a d e"}, {"metadata.name=a,metadata.name=b", ""},
			})
		})),
		onBoth(Case{
			ID: "SE-04/syntax", Level: Must, Title: "a field selector that cannot be parsed is a bad request",
			Why:    "the server would return everything or nothing",
			Source: docFields,
		}, checkInvalidSelectors("fieldSelector", map[string]string{
			"garbage":              "invalid selector: 'garbage'; can't understand 'garbage'",
			"metadata.name in (a)": "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'",
			"metadata.name=a,b":    "invalid selector: 'metadata.name=a,b'; can't understand 'b'",
		})),
		onBoth(Case{
			ID: "SE-05", Level: Must, Title: "field selectors support metadata.name and metadata.namespace",
			Why:    "all types support them",
			Source: docFields,
		}, checkNameAndNamespace),
		[]Case{
			{
				ID: "SE-05/cluster", Level: Must, Title: "field selectors support metadata.name for cluster-scoped types",
				Why:    "all types support it",
				Source: docFields, check: checkClusterScopedName,
			},
			{
				ID: "SE-06", Level: Must, Title: "a field selector for an unsupported field of a typed resource is a bad request",
				Why:    "it could never match",
				Source: "apimachinery runtime/conversion.go", check: checkUnknownTypedField,
			},
			onBasicCRs(Case{
				ID: "SE-07", Level: Must, Title: "a field selector for an unsupported field of a custom resource is a bad request",
				Why:    "it could never match",
				Source: "apiextensions customresource_handler.go",
			}, checkInvalidSelectors("fieldSelector", map[string]string{
				"spec.foo=x": "field label not supported: spec.foo", "metadata.uid=x": "field label not supported: metadata.uid",
			})),
			onBasicCRs(Case{
				ID: "SE-08", Level: Must, Title: "selectableFields of a CRD are supported in lists, watches and deletions",
				Why:    "CRDs declare them for this purpose",
				Source: "Kubernetes documentation, Custom Resources, field selection",
			}, checkSelectableFields),
			onBasicCRs(Case{
				ID: "SE-13/value", Level: Must, Title: `\, \= and \\ in a field selector are escaped characters`,
				Why:    "values may contain any character",
				Source: docFields,
			}, checkEscapedValues),
		},
		onBoth(Case{
			ID: "SE-13", Level: Must, Title: "a field selector accepts escaped commas, equals signs and backslashes, and rejects other escapes",
			Why:    "values may contain any character",
			Source: docFields,
		}, onFiveObjects(checkSelectorEscapes)),
	)
}

func checkNameAndNamespace(ctx context.Context, s *session, c collection) error {
	other, err := c.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	for _, in := range []collection{c, other} {
		for _, name := range []string{"a", "b"} {
			if _, err := in.create(ctx, in.object(name)); err != nil {
				return err
			}
		}
	}
	ownNamespace := "metadata.namespace=" + c.namespace
	if err := expectSelected(ctx, c, "fieldSelector", []selection{
		{"metadata.name=a", "a"}, {ownNamespace, "a b"}, {ownNamespace + ",metadata.name=b", "b"}, {"metadata.namespace=" + other.namespace, ""},
	}); err != nil {
		return err
	}
	for selector, names := range sortedByKey(map[string][]string{ownNamespace: {"a", "b"}, ownNamespace + ",metadata.name!=a": {"b"}}) {
		l, err := s.list(ctx, c.allNamespacesPath()+"?fieldSelector="+selector)
		if err != nil {
			return err
		}
		if err := l.expectNames(names...); err != nil {
			return err
		}
		if got := l.Items[0].Namespace; got != c.namespace {
			return l.response.errorf("expected objects of the namespace %s, got one of %s", c.namespace, got)
		}
	}
	return nil
}

func checkClusterScopedName(ctx context.Context, s *session) error {
	name, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	l, err := s.list(ctx, "/api/v1/namespaces?fieldSelector=metadata.name="+name)
	if err != nil {
		return err
	}
	return l.expectNames(name)
}

// checkUnknownTypedField selects ConfigMaps and Leases by a field. They support only metadata.name
// and metadata.namespace.
func checkUnknownTypedField(ctx context.Context, s *session) error {
	leases, err := s.leases(ctx)
	if err != nil {
		return err
	}
	want := failure{
		code: 400, reason: metav1.StatusReasonBadRequest,
		message: `"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"`,
	}
	for _, path := range []string{leases.path(), "/api/v1/namespaces/" + leases.namespace + "/configmaps"} {
		if err := s.expect(ctx, get(path+"?fieldSelector=spec.foo=x"), want.check); err != nil {
			return err
		}
	}
	return nil
}

func checkSelectableFields(ctx context.Context, s *session, c collection) error {
	const red = "fieldSelector=spec.color=red"
	w, err := watchFromNow(ctx, c, "&"+red)
	if err != nil {
		return err
	}
	defer w.close()
	for name, color := range sortedByKey(map[string]string{"a": "red", "b": "blue"}) {
		if _, err := c.create(ctx, c.withColor(name, color)); err != nil {
			return err
		}
	}
	if err := w.wantAdded("a"); err != nil {
		return err
	}
	if err := expectSelected(ctx, c, "fieldSelector", []selection{
		{"spec.color=red", "a"}, {"spec.color!=red", "b"}, {"spec.color=red,metadata.name=b", ""}, {"spec.color=green", ""},
	}); err != nil {
		return err
	}
	if _, err := s.doObject(ctx, mergePatch(c.item("b"), object{"spec": object{"color": "red"}}), code(200)); err != nil {
		return err
	}
	if err := w.wantAdded("b"); err != nil { // it matches now
		return err
	}
	if _, err := c.create(ctx, c.withColor("c", "blue")); err != nil {
		return err
	}
	if err := s.expect(ctx, del(c.path()+"?"+red), code(200)); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	return l.expectNames("c")
}

func checkEscapedValues(ctx context.Context, _ *session, c collection) error {
	for name, color := range sortedByKey(map[string]string{"a": `red,green`, "b": `red=green`, "c": `red\green`, "d": "red"}) {
		if _, err := c.create(ctx, c.withColor(name, color)); err != nil {
			return err
		}
	}
	return expectSelected(ctx, c, "fieldSelector", []selection{
		{`spec.color=red\,green`, "a"}, {`spec.color=red\=green`, "b"}, {`spec.color=red\\green`, "c"}, {`spec.color!=red\,green`, "b c d"},
	})
}

func checkSelectorEscapes(ctx context.Context, s *session, c collection) error {
	if err := expectSelected(ctx, c, "fieldSelector", []selection{
		{`metadata.name=a\,b`, ""}, {`metadata.name!=a\,b`, "a b c d e"}, {`metadata.name!=a\=b`, "a b c d e"},
		{`metadata.name!=a\\b`, "a b c d e"}, {`metadata.name!=a\,b,metadata.name!=b`, "a c d e"},
	}); err != nil {
		return err
	}
	for selector, text := range sortedByKey(map[string]string{
		`metadata.name!=a\b`: `invalid field selector: invalid escape sequence: \b`,
		`metadata.name!=a=b`: "invalid field selector: unescaped character in value: 61",
	}) {
		want := failure{code: 400, reason: metav1.StatusReasonBadRequest, message: text}
		if err := s.expect(ctx, get(c.path()+"?fieldSelector="+url.QueryEscape(selector)), want.check); err != nil {
			return err
		}
	}
	return nil
}
