package conformance

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docGet      = "Kubernetes API Concepts, resourceVersion parameter, get"
	docVersions = "Kubernetes API Concepts, Resource versions"
)

// getCases returns the cases about reading one object (GT).
func getCases() []Case {
	return slices.Concat([]Case{
		{
			ID: "GT-01/group", Level: Must, Title: "GET of an absent object of a named group is NotFound, with its name, group and resource",
			Why:    "create-if-absent depends on this response",
			Source: docVerbs, check: checkAbsentLease,
		},
		onBasicCRs(Case{
			ID: "GT-09/custom", Level: Should, Title: "HEAD of a custom object returns the headers of GET without a body",
			Why:    "some proxies and probes send it",
			Source: "apiextensions customresource_handler.go",
		}, checkHeadOfCR),
		onSecrets(Case{
			ID: "GT-09/typed", Level: Should, Title: "HEAD of a typed object is not allowed",
			Why:    "typed resources register no handler for it",
			Source: "apiserver installer.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return s.expect(ctx, head(c.item("a")), code(405))
		}),
	},
		onBoth(Case{
			ID: "GT-01", Level: Must, Title: "GET of an absent object is NotFound, with its name and resource",
			Why:    "create-if-absent depends on this response",
			Source: docVerbs,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.item("a")), notFound(c, "a").check)
		}),
		onBoth(Case{
			ID: "GT-02", Level: Must, Title: "GET without resourceVersion returns a state that includes every completed write",
			Why:    "a client must be able to read its own writes",
			Source: docGet,
		}, checkReadYourWrites),
		onBoth(Case{
			ID: "GT-03", Level: Must, Title: "GET at resourceVersion 0 returns any known state",
			Why:    "it is a cheap read for caches that accept old data",
			Source: docGet,
		}, func(ctx context.Context, s *session, c collection) error {
			made, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			return poll(ctx, func(ctx context.Context) error { // a server that lags may not have the object yet
				return s.expect(ctx, get(c.item("a")+"?resourceVersion=0"), code(200), field(string(made.UID), "metadata", "uid"))
			})
		}),
		onBoth(Case{
			ID: "GT-04", Level: Must, Title: "GET at resourceVersion N returns a state at least as new as N",
			Why:    "a client that has seen N must not get an older state",
			Source: docGet,
		}, checkGetNotOlder),
		onBoth(Case{
			ID: "GT-05", Level: Must, Title: "GET at a resourceVersion that the server has not reached fails with 504 Timeout and a retry delay",
			Why:    "clients distinguish a server that lags from one that fails",
			Source: "Kubernetes API Concepts, Unavailable resource versions",
		}, func(ctx context.Context, s *session, c collection) error {
			made, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			return checkFutureRead(ctx, s, c.item("a"), "?", made.ResourceVersion)
		}),
		onBoth(Case{
			ID: "GT-06", Level: Must, Title: "GET at an invalid resourceVersion fails with 500 and no reason",
			Why:    "kube-apiserver answers this instead of 400 as for lists",
			Source: "apiserver pkg/storage",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return checkInvalidReadVersions(ctx, s, c.item("a")+"?")
		}),
		onBoth(Case{
			ID: "GT-07", Level: Must, Title: "GET ignores resourceVersionMatch",
			Why:    "it has no meaning for one object",
			Source: docGet,
		}, func(ctx context.Context, s *session, c collection) error {
			made, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			for _, query := range []string{
				"?resourceVersionMatch=Exact", "?resourceVersionMatch=Nonsense", "?resourceVersionMatch=Exact&resourceVersion=" + made.ResourceVersion,
			} {
				if err := s.expect(ctx, get(c.item("a")+query), code(200), field("a", "metadata", "name")); err != nil {
					return err
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "GT-08", Level: Must, Title: "GET never changes the object",
			Why:    "reads have no side effects",
			Source: docVerbs,
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			first, err := s.do(ctx, get(c.item("a")), code(200))
			if err != nil {
				return err
			}
			for range 3 {
				again, err := s.do(ctx, get(c.item("a")), code(200))
				if err != nil {
					return err
				}
				if !equalJSON(first.body, again.body) {
					return again.errorf("expected the same object as at the first GET, %s", excerpt(first.body))
				}
			}
			return nil
		}),
	)
}

func checkAbsentLease(ctx context.Context, s *session) error {
	c, err := s.leases(ctx)
	if err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), notFound(c, "a").check)
}

