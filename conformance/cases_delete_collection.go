package conformance

import (
	"context"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docDeleteCollection = "Kubernetes API Concepts, Collections; apiserver registry/generic/registry/store.go"

// deleteCollectionCases returns the cases about deletecollection (DL).
func deleteCollectionCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "DL-28", Level: Must, Title: "deletecollection removes all objects of the collection and returns their list as it was before",
			Why: "namespaces are emptied this way", Source: docDeleteCollection,
		}, checkDeleteCollection),
		onBoth(Case{
			ID: "DL-28/dry", Level: Must, Title: "a dry run of deletecollection returns what would be removed, and removes nothing",
			Why: "users preview a deletion with it", Source: docDeleteCollection,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := c.createAll(ctx, "a", "b"); err != nil {
				return err
			}
			if err := c.expectDeleteCollection(ctx, "?dryRun=All", nil, "a", "b"); err != nil {
				return err
			}
			return c.expectItems(ctx, "a", "b")
		}),
		onBoth(Case{
			ID: "DL-29", Level: Must, Title: "deletecollection removes the objects that label and field selectors match",
			Why: "other objects must stay", Source: docDeleteCollection,
		}, checkDeleteSelected),
		onBoth(Case{
			ID: "DL-30", Level: Must, Title: "a deletecollection that fails midway has removed a part of the collection",
			Why: "after a failure a client must list again", Source: docDeleteCollection,
		}, checkPartialDelete),
		onBoth(Case{
			ID: "DL-31", Level: Should, Title: "deletecollection removes no more objects than its limit",
			Why: "large collections are deleted in steps", Source: docDeleteCollection,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := c.createAll(ctx, "a", "b", "d"); err != nil {
				return err
			}
			if err := c.expectDeleteCollection(ctx, "?limit=2", nil, "a", "b"); err != nil {
				return err
			}
			return c.expectItems(ctx, "d")
		}),
		onBoth(Case{
			ID: "DL-31/continue", Level: Should, Title: "deletecollection continues from a continue token",
			Why: "large collections are deleted in steps", Source: docDeleteCollection,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := c.createAll(ctx, "a", "b", "d"); err != nil {
				return err
			}
			page, err := c.list(ctx, "?limit=1")
			if err != nil {
				return err
			}
			if page.Metadata.Continue == "" {
				return page.response.errorf("expected a continue token")
			}
			if err := c.expectDeleteCollection(ctx, "?continue="+url.QueryEscape(page.Metadata.Continue), nil, "b", "d"); err != nil {
				return err
			}
			return c.expectItems(ctx, "a")
		}),
		onBoth(Case{
			ID: "DL-31/version", Level: Should, Title: "a resourceVersion in the query is also a precondition of every deletion, unless there is a body",
			Why: "a client that means only the list must send a body", Source: "apiserver handlers/delete.go; apimachinery meta/v1/conversion.go",
		}, checkDeleteAtVersion),
		onBoth(Case{
			ID: "DL-32", Level: Must, Title: "deletecollection sets the deletionTimestamp of objects with finalizers, and removes the others",
			Why: "finalizers apply to every kind of deletion", Source: docFinalizers,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := c.createAll(ctx, "a", "d"); err != nil {
				return err
			}
			if _, err := c.create(ctx, c.object("b").withFinalizer()); err != nil {
				return err
			}
			if err := c.expectDeleteCollection(ctx, "", nil, "a", "b", "d"); err != nil {
				return err
			}
			if err := c.expectItems(ctx, "b"); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("b")), code(200), isTerminating(0), finalizers(finalizer))
		}),
	)
}

// createAll creates objects with these names.
func (c collection) createAll(ctx context.Context, names ...string) error {
	for _, name := range names {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	return nil
}

// expectDeleteCollection deletes the collection, and expects a list of exactly these items in their
// previous state.
func (c collection) expectDeleteCollection(ctx context.Context, query string, options any, names ...string) error {
	var l objectList
	r, err := c.s.do(ctx, delWithOptions(c.path()+query, options), code(200), kind(c.apiVersion, c.kind+"List"))
	if err != nil {
		return err
	}
	l.response = r
	if err := r.decode(&l); err != nil {
		return err
	}
	for _, o := range l.Items {
		if o.DeletionTimestamp != nil {
			return r.errorf("expected unchanged items, but %s has a deletionTimestamp", o.Name)
		}
	}
	return l.expectNames(names...)
}

// expectItems expects that the collection has exactly these objects.
func (c collection) expectItems(ctx context.Context, names ...string) error {
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	return l.expectNames(names...)
}

func checkDeleteCollection(ctx context.Context, s *session, c collection) error {
	other, err := c.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	if _, err := other.create(ctx, c.object("a")); err != nil {
		return err
	}
	if err := c.createAll(ctx, "a", "b"); err != nil {
		return err
	}
	if err := c.expectDeleteCollection(ctx, "", nil, "a", "b"); err != nil {
		return err
	}
	if err := c.expectItems(ctx); err != nil {
		return err
	}
	return other.expectItems(ctx, "a")
}

func checkDeleteSelected(ctx context.Context, s *session, c collection) error {
	for name, label := range sortedByKey(map[string]string{"a": "x", "b": "y", "d": "y"}) {
		if _, err := c.create(ctx, c.object(name).withLabel("app", label)); err != nil {
			return err
		}
	}
	if err := c.expectDeleteCollection(ctx, "?labelSelector=app%3Dx", nil, "a"); err != nil {
		return err
	}
	if err := c.expectDeleteCollection(ctx, "?fieldSelector=metadata.name%3Dd", nil, "d"); err != nil {
		return err
	}
	return c.expectItems(ctx, "b")
}

// preconditionConflict is the failure of a violated precondition.
func preconditionConflict(c collection, name, text string) failure {
	return failure{
		code: 409, reason: metav1.StatusReasonConflict, contains: text,
		details: &metav1.StatusDetails{Name: name, Group: c.group, Kind: c.kind},
	}
}

func checkPartialDelete(ctx context.Context, s *session, c collection) error {
	first, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	if err := c.createAll(ctx, "b"); err != nil {
		return err
	}
	onlyFirst := delWithOptions(c.path(), object{"preconditions": object{"uid": first.UID}})
	if err := s.expect(ctx, onlyFirst, preconditionConflict(c, "b", "the UID in the precondition").check); err != nil {
		return err
	}
	return c.expectItems(ctx, "b")
}

func checkDeleteAtVersion(ctx context.Context, s *session, c collection) error {
	if err := c.createAll(ctx, "a", "b"); err != nil {
		return err
	}
	if err := s.expect(ctx, del(c.path()+"?resourceVersion=0"), preconditionConflict(c, "a", "the ResourceVersion in the precondition (0)").check); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	// It is not the resourceVersion of the first object, and not older than the list, so that the
	// watch cache has both.
	if err := c.expectDeleteCollection(ctx, "?resourceVersion="+l.Metadata.ResourceVersion, object{}, "a", "b"); err != nil {
		return err
	}
	return c.expectItems(ctx)
}
