package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docTable = "Kubernetes API Concepts, resourceVersion parameter, list"

// versionTableCases returns the cases about combinations of list parameters that return data (RS-10
// to RS-24).
func versionTableCases() []Case {
	cell := func(id, title, why string, check historyCheck) []Case {
		return onBoth(Case{ID: id, Level: Must, Title: title, Why: why, Source: docTable}, onHistory(check))
	}
	const (
		recent = "by default a client gets the current state"
		stale  = "informers start from it at low cost"
		exact  = "pages and comparisons require one fixed state"
		token  = "all pages must have one state"
		newer  = "a client must not get an older state than it has seen"
	)
	any0 := func(query string) historyCheck {
		return func(ctx context.Context, s *session, c collection, h history) error {
			l, err := c.list(ctx, query)
			if err != nil {
				return err
			}
			return expectNotAhead(l, h)
		}
	}
	return slices.Concat(
		cell("RS-10", "no match, no limit, no resourceVersion: most recent", recent,
			func(ctx context.Context, s *session, c collection, h history) error {
				l, err := c.list(ctx, "")
				if err != nil {
					return err
				}
				return h.expectCurrent(l)
			}),
		cell("RS-11", "no match, no limit, resourceVersion 0: any state", stale, any0("?resourceVersion=0")),
		cell("RS-12", "no match, no limit, resourceVersion N: not older than N", newer,
			func(ctx context.Context, s *session, c collection, h history) error {
				return checkListNotOlder(ctx, c, "?resourceVersion=", h)
			}),
		cell("RS-13", "no match, limit, no resourceVersion: most recent, in pages", recent,
			func(ctx context.Context, s *session, c collection, h history) error {
				return checkPages(ctx, c, "?limit=1", atLeast(h.last), "a", "b", "c")
			}),
		cell("RS-14", "no match, limit, resourceVersion 0: any state; the limit may be ignored", stale, any0("?limit=1&resourceVersion=0")),
		cell("RS-15", "no match, limit, resourceVersion N: exactly N, in pages", exact,
			func(ctx context.Context, s *session, c collection, h history) error {
				return checkPages(ctx, c, "?limit=1&resourceVersion="+h.middle, atExactly(h.middle), "a", "b")
			}),
		cell("RS-16", "continue, no resourceVersion: the state of the first page, whatever has changed since", token,
			func(ctx context.Context, s *session, c collection, h history) error {
				return checkContinuation(ctx, c, "")
			}),
		cell("RS-17", "continue, resourceVersion 0: as without resourceVersion", token,
			func(ctx context.Context, s *session, c collection, h history) error {
				return checkContinuation(ctx, c, "&resourceVersion=0")
			}),
		cell("RS-21/all", "Exact, resourceVersion N: exactly N", exact,
			func(ctx context.Context, s *session, c collection, h history) error {
				r, err := s.do(ctx, get(c.path()+"?resourceVersionMatch=Exact&resourceVersion="+h.middle), code(200))
				if err != nil {
					return err
				}
				return h.expectMiddle(r)
			}),
		cell("RS-21/limit", "Exact, limit, resourceVersion N: exactly N, in pages", exact,
			func(ctx context.Context, s *session, c collection, h history) error {
				return checkPages(ctx, c, "?limit=1&resourceVersionMatch=Exact&resourceVersion="+h.middle, atExactly(h.middle), "a", "b")
			}),
		cell("RS-21/before", "Exact, a resourceVersion before the first object: an empty list at that resourceVersion", exact,
			func(ctx context.Context, s *session, c collection, h history) error {
				l, err := c.list(ctx, "?resourceVersionMatch=Exact&resourceVersion="+h.before)
				if err != nil {
					return err
				}
				if err := l.expectResourceVersion(h.before); err != nil {
					return err
				}
				return l.expectNames()
			}),
		cell("RS-23", "NotOlderThan, resourceVersion 0: any state", stale, any0("?resourceVersionMatch=NotOlderThan&resourceVersion=0")),
		cell("RS-24/all", "NotOlderThan, resourceVersion N: at least N", newer,
			func(ctx context.Context, s *session, c collection, h history) error {
				return checkListNotOlder(ctx, c, "?resourceVersionMatch=NotOlderThan&resourceVersion=", h)
			}),
		cell("RS-24/limit", "NotOlderThan, limit, resourceVersion N: at least N, in pages", newer,
			func(ctx context.Context, s *session, c collection, h history) error {
				return checkPages(ctx, c, "?limit=1&resourceVersionMatch=NotOlderThan&resourceVersion="+h.last, atLeast(h.last), "a", "b", "c")
			}),
	)
}

// history has the states of a collection: empty, with the objects a and b, some state after that,
// and one with a changed a and a new c.
type history struct {
	before, middle, last string // resourceVersions
	oldA, newA           string // the resourceVersions of a
}

// historyCheck is a check of a collection with a history.
type historyCheck func(ctx context.Context, s *session, c collection, h history) error

func onHistory(check historyCheck) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		h, err := c.history(ctx)
		if err != nil {
			return err
		}
		return check(ctx, s, c, h)
	}
}

// history makes the changes in an empty collection.
func (c collection) history(ctx context.Context) (history, error) {
	var h history
	l, err := c.list(ctx, "")
	if err != nil {
		return h, err
	}
	a, err := c.create(ctx, c.object("a"))
	if err != nil {
		return h, err
	}
	b, err := c.create(ctx, c.object("b"))
	if err != nil {
		return h, err
	}
	changed, err := c.annotate(ctx, "a", "1")
	if err != nil {
		return h, err
	}
	last, err := c.create(ctx, c.object("c"))
	return history{
		before: l.Metadata.ResourceVersion, middle: b.ResourceVersion, last: last.ResourceVersion,
		oldA: a.ResourceVersion, newA: changed.ResourceVersion,
	}, err
}

