package conformance

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// selectorUseCases returns the cases about the requests that support selectors (SE-10, SE-12).
func selectorUseCases() []Case {
	const labelAndField = "labelSelector=app=x&fieldSelector=metadata.name!=c"
	return slices.Concat(
		onBoth(Case{
			ID: "SE-10/list", Level: Must, Title: "a list with label and field selector returns what matches both",
			Why:    "selectors are combined with AND",
			Source: docURIs,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			l, err := c.list(ctx, "?"+labelAndField)
			if err != nil {
				return err
			}
			return l.expectNames("a", "e")
		})),
		onBoth(Case{
			ID: "SE-10/watch", Level: Must, Title: "a watch with label and field selector sends what matches both",
			Why:    "selectors are combined with AND",
			Source: docSelectors,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			w, err := c.watch(ctx, "?watch=true&"+labelAndField)
			if err != nil {
				return err
			}
			defer w.close()
			if err := w.wantAdded("a", "e"); err != nil {
				return err
			}
			for _, name := range []string{"b", "c"} { // each matches one of the two selectors only
				if _, err := c.annotate(ctx, name, "1"); err != nil {
					return err
				}
			}
			changed, err := c.annotate(ctx, "a", "1")
			if err != nil {
				return err
			}
			return w.wantAt("MODIFIED", "a", changed.ResourceVersion)
		})),
		onBoth(Case{
			ID: "SE-10/deletecollection", Level: Must, Title: "deletecollection with label and field selector removes what matches both",
			Why:    "it must not delete other objects",
			Source: docURIs,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			if err := s.expect(ctx, del(c.path()+"?"+labelAndField), code(200)); err != nil {
				return err
			}
			l, err := c.list(ctx, "")
			if err != nil {
				return err
			}
			return l.expectNames("b", "c", "d")
		})),
		onBoth(Case{
			ID: "SE-12", Level: May, Title: "GET of an object ignores or rejects selectors, and never hides the object",
			Why:    "a 404 would mean that the object does not exist",
			Source: "apiserver handlers/get.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a").withLabel("app", "x")); err != nil {
				return err
			}
			r, err := s.do(ctx, get(c.item("a")+"?labelSelector=app=other&fieldSelector=metadata.namespace=other"), code(200, 400))
			if err != nil {
				return err
			}
			if r.code == 400 {
				return r.expect(failure{code: 400, reason: metav1.StatusReasonBadRequest}.check)
			}
			return r.expect(kind(c.apiVersion, c.kind), field("a", "metadata", "name"))
		}),
	)
}
