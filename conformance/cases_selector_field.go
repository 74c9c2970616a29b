package conformance

import (
	"context"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docFields = "Kubernetes documentation, Field Selectors; apimachinery fields"

// fieldSelectorCases are about the language of field selectors, and about the fields there are (SE-04 to SE-08, SE-13).
func fieldSelectorCases() []Case {
	return slices.Concat(
		both(Case{
			ID: "SE-04", Level: Must, Title: "a field selector knows =, ==, != and commas that mean AND",
			Why:    "kubelets and kubectl select by them",
			Source: docFields,
		}, onFive(func(ctx context.Context, s *session, c collection) error {
			return selected(ctx, c, "fieldSelector", []selection{
				{"metadata.name=b", "b"}, {"metadata.name==b", "b"}, {"metadata.name!=b", "a c d e"},
				{"metadata.name!=b,metadata.name!=c", "a d e"}, {"metadata.name=a,metadata.name=b", ""},
			})
		})),
		both(Case{
			ID: "SE-04/syntax", Level: Must, Title: "a field selector that cannot be parsed is a bad request",
			Why:    "everything or nothing would come in place of what was meant",
			Source: docFields,
		}, badSelectors("fieldSelector", map[string]string{
			"garbage":              "invalid selector: 'garbage'; can't understand 'garbage'",
			"metadata.name in (a)": "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'",
			"metadata.name=a,b":    "invalid selector: 'metadata.name=a,b'; can't understand 'b'",
		})),
		both(Case{
			ID: "SE-05", Level: Must, Title: "metadata.name and metadata.namespace can be selected by",
			Why:    "they are the only fields that every type has",
			Source: docFields,
		}, nameAndNamespace),
		[]Case{
			{
				ID: "SE-05/cluster", Level: Must, Title: "metadata.name can be selected by for cluster-scoped types too",
				Why:    "they are the only fields that every type has",
				Source: docFields, check: clusterScopedName,
			},
			{
				ID: "SE-06", Level: Must, Title: "a field that a typed resource does not select by is a bad request",
				Why:    "it would match nothing for ever",
				Source: "apimachinery runtime/conversion.go", check: unknownTypedField,
			},
			onWidgets(Case{
				ID: "SE-07", Level: Must, Title: "a field that a custom resource does not select by is a bad request",
				Why:    "it would match nothing for ever",
				Source: "apiextensions customresource_handler.go",
			}, badSelectors("fieldSelector", map[string]string{
				"spec.foo=x": "field label not supported: spec.foo", "metadata.uid=x": "field label not supported: metadata.uid",
			})),
			onWidgets(Case{
				ID: "SE-08", Level: Must, Title: "selectableFields of a definition can be selected by in lists, watches and deletions",
				Why:    "it is what they are declared for",
				Source: "Kubernetes documentation, Custom Resources, field selection",
			}, selectableFields),
			onWidgets(Case{
				ID: "SE-13/value", Level: Must, Title: `\, \= and \\ in a field selector stand for the characters themselves`,
				Why:    "values are anything, and clients escape them",
				Source: docFields,
			}, escapedValues),
		},
		both(Case{
			ID: "SE-13", Level: Must, Title: "a field selector takes escaped commas, equals signs and backslashes, and refuses others",
			Why:    "values are anything, and clients escape them",
			Source: docFields,
		}, onFive(escapes)),
	)
}

func nameAndNamespace(ctx context.Context, s *session, c collection) error {
	other, err := c.sibling(ctx)
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
	here := "metadata.namespace=" + c.namespace
	if err := selected(ctx, c, "fieldSelector", []selection{
		{"metadata.name=a", "a"}, {here, "a b"}, {here + ",metadata.name=b", "b"}, {"metadata.namespace=" + other.namespace, ""},
	}); err != nil {
		return err
	}
	for selector, names := range inOrder(map[string][]string{here: {"a", "b"}, here + ",metadata.name!=a": {"b"}}) {
		l, err := s.list(ctx, c.everywhere()+"?fieldSelector="+selector)
		if err != nil {
			return err
		}
		if err := l.has(names...); err != nil {
			return err
		}
		if got := l.Items[0].Namespace; got != c.namespace {
			return l.from.errorf("expected objects of the namespace %s, got one of %s", c.namespace, got)
		}
	}
	return nil
}

func clusterScopedName(ctx context.Context, s *session) error {
	name, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	l, err := s.list(ctx, "/api/v1/namespaces?fieldSelector=metadata.name="+name)
	if err != nil {
		return err
	}
	return l.has(name)
}

// unknownTypedField asks ConfigMaps and Leases, which have no fields of their own to select by, as Secrets have.
func unknownTypedField(ctx context.Context, s *session) error {
	leases, err := s.leases(ctx)
	if err != nil {
		return err
	}
	want := refusal{
		code: 400, reason: metav1.StatusReasonBadRequest,
		message: `"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"`,
	}
	for _, path := range []string{leases.path(), "/api/v1/namespaces/" + leases.namespace + "/configmaps"} {
		if err := s.try(ctx, get(path+"?fieldSelector=spec.foo=x"), want.check); err != nil {
			return err
		}
	}
	return nil
}

// colored is a Widget with the field that its definition selects by.
func colored(c collection, name, color string) object {
	o := c.object(name)
	o["spec"] = object{"color": color}
	return o
}

func selectableFields(ctx context.Context, s *session, c collection) error {
	const red = "fieldSelector=spec.color=red"
	w, err := watchFromNow(ctx, c, "&"+red)
	if err != nil {
		return err
	}
	defer w.close()
	for name, color := range inOrder(map[string]string{"a": "red", "b": "blue"}) {
		if _, err := c.create(ctx, colored(c, name, color)); err != nil {
			return err
		}
	}
	if err := w.wantAdded("a"); err != nil {
		return err
	}
	if err := selected(ctx, c, "fieldSelector", []selection{
		{"spec.color=red", "a"}, {"spec.color!=red", "b"}, {"spec.color=red,metadata.name=b", ""}, {"spec.color=green", ""},
	}); err != nil {
		return err
	}
	if _, err := s.object(ctx, mergePatch(c.item("b"), object{"spec": object{"color": "red"}}), code(200)); err != nil {
		return err
	}
	if err := w.wantAdded("b"); err != nil { // it begins to match
		return err
	}
	if _, err := c.create(ctx, colored(c, "c", "blue")); err != nil {
		return err
	}
	if err := s.try(ctx, del(c.path()+"?"+red), code(200)); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	return l.has("c")
}

func escapedValues(ctx context.Context, _ *session, c collection) error {
	for name, color := range inOrder(map[string]string{"a": `red,green`, "b": `red=green`, "c": `red\green`, "d": "red"}) {
		if _, err := c.create(ctx, colored(c, name, color)); err != nil {
			return err
		}
	}
	return selected(ctx, c, "fieldSelector", []selection{
		{`spec.color=red\,green`, "a"}, {`spec.color=red\=green`, "b"}, {`spec.color=red\\green`, "c"}, {`spec.color!=red\,green`, "b c d"},
	})
}

func escapes(ctx context.Context, s *session, c collection) error {
	if err := selected(ctx, c, "fieldSelector", []selection{
		{`metadata.name=a\,b`, ""}, {`metadata.name!=a\,b`, "a b c d e"}, {`metadata.name!=a\=b`, "a b c d e"},
		{`metadata.name!=a\\b`, "a b c d e"}, {`metadata.name!=a\,b,metadata.name!=b`, "a c d e"},
	}); err != nil {
		return err
	}
	for selector, says := range inOrder(map[string]string{
		`metadata.name!=a\b`: `invalid field selector: invalid escape sequence: \b`,
		`metadata.name!=a=b`: "invalid field selector: unescaped character in value: 61",
	}) {
		want := refusal{code: 400, reason: metav1.StatusReasonBadRequest, message: says}
		if err := s.try(ctx, get(c.path()+"?fieldSelector="+url.QueryEscape(selector)), want.check); err != nil {
			return err
		}
	}
	return nil
}
