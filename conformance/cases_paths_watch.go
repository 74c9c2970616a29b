package conformance

import (
	"context"
	"slices"
)

// pathWatchCases returns the cases about paths and parameters of watches (PV).
func pathWatchCases() []Case {
	return slices.Concat([]Case{
		onSecrets(Case{
			ID: "PV-05", Level: Must, Title: "a watch of a namespaced type without a namespace sends the events of all namespaces",
			Why:    "informers for all namespaces use it",
			Source: docURIs,
		}, checkCrossNamespaceWatch),
		onSecrets(Case{
			ID: "PV-12", Level: Must, Title: "a collection watch with fieldSelector=metadata.name sends the events of one object only",
			Why:    "kubectl wait and leader election wait for one object this way",
			Source: "Kubernetes API Concepts, deprecation of the /watch/ paths; apiserver requestinfo.go",
		}, checkSingleObjectWatch("?watch=true&fieldSelector=metadata.name=b")),
		onSecrets(Case{
			ID: "PV-11/item", Level: Should, Title: "the deprecated /watch/ path of an object watches that object",
			Why:    "old clients still use these paths",
			Source: "apiserver installer.go",
		}, func(ctx context.Context, s *session, c collection) error {
			c.root += "/watch"
			return checkDeprecatedItemWatch(ctx, s, c)
		}),
	},
		onBoth(Case{
			ID: "PV-11/collection", Level: Should, Title: "the deprecated /watch/ path of a collection opens a watch",
			Why:    "old clients still use these paths",
			Source: "apiserver installer.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			c.root += "/watch"
			return expectAddedThenEnd(ctx, c, "?timeoutSeconds=3", "a")
		}),
		onBoth(Case{
			ID: "PV-09/true", Level: Must, Title: "a collection GET with watch=true is a watch",
			Why:    "informers require it",
			Source: "apiserver requestinfo.go",
		}, checkWatchParameter("?watch=true")),
		onBoth(Case{
			ID: "PV-09/unparsable", Level: Must, Title: "a watch parameter that is not a boolean means true",
			Why:    "a client that expects a watch cannot handle a list",
			Source: "apiserver requestinfo.go; apimachinery ParseBool conversion",
		}, checkWatchParameter("?watch=maybe")),
		onBoth(Case{
			ID: "PV-09/false", Level: Must, Title: "watch=false and watch=0 mean a list",
			Why:    "generated clients send the parameter with its zero value",
			Source: "apiserver requestinfo.go",
		}, func(ctx context.Context, s *session, c collection) error {
			for _, query := range []string{"?watch=false", "?watch=0"} {
				if err := s.expect(ctx, get(c.path()+query), code(200), kind(c.apiVersion, c.kind+"List")); err != nil {
					return err
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "PV-10", Level: Must, Title: "watch is ignored on the path of an object",
			Why:    "the client expects an object, not a stream",
			Source: "apiserver requestinfo.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")+"?watch=true"), code(200), kind(c.apiVersion, c.kind), field("a", "metadata", "name"))
		}),
	)
}

func checkCrossNamespaceWatch(ctx context.Context, s *session, c collection) error {
	l, err := s.list(ctx, c.allNamespacesPath()+"?limit=1")
	if err != nil {
		return err
	}
	w, err := s.watch(ctx, get(c.allNamespacesPath()+"?watch=true&labelSelector=run="+c.namespace+"&resourceVersion="+l.Metadata.ResourceVersion))
	if err != nil {
		return err
	}
	defer w.close()
	other, _, err := createInTwoNamespaces(ctx, c)
	if err != nil {
		return err
	}
	for _, ns := range []string{c.namespace, other.namespace} {
		e, err := w.want("ADDED", "a")
		if err != nil {
			return err
		}
		if e.meta.Namespace != ns {
			return w.errorf("expected an event of namespace %s, got one of %q", ns, e.meta.Namespace)
		}
	}
	return nil
}

// expectAddedThenEnd opens a watch, and expects ADDED events of these objects and no others until
// its timeoutSeconds, which must leave a busy server time to send them.
func expectAddedThenEnd(ctx context.Context, c collection, query string, names ...string) error {
	w, err := c.watch(ctx, query)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.wantAdded(names...); err != nil {
		return err
	}
	return w.wantEnd()
}

func checkWatchParameter(query string) collectionCheck {
	return func(ctx context.Context, _ *session, c collection) error {
		w, err := c.watch(ctx, query)
		if err != nil {
			return err
		}
		defer w.close()
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		return w.wantAdded("a")
	}
}

func checkSingleObjectWatch(query string) collectionCheck {
	return func(ctx context.Context, _ *session, c collection) error {
		for _, name := range []string{"a", "b", "c"} {
			if _, err := c.create(ctx, c.object(name)); err != nil {
				return err
			}
		}
		w, err := c.watch(ctx, query)
		if err != nil {
			return err
		}
		defer w.close()
		if err := w.wantAdded("b"); err != nil {
			return err
		}
		for _, name := range []string{"a", "b"} {
			if _, err := c.annotate(ctx, name, "1"); err != nil {
				return err
			}
		}
		_, err = w.want("MODIFIED", "b")
		return err
	}
}

// checkDeprecatedItemWatch gets a collection whose root contains /watch.
func checkDeprecatedItemWatch(ctx context.Context, s *session, c collection) error {
	plain := c
	plain.root = "/api/v1"
	for _, name := range []string{"a", "b"} {
		if _, err := plain.create(ctx, plain.object(name)); err != nil {
			return err
		}
	}
	w, err := s.watch(ctx, get(c.item("b")+"?timeoutSeconds=3"))
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.wantAdded("b"); err != nil {
		return err
	}
	return w.wantEnd()
}
