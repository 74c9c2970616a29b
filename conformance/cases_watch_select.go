package conformance

import (
	"context"
	"slices"
)

const docSelectors = "Kubernetes API Concepts, Efficient detection of changes, selectors; apiserver storage/cacher"

// watchSelectorCases returns the cases about watches with selectors or in one namespace (WA-12 to
// WA-14, WA-28).
func watchSelectorCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "WA-28/name", Level: Must, Title: "a watch in a namespace sends no events of a namespace with a longer name and the same prefix",
			Why:    "prefixes of storage keys must end at the namespace",
			Source: docURIs,
		}, checkNamespacePrefix),
		onBoth(Case{
			ID: "WA-12", Level: Must, Title: "an object that begins to match is ADDED, one that no longer matches is DELETED",
			Why:    "a filtered cache contains only what matches",
			Source: docSelectors,
		}, checkMatchChanges),
		onBoth(Case{
			ID: "WA-13", Level: Must, Title: "DELETED of an object that no longer matches has its last matching state and the resourceVersion of the change",
			Why:    "the client finds it by its old labels, and resumes after the change",
			Source: docSelectors,
		}, checkLastMatch),
		onBoth(Case{
			ID: "WA-14", Level: Must, Title: "changes of objects that match neither before nor after are not sent",
			Why:    "events that do not match cost memory and time",
			Source: docSelectors,
		}, checkNonMatching),
		onBoth(Case{
			ID: "WA-14/initial", Level: Must, Title: "the initial ADDED events contain only matching objects",
			Why:    "events that do not match cost memory and time",
			Source: docSelectors,
		}, func(ctx context.Context, s *session, c collection) error {
			for name, app := range sortedByKey(map[string]string{"a": "x", "b": "y", "c": "x"}) {
				if _, err := c.create(ctx, c.object(name).withLabel("app", app)); err != nil {
					return err
				}
			}
			return expectAddedThenEnd(ctx, c, "?watch=true&timeoutSeconds=3&labelSelector=app=x", "a", "c")
		}),
	)
}

func checkMatchChanges(ctx context.Context, _ *session, c collection) error {
	w, err := watchFromNow(ctx, c, "&labelSelector=app=x")
	if err != nil {
		return err
	}
	defer w.close()
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	steps := []struct{ value, event string }{{"x", "ADDED"}, {"y", "DELETED"}, {"x", "ADDED"}, {"", "DELETED"}}
	for _, step := range steps {
		changed, err := c.setLabel(ctx, "a", "app", step.value)
		if err != nil {
			return err
		}
		if err := w.wantAt(step.event, "a", changed.ResourceVersion); err != nil {
			return err
		}
	}
	return nil
}

func checkLastMatch(ctx context.Context, s *session, c collection) error {
	made, err := s.do(ctx, post(c.path(), c.object("a").withLabel("app", "x")), code(201))
	if err != nil {
		return err
	}
	w, err := watchFromNow(ctx, c, "&labelSelector=app=x")
	if err != nil {
		return err
	}
	defer w.close()
	changed, err := c.setLabel(ctx, "a", "app", "y")
	if err != nil {
		return err
	}
	e, err := w.want("DELETED", "a")
	if err != nil {
		return err
	}
	if got := e.meta.Labels["app"]; got != "x" {
		return w.errorf("expected DELETED with the label app=x that matched, got %q", got)
	}
	if got := e.meta.ResourceVersion; got != changed.ResourceVersion {
		return w.errorf("expected DELETED at resourceVersion %s of the change, got %s", changed.ResourceVersion, got)
	}
	return w.expectSameState(e, made.body)
}

func checkNonMatching(ctx context.Context, _ *session, c collection) error {
	w, err := watchFromNow(ctx, c, "&labelSelector=app=x")
	if err != nil {
		return err
	}
	defer w.close()
	if err := createChangeDelete(ctx, c, "a", 1); err != nil {
		return err
	}
	if _, err := c.create(ctx, c.object("b").withLabel("app", "y")); err != nil {
		return err
	}
	if _, err := c.setLabel(ctx, "b", "app", "z"); err != nil {
		return err
	}
	if _, err := c.create(ctx, c.object("marker").withLabel("app", "x")); err != nil {
		return err
	}
	return w.wantAdded("marker")
}

// checkNamespacePrefix makes changes in a namespace whose name starts with that of the watched one,
// and then one in the watched namespace.
func checkNamespacePrefix(ctx context.Context, s *session, c collection) error {
	other := c
	other.namespace += "-x"
	s.track(namespacePath(other.namespace))
	if err := s.expect(ctx, post("/api/v1/namespaces", newObject("v1", "Namespace", other.namespace)), code(201)); err != nil {
		return err
	}
	if _, err := other.create(ctx, other.object("first")); err != nil {
		return err
	}
	fromNow, err := watchFromNow(ctx, c, "")
	if err != nil {
		return err
	}
	defer fromNow.close()
	fromState, err := c.watch(ctx, "?watch=true")
	if err != nil {
		return err
	}
	defer fromState.close()
	if err := createChangeDelete(ctx, other, "b", 1); err != nil {
		return err
	}
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for _, w := range []*watcher{fromNow, fromState} {
		if err := w.wantAdded("a"); err != nil {
			return err
		}
	}
	return nil
}
