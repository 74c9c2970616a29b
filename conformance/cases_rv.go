package conformance

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docUnavailable = "Kubernetes API Concepts, Unavailable resource versions"

// versionCases returns the cases about resourceVersions: their format, order, and versions of the
// future and the past (RS-01 to RS-09, RS-28 to RS-30).
func versionCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "RS-01/form", Level: Must, Title: "resourceVersions of a server are decimal numbers without leading zeros",
			Why:    "clients compare them as numbers since 1.35",
			Source: docVersions,
		}, func(ctx context.Context, s *session, c collection) error {
			made, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			l, err := c.list(ctx, "")
			if err != nil {
				return err
			}
			for _, version := range []string{made.ResourceVersion, l.Metadata.ResourceVersion} {
				if !regexp.MustCompile(`^[1-9][0-9]*$`).MatchString(version) {
					return l.response.errorf("expected a decimal resourceVersion, got %q", version)
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "RS-01/zeros", Level: Must, Title: "leading zeros of a resourceVersion in a request are ignored",
			Why:    "it is the same number",
			Source: "apiserver storage/api_object_versioner.go",
		}, func(ctx context.Context, s *session, c collection) error {
			made, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			l, err := c.list(ctx, "?resourceVersionMatch=Exact&resourceVersion=00"+made.ResourceVersion)
			if err != nil {
				return err
			}
			if err := l.expectResourceVersion(made.ResourceVersion); err != nil {
				return err
			}
			if err := l.expectNames("a"); err != nil {
				return err
			}
			if err := s.expect(ctx, get(c.item("a")+"?resourceVersion=00"+made.ResourceVersion), code(200)); err != nil {
				return err
			}
			w, err := c.watch(ctx, "?watch=true&resourceVersion=00"+made.ResourceVersion)
			if err != nil {
				return err
			}
			defer w.close()
			if _, err := c.create(ctx, c.object("b")); err != nil {
				return err
			}
			return w.wantAdded("b")
		}),
		onBoth(Case{
			ID: "RS-01/list", Level: Must, Title: "a list at a resourceVersion that is not a number is a bad request",
			Why:    "a client with an invalid request must not get data",
			Source: "apiserver pkg/storage",
		}, checkInvalidListVersion(invalidVersions()...)),
		onBoth(Case{
			ID: "RS-02", Level: Must, Title: "a list at a negative resourceVersion is a bad request",
			Why:    "a client with an invalid request must not get data",
			Source: "apiserver pkg/storage",
		}, checkInvalidListVersion("-1")),
		onBoth(Case{
			ID: "RS-03", Level: Must, Title: "later changes of one type have larger resourceVersions, across namespaces too",
			Why:    "clients order states of one type by them",
			Source: docVersions + "; apimachinery util/resourceversion",
		}, checkVersionsIncrease),
		onBoth(Case{
			ID: "RS-05/list", Level: Must, Title: "a list not older than an unreached resourceVersion fails with 504 Timeout and a retry delay",
			Why:    "clients distinguish a server that lags from one that fails",
			Source: docUnavailable,
		}, checkFutureList("?")),
		[]Case{
			onSecrets(Case{
				ID: "RS-05/limit", Level: Must, Title: "a page at an unreached resourceVersion fails with 504 Timeout and a retry delay",
				Why:    "clients distinguish a server that lags from one that fails",
				Source: docUnavailable,
			}, checkFutureList("?limit=1&")),
			onSecrets(Case{
				ID: "RS-05/exact", Level: Must, Title: "an exact list at an unreached resourceVersion fails with 504 Timeout and a retry delay",
				Why:    "clients distinguish a server that lags from one that fails",
				Source: docUnavailable,
			}, checkFutureList("?resourceVersionMatch=Exact&")),
			onSecrets(Case{
				ID: "RS-05/notolderthan", Level: Must, Title: "a list with NotOlderThan at an unreached resourceVersion fails with 504 Timeout and a retry delay",
				Why:    "clients distinguish a server that lags from one that fails",
				Source: docUnavailable,
			}, checkFutureList("?resourceVersionMatch=NotOlderThan&")),
		},
		onBoth(Case{
			ID: "RS-07/exact", Level: Must, Title: "an exact list at a compacted resourceVersion is rejected as Expired",
			Why:    "after a 410 a client lists again",
			Source: docUnavailable, alone: true,
		}, checkExpiredList("?resourceVersion=1&resourceVersionMatch=Exact")),
		onBoth(Case{
			ID: "RS-07/limit", Level: Must, Title: "a page at a compacted resourceVersion is rejected as Expired",
			Why:    "after a 410 a client lists again",
			Source: docUnavailable, alone: true,
		}, checkExpiredList("?resourceVersion=1&limit=1")),
		onBoth(Case{
			ID: "RS-28", Level: Must, Title: "NotOlderThan a compacted resourceVersion returns newer data",
			Why:    "a reflector lists this way after it lost its watch",
			Source: docVersions,
		}, func(ctx context.Context, s *session, c collection) error {
			made, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			// The newer version first: the servers behind one address do not go back to older
			// states.
			for _, at := range []string{made.ResourceVersion, "1"} {
				l, err := c.list(ctx, "?resourceVersionMatch=NotOlderThan&resourceVersion="+at)
				if err != nil {
					return err
				}
				if err := expectNotOlder(l.Metadata.ResourceVersion, at); err != nil {
					return l.response.errorf("%w", err)
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "RS-29", Level: Must, Title: "a list without resourceVersion includes every completed write",
			Why:    "a controller that does not see its own write would repeat it",
			Source: "Kubernetes API Concepts, consistent reads from cache; KEP-2340",
		}, checkListYourWrites),
		onBoth(Case{
			ID: "RS-30", Level: Should, Title: "after a compaction, an exact list either returns the exact data or is rejected as Expired",
			Why:    "the cache may keep a state longer than the storage, but must not return other data for it",
			Source: "KEP-4988; apiserver storage/cacher", alone: true,
		}, checkExactAfterCompaction),
	)
}

func checkInvalidListVersion(versions ...string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for _, version := range versions {
			err := s.expect(ctx, get(c.path()+"?resourceVersion="+url.QueryEscape(version)), failure{
				code: 400, reason: metav1.StatusReasonBadRequest,
				contains: fmt.Sprintf("invalid resource version: resourceVersion: Invalid value: %q", version),
			}.check)
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func checkVersionsIncrease(ctx context.Context, _ *session, c collection) error {
	other, err := c.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	last := "0"
	grown := func(o metav1.PartialObjectMetadata, err error) error {
		if err == nil {
			if err = expectNotOlder(o.ResourceVersion, last); err == nil && o.ResourceVersion == last {
				err = fmt.Errorf("expected a new resourceVersion after a change, got %s again", last)
			}
		}
		last = o.ResourceVersion
		return err
	}
	for step := range 3 {
		for _, in := range []collection{c, other} {
			if step == 0 {
				err = grown(in.create(ctx, in.object("a")))
			} else {
				err = grown(in.annotate(ctx, "a", strconv.Itoa(step)))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func checkFutureList(query string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		l, err := c.list(ctx, "")
		if err != nil {
			return err
		}
		return checkFutureRead(ctx, s, c.path()+query, "", l.Metadata.ResourceVersion)
	}
}

// checkExpiredList lists at resourceVersion 1. Servers that have run for some time have compacted
// it, others are asked to compact it.
func checkExpiredList(query string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		r, err := s.do(ctx, get(c.path()+query), code(200, 410))
		if err != nil {
			return err
		}
		if r.code == 200 {
			if err := s.compact(ctx); err != nil {
				return err
			}
			if r, err = s.do(ctx, get(c.path()+query)); err != nil {
				return err
			}
		}
		return r.expect(resourceExpired.check)
	}
}

// resourceExpired is the failure of a list at a compacted resourceVersion.
var resourceExpired = failure{
	code: 410, reason: metav1.StatusReasonExpired, message: "The resourceVersion for the provided list is too old.",
}

func checkListYourWrites(ctx context.Context, _ *session, c collection) error {
	var names []string
	for step := range 10 {
		name := "n" + strconv.Itoa(step)
		made, err := c.create(ctx, c.object(name))
		if err != nil {
			return err
		}
		names = append(names, name)
		l, err := c.list(ctx, "")
		if err != nil {
			return err
		}
		if err := l.expectNames(names...); err != nil {
			return err
		}
		if err := expectNotOlder(l.Metadata.ResourceVersion, made.ResourceVersion); err != nil {
			return l.response.errorf("%w", err)
		}
	}
	for len(names) > 0 {
		changed, err := c.annotate(ctx, names[0], "1")
		if err != nil {
			return err
		}
		l, err := c.list(ctx, "")
		if err != nil {
			return err
		}
		if err := l.expectNames(names...); err != nil {
			return err
		}
		if got := l.Items[0].ResourceVersion; got != changed.ResourceVersion {
			return l.response.errorf("expected %s at resourceVersion %s, got %s", names[0], changed.ResourceVersion, got)
		}
		if err := c.delete(ctx, names[0]); err != nil {
			return err
		}
		names = names[1:]
		if l, err = c.list(ctx, ""); err != nil {
			return err
		}
		if err := l.expectNames(names...); err != nil {
			return err
		}
	}
	return nil
}

func checkExactAfterCompaction(ctx context.Context, s *session, c collection) error {
	h, err := c.history(ctx)
	if err != nil {
		return err
	}
	if err := s.compact(ctx); err != nil {
		return err
	}
	r, err := s.do(ctx, get(c.path()+"?resourceVersionMatch=Exact&resourceVersion="+h.middle), code(200, 410))
	if err != nil {
		return err
	}
	if r.code == 410 {
		return r.expect(resourceExpired.check)
	}
	return h.expectMiddle(r)
}
