package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// derivedRuleCases returns the cases about rules that follow from others: MD-28, CR-19, DL-09,
// EX-02, EX-03 and SA-37.
func derivedRuleCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "MD-28", Level: Must, Title: "the kind of every list, with a limit or a selector too, ends in List, and its items are never null",
			Why:    "generic clients detect lists by it, and iterate over the items",
			Source: "API conventions, Lists and Simple kinds",
		}, checkListKinds),
		onBoth(Case{
			ID: "CR-19", Level: Must, Title: "an object without a namespace is created in that of the URL, by apply too",
			Why:    "manifests omit the namespace, which is set on the command line",
			Source: "API conventions, Metadata",
		}, func(ctx context.Context, s *session, c collection) error {
			hasNamespace := field(c.namespace, "metadata", "namespace")
			return s.expectAll(ctx,
				send(post(c.path(), c.object("a")), code(201), hasNamespace),
				send(post(c.path(), c.object("b").withMeta("namespace", "")), code(201), hasNamespace),
				send(apply(c.item("c"), c.object("c")), code(201), hasNamespace),
				send(get(c.item("b")), code(200), hasNamespace),
				send(get(c.item("c")), code(200), hasNamespace),
			)
		}),
		onBoth(Case{
			ID: "DL-09", Level: Must, Title: "a name stays in use until its object is removed",
			Why:    "controllers that replace objects wait for it",
			Source: docDelete,
		}, checkNameOfTerminating),
		onBoth(Case{
			ID: "EX-02", Level: Must, Title: "an exact list at a compacted resourceVersion is rejected, with selectors too",
			Why:    "pages of different states do not match",
			Source: docUnavailable, alone: true,
		}, checkExpiredList("?resourceVersion=1&resourceVersionMatch=Exact&limit=1&labelSelector=a%3Db")),
		onBoth(Case{
			ID: "EX-03", Level: Must, Title: "a compacted resourceVersion is reported in the stream of a watch, and as the status code of a list",
			Why:    "clients must handle both",
			Source: docUnavailable, alone: true,
		}, func(ctx context.Context, s *session, c collection) error {
			status, err := expectExpiredWatch(ctx, s, c)
			if err != nil {
				return err
			}
			if err := (failure{code: 410, reason: metav1.StatusReasonExpired}).match(status); err != nil {
				return fmt.Errorf("watch of %s: %w", c.path(), err)
			}
			return checkExpiredList("?resourceVersion=1&limit=1")(ctx, s, c)
		}),
		onBoth(Case{
			ID: "SA-37", Level: Must, Title: "server-side apply is supported, without a warning",
			Why:    "clients have no other way to apply, and no gate to check",
			Source: "Kubernetes API Concepts, Server-Side Apply",
		}, func(ctx context.Context, s *session, c collection) error {
			r, err := s.do(ctx, apply(c.item("a"), c.object("a").withLabel("l", "1")), code(201), itemsHave([]string{"Apply"}, "operation", "metadata", "managedFields"))
			if err == nil && r.header.Get("Warning") != "" {
				err = r.errorf("expected no warning")
			}
			return err
		}),
	)
}

func checkListKinds(ctx context.Context, s *session, c collection) error {
	// An empty PartialObjectMetadataList of kube-apiserver has null items, and is not checked.
	for _, query := range []string{"", "?limit=1", "?labelSelector=a", "?resourceVersion=0", "?fieldSelector=metadata.name%3Da"} {
		if err := s.expect(ctx, get(c.path()+query), code(200), kind(c.apiVersion, c.kind+"List"), valueAt([]any{}, "items")); err != nil {
			return err
		}
	}
	return nil
}

func checkNameOfTerminating(ctx context.Context, s *session, c collection) error {
	before, err := c.create(ctx, c.object("a").withFinalizer())
	if err != nil {
		return err
	}
	exists := alreadyExists(c, "a", "object is being deleted: ").check
	if err := s.expectAll(ctx,
		send(del(c.item("a")), code(200)),
		send(post(c.path(), c.object("a")), exists),
		send(post(c.path(), c.object("a")).withQuery("dryRun=All"), exists),
		send(mergePatch(c.item("a"), object{"metadata": object{"finalizers": nil}}), code(200)),
	); err != nil {
		return err
	}
	after, err := c.create(ctx, c.object("a"))
	if err == nil && after.UID == before.UID {
		return fmt.Errorf("expected a new object %s, got the uid %s again", c.item("a"), after.UID)
	}
	return err
}
