package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docChunks = "Kubernetes API Concepts, Retrieving large results sets in chunks"

// fiveNames are the names of the objects that most cases about pages create.
var fiveNames = []string{"a", "b", "c", "d", "e"}

// chunkCases returns the cases about the length and consistency of pages (CH-01 to CH-11).
func chunkCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "CH-01", Level: Must, Title: "limit=N returns at most N items, and a continue token if there are more",
			Why:    "clients limit the size of responses",
			Source: docChunks,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			for limit := 1; limit < len(fiveNames); limit++ {
				l, err := c.list(ctx, "?limit="+strconv.Itoa(limit))
				if err != nil {
					return err
				}
				if len(l.Items) > limit {
					return l.response.errorf("expected at most %d items, got %d", limit, len(l.Items))
				}
				if l.Metadata.Continue == "" {
					return l.response.errorf("expected a continue token, since there are %d objects", len(fiveNames))
				}
			}
			return nil
		})),
		onBoth(Case{
			ID: "CH-02", Level: Must, Title: "only the last page has no continue token, and all pages together have all items",
			Why:    "clients stop at an empty token; they would stop too early or never",
			Source: docChunks,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			for limit := 1; limit <= len(fiveNames)+1; limit++ {
				all, err := c.listPages(ctx, limit, "")
				if err != nil {
					return err
				}
				last := all[len(all)-1]
				if err := expectAllPages(all, fiveNames...); err != nil {
					return err
				}
				if len(last.Items) == 0 {
					return last.response.errorf("expected the page before this empty one to be the last")
				}
			}
			return nil
		})),
		onBoth(Case{
			ID: "CH-03", Level: Must, Title: "all pages have the resourceVersion of the first, whatever changes in between",
			Why:    "the client starts a watch from it after the last page",
			Source: docChunks,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			l, err := c.list(ctx, "?limit=1")
			if err != nil {
				return err
			}
			version := l.Metadata.ResourceVersion
			for step := 0; l.Metadata.Continue != "" && step < len(fiveNames); step++ {
				if _, err := c.annotate(ctx, "e", strconv.Itoa(step)); err != nil {
					return err
				}
				if l, err = c.list(ctx, "?limit=1&continue="+l.Metadata.Continue); err != nil {
					return err
				}
				if err := l.expectResourceVersion(version); err != nil {
					return err
				}
			}
			return l.expectNames("e")
		})),
		onBoth(Case{
			ID: "CH-04", Level: Must, Title: "all pages together equal the list at that resourceVersion, although objects change",
			Why:    "a cache that is filled from pages must not miss or repeat an object",
			Source: docChunks,
		}, onFiveObjects(checkPagesOfOneState)),
		onBoth(Case{
			ID: "CH-07", Level: Must, Title: "the limit may differ from page to page",
			Why:    "clients adapt it to their capacity",
			Source: docChunks,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			l, err := c.list(ctx, "?limit=1")
			if err != nil {
				return err
			}
			if err := l.expectNames("a"); err != nil {
				return err
			}
			if l, err = c.list(ctx, "?limit=3&continue="+l.Metadata.Continue); err != nil {
				return err
			}
			if err := l.expectNames("b", "c", "d"); err != nil {
				return err
			}
			if l, err = c.list(ctx, "?limit=1&continue="+l.Metadata.Continue); err != nil {
				return err
			}
			return l.expectNames("e")
		})),
		onBoth(Case{
			ID: "CH-08", Level: Must, Title: "a continue token without a limit returns all remaining items",
			Why:    "clients use it to end paging early",
			Source: docChunks,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			l, err := c.list(ctx, "?limit=1")
			if err != nil {
				return err
			}
			if l, err = c.list(ctx, "?continue="+l.Metadata.Continue); err != nil {
				return err
			}
			return l.expectLastPage("b", "c", "d", "e")
		})),
		onBoth(Case{
			ID: "CH-09", Level: Must, Title: "a limit of 0, a negative one and a missing one mean no limit",
			Why:    "generated clients send the parameter with its zero value",
			Source: docChunks,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			for _, query := range []string{"", "?limit=0", "?limit=-1"} {
				l, err := c.list(ctx, query)
				if err != nil {
					return err
				}
				if err := l.expectLastPage(fiveNames...); err != nil {
					return err
				}
			}
			return nil
		})),
	)
}