// expectCurrent expects the last state.
func (h history) expectCurrent(l objectList) error {
	if err := l.expectNames("a", "b", "c"); err != nil {
		return err
	}
	if got := l.Items[0].ResourceVersion; got != h.newA {
		return l.response.errorf("expected a at resourceVersion %s, got %s", h.newA, got)
	}
	if err := expectNotOlder(l.Metadata.ResourceVersion, h.last); err != nil {
		return l.response.errorf("%w", err)
	}
	return nil
}

// expectMiddle expects a list of the state in the middle, at its resourceVersion.
func (h history) expectMiddle(r *response) error {
	l := objectList{response: r}
	if err := r.decode(&l); err != nil {
		return err
	}
	if err := l.expectResourceVersion(h.middle); err != nil {
		return err
	}
	if err := l.expectNames("a", "b"); err != nil {
		return err
	}
	if got := l.Items[0].ResourceVersion; got != h.oldA {
		return r.errorf("expected a at resourceVersion %s, got %s", h.oldA, got)
	}
	return nil
}

// expectNotAhead expects a list of any state of the collection, with a resourceVersion that belongs
// to it.
func expectNotAhead(l objectList, h history) error {
	if l.Metadata.ResourceVersion == "" {
		return l.response.errorf("expected a resourceVersion of the list")
	}
	for _, item := range l.Items {
		if err := expectNotOlder(l.Metadata.ResourceVersion, item.ResourceVersion); err != nil {
			return l.response.errorf("the list is older than its item %s: %w", item.Name, err)
		}
		if item.Name == "a" && item.ResourceVersion != h.oldA && item.ResourceVersion != h.newA {
			return l.response.errorf("expected a at one of its resourceVersions %s and %s, got %s", h.oldA, h.newA, item.ResourceVersion)
		}
	}
	if expectNotOlder(l.Metadata.ResourceVersion, h.last) != nil || l.Metadata.Continue != "" {
		return nil // an older state, or a page
	}
	return h.expectCurrent(l)
}

// checkListNotOlder lists at the middle and at the last state. The query ends with
// "resourceVersion=".
func checkListNotOlder(ctx context.Context, c collection, query string, h history) error {
	for _, at := range []string{h.middle, h.last} {
		l, err := c.list(ctx, query+at)
		if err != nil {
			return err
		}
		if err := expectNotOlder(l.Metadata.ResourceVersion, at); err != nil {
			return l.response.errorf("%w", err)
		}
		if err := expectNotAhead(l, h); err != nil {
			return err
		}
	}
	return nil
}

// atExactly expects a list at this resourceVersion.
func atExactly(version string) func(objectList) error {
	return func(l objectList) error { return l.expectResourceVersion(version) }
}

// atLeast expects a list at this resourceVersion or a later one.
func atLeast(version string) func(objectList) error {
	return func(l objectList) error {
		if err := expectNotOlder(l.Metadata.ResourceVersion, version); err != nil {
			return l.response.errorf("%w", err)
		}
		return nil
	}
}

// checkPages lists all pages with limit=1. The first page has an expected version, and the others
// have the same.
func checkPages(ctx context.Context, c collection, query string, version func(objectList) error, names ...string) error {
	var got []string
	for range len(names) + 1 {
		l, err := c.list(ctx, query)
		if err != nil {
			return err
		}
		if err := version(l); err != nil {
			return err
		}
		version = atExactly(l.Metadata.ResourceVersion)
		if len(l.Items) != 1 {
			return l.response.errorf("expected one item on a page of limit 1, got %d", len(l.Items))
		}
		got = append(got, l.names()...)
		if l.Metadata.Continue == "" {
			if !slices.Equal(got, names) {
				return l.response.errorf("expected the items %v on all pages together, got %v", names, got)
			}
			return nil
		}
		query = "?limit=1&continue=" + l.Metadata.Continue
	}
	return fmt.Errorf("GET %s%s: expected the last page after %d items, got %v and a further token", c.path(), query, len(names), got)
}

// checkContinuation reads the first page, changes objects of later pages, and expects these as they
// were before.
func checkContinuation(ctx context.Context, c collection, parameters string) error {
	first, err := c.list(ctx, "?limit=1")
	if err != nil {
		return err
	}
	if err := first.expectNames("a"); err != nil {
		return err
	}
	if first.Metadata.Continue == "" {
		return first.response.errorf("expected a continue token on the first of several pages")
	}
	var b, changed metav1.PartialObjectMetadata
	if b, err = c.s.doObject(ctx, get(c.item("b")), code(200)); err != nil {
		return err
	}
	if changed, err = c.annotate(ctx, "b", "1"); err != nil {
		return err
	}
	if err := c.delete(ctx, "c"); err != nil {
		return err
	}
	rest, err := c.list(ctx, "?continue="+first.Metadata.Continue+parameters)
	if err != nil {
		return err
	}
	if err := rest.expectResourceVersion(first.Metadata.ResourceVersion); err != nil {
		return err
	}
	if err := rest.expectNames("b", "c"); err != nil {
		return err
	}
	if got := rest.Items[0].ResourceVersion; got != b.ResourceVersion {
		return rest.response.errorf("expected b at resourceVersion %s, got %s (its current one is %s)", b.ResourceVersion, got, changed.ResourceVersion)
	}
	return nil
}
