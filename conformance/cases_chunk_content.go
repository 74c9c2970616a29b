package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	mediaTypeTable       = "application/json;as=Table;g=meta.k8s.io;v=v1"
	mediaTypePartial     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	mediaTypePartialList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// chunkContentCases returns the cases about pages in combination with counts, selectors, other
// representations and watches (CH-05, CH-06, CH-10, CH-11, CH-22, CH-23).
func chunkContentCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "CH-05/count", Level: Should, Title: "remainingItemCount is the number of items after the page",
			Why:    "clients show progress with it",
			Source: docChunks + "; apiserver storage/etcd3",
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			l, err := c.list(ctx, "?limit=2")
			if err != nil {
				return err
			}
			if err := l.expectRemaining(3); err != nil {
				return err
			}
			if l, err = c.list(ctx, "?limit=2&continue="+l.Metadata.Continue); err != nil {
				return err
			}
			return l.expectRemaining(1)
		})),
		onBoth(Case{
			ID: "CH-05/selectors", Level: Should, Title: "there is no remainingItemCount with a selector",
			Why:    "the server does not know how many remaining items match",
			Source: docChunks + "; apiserver storage/etcd3",
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			for _, query := range []string{"?limit=1&labelSelector=app=x", "?limit=1&fieldSelector=metadata.name!=b"} {
				l, err := c.list(ctx, query)
				if err != nil {
					return err
				}
				if l.Metadata.Continue == "" {
					return l.response.errorf("expected a continue token, since more objects match")
				}
				if err := l.expectNoRemaining(); err != nil {
					return err
				}
			}
			return nil
		})),
		onBoth(Case{
			ID: "CH-06", Level: Must, Title: "the last page has no remainingItemCount",
			Why:    "a missing count means none or unknown, and 0 is never sent",
			Source: docChunks + "; ListMeta in the API reference",
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			all, err := c.listPages(ctx, 3, "")
			if err != nil {
				return err
			}
			if err := expectAllPages(all, fiveNames...); err != nil {
				return err
			}
			return all[len(all)-1].expectNoRemaining()
		})),
		onBoth(Case{
			ID: "CH-10", Level: Must, Title: "pages with a selector have up to limit items, and together all that match",
			Why:    "a page without items is not the last one as long as it has a token",
			Source: docChunks + "; apiserver storage/etcd3",
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			for selector, names := range sortedByKey(map[string][]string{
				"&labelSelector=app=x": {"a", "c", "e"}, "&labelSelector=app=none": nil, "&fieldSelector=metadata.name!=b": {"a", "c", "d", "e"},
			}) {
				all, err := c.listPages(ctx, 1, selector)
				if err != nil {
					return err
				}
				if err := expectAllPages(all, names...); err != nil {
					return err
				}
			}
			return nil
		})),
		onBoth(Case{
			ID: "CH-11", Level: Must, Title: "a token does not include the selector, which must be sent with every page",
			Why:    "a client that omits it gets the remaining items of the full list",
			Source: docChunks,
		}, onFiveObjects(checkTokenWithoutSelector)),
		onBoth(Case{
			ID: "CH-22/limit", Level: Must, Title: "a watch ignores limit",
			Why:    "a stream has no pages, and a partial state would be treated as complete",
			Source: docChunks + "; apiserver handlers/get.go",
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			return expectAddedThenEnd(ctx, c, "?watch=true&limit=1&timeoutSeconds=3", fiveNames...)
		})),
		onBoth(Case{
			ID: "CH-22/continue", Level: Must, Title: "a watch with continue is invalid",
			Why:    "a watch cannot start in the middle of a list",
			Source: docListOptions,
		}, checkInvalidWithToken([]string{"&watch=true&timeoutSeconds=1"},
			invalidListOption("resourceVersionMatch", metav1.CauseTypeForbidden, "resourceVersionMatch is forbidden when continue is provided"))),
		onBoth(Case{
			ID: "CH-23/table", Level: Should, Title: "pages as Tables have the same token and count",
			Why:    "kubectl get prints lists in chunks this way",
			Source: "Kubernetes API Concepts, Receiving resources as Tables",
		}, onFiveObjects(checkSamePageAs(mediaTypeTable, "Table"))),
		onBoth(Case{
			ID: "CH-23/metadata", Level: Should, Title: "pages as PartialObjectMetadataList have the same token and count",
			Why:    "the garbage collector and metadata informers read pages this way",
			Source: docFormat,
		}, onFiveObjects(checkSamePageAs(mediaTypePartialList, "PartialObjectMetadataList"))),
	)
}

// expectRemaining expects a remainingItemCount.
func (l objectList) expectRemaining(want int64) error {
	got := l.Metadata.RemainingItemCount
	if got == nil {
		return l.response.errorf("expected remainingItemCount %d, got none", want)
	}
	if *got != want {
		return l.response.errorf("expected remainingItemCount %d, got %d", want, *got)
	}
	return nil
}

// expectNoRemaining expects no remainingItemCount.
func (l objectList) expectNoRemaining() error {
	if got := l.Metadata.RemainingItemCount; got != nil {
		return l.response.errorf("expected no remainingItemCount, got %d", *got)
	}
	return nil
}

// checkTokenWithoutSelector continues after the first page of app=x, whose token is before d. The
// remaining objects include d, which does not match. The remaining objects that match include e,
// and c if it was not on the first page.
func checkTokenWithoutSelector(ctx context.Context, _ *session, c collection) error {
	const selector = "&labelSelector=app=x"
	first, err := c.list(ctx, "?limit=1"+selector)
	if err != nil {
		return err
	}
	if err := first.expectNames("a"); err != nil {
		return err
	}
	if first.Metadata.Continue == "" {
		return first.response.errorf("expected a continue token, since more objects match")
	}
	everything, err := c.list(ctx, "?continue="+first.Metadata.Continue)
	if err != nil {
		return err
	}
	for _, name := range []string{"d", "e"} {
		if !slices.Contains(everything.names(), name) {
			return everything.response.errorf("expected %s in the rest of the list, got %v", name, everything.names())
		}
	}
	selection, err := c.list(ctx, "?continue="+first.Metadata.Continue+selector)
	if err != nil {
		return err
	}
	return selection.expectLastPage("c", "e")
}

// checkSamePageAs compares the first page in another representation with the plain one. Tokens may
// differ in form, so the pages after them are compared.
func checkSamePageAs(mediaType, want string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		r, err := s.do(ctx, get(c.path()+"?limit=2").withAccept(mediaType), code(200), kind("meta.k8s.io/v1", want))
		if err != nil {
			return err
		}
		meta, err := listMetaOf(r)
		if err != nil {
			return err
		}
		if meta.RemainingItemCount == nil || *meta.RemainingItemCount != 3 {
			return r.errorf("expected remainingItemCount 3")
		}
		if meta.Continue == "" {
			return r.errorf("expected a continue token")
		}
		rest, err := c.list(ctx, "?continue="+meta.Continue)
		if err != nil {
			return fmt.Errorf("continuing a list as %s: %w", want, err)
		}
		if err := rest.expectResourceVersion(meta.ResourceVersion); err != nil {
			return err
		}
		return rest.expectLastPage("c", "d", "e")
	}
}