// onFiveObjects creates the five objects, with the labels app=x and app=y in turn.
func onFiveObjects(check collectionCheck) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for i, name := range fiveNames {
			if _, err := c.create(ctx, c.object(name).withLabel("app", []string{"x", "y"}[i%2])); err != nil {
				return err
			}
		}
		return check(ctx, s, c)
	}
}

// listPages reads all pages with this limit. The parameters begin with "&" or are empty, and are
// sent with every page.
func (c collection) listPages(ctx context.Context, limit int, parameters string) ([]objectList, error) {
	const maxPages = 50 // a list that never ends is an error
	var all []objectList
	query := fmt.Sprintf("?limit=%d%s", limit, parameters)
	for range maxPages {
		l, err := c.list(ctx, query)
		if err != nil {
			return all, err
		}
		if len(l.Items) > limit {
			return all, l.response.errorf("expected at most %d items, got %d", limit, len(l.Items))
		}
		all = append(all, l)
		if l.Metadata.Continue == "" {
			return all, nil
		}
		query = fmt.Sprintf("?limit=%d%s&continue=%s", limit, parameters, url.QueryEscape(l.Metadata.Continue))
	}
	return all, fmt.Errorf("GET %s%s: expected a last page, but %d pages all had a continue token", c.path(), query, maxPages)
}

// expectAllPages expects exactly these items on all pages together, in this order.
func expectAllPages(all []objectList, names ...string) error {
	var got []string
	for _, l := range all {
		got = append(got, l.names()...)
	}
	if !slices.Equal(got, names) {
		return all[len(all)-1].response.errorf("expected the items %v on all pages together, got %v", names, got)
	}
	return nil
}

// expectLastPage expects exactly these items and no token.
func (l objectList) expectLastPage(names ...string) error {
	if l.Metadata.Continue != "" {
		return l.response.errorf("expected no continue token, got %q", l.Metadata.Continue)
	}
	return l.expectNames(names...)
}

// checkPagesOfOneState compares the items of pages with those of the list at their resourceVersion.
func checkPagesOfOneState(ctx context.Context, _ *session, c collection) error {
	full, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	first, err := c.list(ctx, "?limit=2")
	if err != nil {
		return err
	}
	if _, err := c.annotate(ctx, "e", "1"); err != nil {
		return err
	}
	if _, err := c.create(ctx, c.object("bb")); err != nil {
		return err
	}
	if err := c.delete(ctx, "d"); err != nil {
		return err
	}
	rest, err := c.list(ctx, "?limit=9&continue="+first.Metadata.Continue)
	if err != nil {
		return err
	}
	want, err := rawItems(full)
	if err != nil {
		return err
	}
	var got []json.RawMessage
	for _, l := range []objectList{first, rest} {
		items, err := rawItems(l)
		if err != nil {
			return err
		}
		got = append(got, items...)
	}
	same := func(a, b json.RawMessage) bool { return equalJSON(a, b) }
	if !slices.EqualFunc(got, want, same) {
		return rest.response.errorf("expected the items %s on this page and the one before", excerpt(full.response.body))
	}
	return nil
}

func rawItems(l objectList) ([]json.RawMessage, error) {
	var raw struct{ Items []json.RawMessage }
	return raw.Items, l.response.decode(&raw)
}

// listMetaOf returns the metadata of a list in any representation.
func listMetaOf(r *response) (metav1.ListMeta, error) {
	var l struct{ Metadata metav1.ListMeta }
	return l.Metadata, r.decode(&l)
}