func checkHeadOfCR(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	full, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	r, err := s.do(ctx, head(c.item("a")), code(200), mediaType("application/json"))
	if err != nil {
		return err
	}
	if got, want := r.header.Get("Content-Length"), strconv.Itoa(len(full.body)); got != want || len(r.body) > 0 {
		return r.errorf("expected Content-Length %s and no body, got %q and %d bytes", want, got, len(r.body))
	}
	return nil
}

func checkReadYourWrites(ctx context.Context, s *session, c collection) error {
	made, err := c.create(ctx, c.object("a"))
	for step := 0; err == nil && step < 10; step++ {
		if err = s.expect(ctx, get(c.item("a")), code(200), field(made.ResourceVersion, "metadata", "resourceVersion")); err == nil {
			made, err = c.annotate(ctx, "a", strconv.Itoa(step))
		}
	}
	return err
}

func checkGetNotOlder(ctx context.Context, s *session, c collection) error {
	first, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	second, err := c.annotate(ctx, "a", "1")
	if err != nil {
		return err
	}
	for _, at := range []string{first.ResourceVersion, second.ResourceVersion} {
		got, err := s.doObject(ctx, get(c.item("a")+"?resourceVersion="+at), code(200))
		if err != nil {
			return err
		}
		if err := expectNotOlder(got.ResourceVersion, at); err != nil {
			return fmt.Errorf("GET %s?resourceVersion=%s: %w", c.item("a"), at, err)
		}
	}
	return nil
}

// invalidVersions are resourceVersions that are not unsigned decimal integers.
func invalidVersions() []string { return []string{"abc", "1.5", "0x10", "+5", "-1"} }

// checkInvalidReadVersions sends GET requests, other than of lists, to a path that ends with "?" or
// "&".
func checkInvalidReadVersions(ctx context.Context, s *session, path string) error {
	for _, version := range invalidVersions() {
		err := s.expect(ctx, get(path+"resourceVersion="+url.QueryEscape(version)),
			failure{code: 500, contains: fmt.Sprintf("resourceVersion: Invalid value: %q", version)}.check)
		if err != nil {
			return err
		}
	}
	return nil
}

// expectNotOlder expects a resourceVersion that is at least another one.
func expectNotOlder(got, least string) error {
	g, err := parseVersion(got)
	if err != nil {
		return err
	}
	l, err := parseVersion(least)
	if err != nil {
		return err
	}
	if g < l {
		return fmt.Errorf("expected resourceVersion %s or later, got %s", least, got)
	}
	return nil
}

// unreachedVersion returns a resourceVersion that the server does not reach during the case.
func unreachedVersion(now string) (string, error) {
	n, err := parseVersion(now)
	return formatVersion(n + 1_000_000_000), err
}

// parseVersion parses a resourceVersion, which clients may do since 1.35 (RS-03).
func parseVersion(version string) (int64, error) {
	n, err := strconv.ParseInt(version, 10, 64)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d is negative", n)
	}
	if err != nil {
		return 0, fmt.Errorf("expected a resourceVersion that is a number: %w", err)
	}
	return n, nil
}

func formatVersion(n int64) string { return strconv.FormatInt(n, 10) }

// checkFutureRead reads a path (join is "?" or "&") at a resourceVersion that the server has not
// reached. The server either waits and returns a retry delay of a second, or does neither (RS-05,
// RS-06). Details and header must agree.
func checkFutureRead(ctx context.Context, s *session, path, join, now string) error {
	at, err := unreachedVersion(now)
	if err != nil {
		return err
	}
	return expectFutureError(ctx, s, path+join+"resourceVersion="+at, at)
}

// expectFutureError reads a path that contains a resourceVersion that the server has not reached.
func expectFutureError(ctx context.Context, s *session, path, at string) error {
	start := time.Now()
	r, err := s.do(ctx, get(path), failure{
		code: 504, reason: metav1.StatusReasonTimeout, contains: "Too large resource version: " + at + ", current: ",
		causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}},
	}.check)
	if err != nil {
		return err
	}
	var status metav1.Status
	if err := r.decode(&status); err != nil {
		return err
	}
	header := r.header.Get("Retry-After")
	switch retry := status.Details.RetryAfterSeconds; {
	case retry == 1 && header != "1":
		return r.errorf("expected the header Retry-After: 1 as in the details, got %q", header)
	case retry == 0 && header != "":
		return r.errorf("expected no header Retry-After, as the details have none, got %q", header)
	case retry > 1:
		return r.errorf("expected retryAfterSeconds 1 or none, got %d", retry)
	}
	if waited := time.Since(start); waited > 10*time.Second {
		return r.errorf("expected the response after about 3 s, got it after %v", waited)
	}
	return nil
}
