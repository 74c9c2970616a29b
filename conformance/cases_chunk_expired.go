package conformance

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docExpiredToken = "Kubernetes API Concepts, 410 Gone responses; apiserver storage/etcd3"

// chunkExpiredCases returns the cases about tokens whose state was compacted (CH-18 to CH-21).
func chunkExpiredCases() []Case {
	lasting := onBoth(Case{
		ID: "CH-21", Level: Should, Title: "a token stays valid for minutes without a compaction",
		Why:    "a slow client could never read the last page",
		Source: docChunks, takes: tokenLifetime,
	}, onFiveObjects(checkTokenLifetime))
	return slices.Concat(lasting,
		onBoth(Case{
			ID: "CH-18", Level: Must, Title: "a token of a compacted state is rejected as Expired, with a new token",
			Why:    "the client either lists again from the start or continues with the current state",
			Source: docExpiredToken, alone: true,
		}, func(ctx context.Context, s *session, c collection) error {
			p, err := s.expiredPage(ctx, c)
			if err != nil {
				return err
			}
			for _, limit := range []string{"", "&limit=2"} {
				if _, err := p.newToken(ctx, limit); err != nil {
					return err
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "CH-19", Level: Must, Title: "the new token continues after the same object, in the current state",
			Why:    "the client keeps the pages that it has, but loses consistency",
			Source: docExpiredToken, alone: true,
		}, func(ctx context.Context, s *session, c collection) error {
			p, err := s.expiredPage(ctx, c)
			if err != nil {
				return err
			}
			if err := p.checkNewToken(ctx); err != nil {
				return err
			}
			l, err := p.listRest(ctx, "")
			if err != nil {
				return err
			}
			if err := l.expectLastPage(p.remaining...); err != nil {
				return err
			}
			if got := l.Items[len(l.Items)-1]; got.ResourceVersion != p.newE {
				return l.response.errorf("expected the current state of %s at resourceVersion %s, got %s", got.Name, p.newE, got.ResourceVersion)
			}
			return nil
		}),
		onBoth(Case{
			ID: "CH-20", Level: Must, Title: "pages after the new token have one new state",
			Why:    "the client starts a watch from the resourceVersion of its last page",
			Source: docExpiredToken, alone: true,
		}, checkInconsistentPages),
	)
}

// expiredPage is the first page of a list whose state was compacted, with a and b. Since then d was
// deleted and cc created.
type expiredPage struct {
	collection
	first     objectList
	remaining []string // names of the objects after the page, in the current state
	newE      string   // current resourceVersion of e
}

// expiredPage creates an expiredPage, or skips the case if the server cannot be compacted. A
// compaction of a real server takes time, so all cases on a kind share one.
func (s *session) expiredPage(ctx context.Context, like collection) (expiredPage, error) {
	if p, ok := s.run.expired[like.kind]; ok {
		return p, nil
	}
	if s.run.config.Compact == nil {
		return expiredPage{}, s.compact(ctx)
	}
	p := expiredPage{remaining: []string{"c", "cc", "e"}}
	var err error
	if p.collection, err = s.run.sharedSession("expired-"+strings.ToLower(like.kind)).newCollection(ctx, like, fiveNames); err != nil {
		return p, err
	}
	if p.first, err = firstPage(ctx, p.collection); err != nil {
		return p, err
	}
	if err := p.delete(ctx, "d"); err != nil {
		return p, err
	}
	if _, err := p.create(ctx, p.object("cc")); err != nil {
		return p, err
	}
	e, err := p.annotate(ctx, "e", "1")
	if err != nil {
		return p, err
	}
	p.newE = e.ResourceVersion
	if err := s.compact(ctx); err != nil {
		return p, err
	}
	s.run.expired[like.kind] = p
	return p, nil
}

// newToken requests the second page, and returns the token in the error. The parameters begin with
// "&" or are empty.
func (p expiredPage) newToken(ctx context.Context, parameters string) (string, error) {
	r, err := p.s.do(ctx, get(p.path()+"?continue="+p.first.Metadata.Continue+parameters),
		failure{code: 410, reason: metav1.StatusReasonExpired}.check,
		matchesPattern(regexp.MustCompile(`^The provided continue parameter is too old to display a consistent list result\.`), "message"))
	if err != nil {
		return "", err
	}
	meta, err := listMetaOf(r)
	if err == nil && (meta.Continue == "" || meta.Continue == p.first.Metadata.Continue) {
		err = r.errorf("expected a new token in metadata.continue, got %q", meta.Continue)
	}
	return meta.Continue, err
}

// checkNewToken expects the start key of the expired token in the new one, without a state. It
// accepts tokens of another format (CH-12).
func (p expiredPage) checkNewToken(ctx context.Context) error {
	encoded, err := p.newToken(ctx, "")
	if err != nil {
		return err
	}
	old, err := decodeToken(p.first.Metadata.Continue)
	if err != nil {
		return nil
	}
	fresh, err := decodeToken(encoded)
	if err != nil {
		return p.first.response.errorf("expected a new token of the format of this page, got %q: %w", encoded, err)
	}
	// The watch cache and the storage may differ in the leading slash.
	start := strings.TrimPrefix(old.Start, "/")
	if fresh.Version != old.Version || fresh.Revision != -1 || strings.TrimPrefix(fresh.Start, "/") != start {
		return p.first.response.errorf("expected a new token at -1 that starts after %q, got %#v", start, fresh)
	}
	return nil
}

// listRest lists with the new token.
func (p expiredPage) listRest(ctx context.Context, parameters string) (objectList, error) {
	token, err := p.newToken(ctx, "")
	if err != nil {
		return objectList{}, err
	}
	return p.list(ctx, "?continue="+token+parameters)
}

func checkInconsistentPages(ctx context.Context, s *session, c collection) error {
	p, err := s.expiredPage(ctx, c)
	if err != nil {
		return err
	}
	l, err := p.listRest(ctx, "&limit=1")
	if err != nil {
		return err
	}
	version := l.Metadata.ResourceVersion
	if err := expectNotOlder(version, p.newE); err != nil {
		return l.response.errorf("expected the current state: %w", err)
	}
	got := l.names()
	for range len(p.remaining) {
		if l.Metadata.Continue == "" {
			break
		}
		if l, err = p.list(ctx, "?limit=1&continue="+l.Metadata.Continue); err != nil {
			return err
		}
		if err := l.expectResourceVersion(version); err != nil {
			return err
		}
		got = append(got, l.names()...)
	}
	if !slices.Equal(got, p.remaining) || l.Metadata.Continue != "" {
		return l.response.errorf("expected the items %v on the pages after the new token, got %v", p.remaining, got)
	}
	return nil
}

// tokenLifetime is the required lifetime of a token, a minute less than the default compaction
// interval of kube-apiserver.
const tokenLifetime = 4 * time.Minute

// checkTokenLifetime runs a watch for the lifetime of a token.
func checkTokenLifetime(ctx context.Context, _ *session, c collection) error {
	l, err := firstPage(ctx, c)
	if err != nil {
		return err
	}
	w, err := watchFromNow(ctx, c, "&timeoutSeconds="+strconv.Itoa(int(tokenLifetime.Seconds())))
	if err != nil {
		return err
	}
	defer w.close()
	if err := c.delete(ctx, "d"); err != nil {
		return err
	}
	if _, err := w.readAll(); err != nil {
		return err
	}
	rest, err := c.list(ctx, "?continue="+l.Metadata.Continue)
	if err != nil {
		return fmt.Errorf("after %v: %w", tokenLifetime, err)
	}
	return rest.expectLastPage("c", "d", "e")
}
