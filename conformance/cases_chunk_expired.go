package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docGoneToken = "Kubernetes API Concepts, 410 Gone responses; apiserver storage/etcd3"

// chunkExpiredCases are about tokens whose state the server has forgotten (CH-18 to CH-21).
func chunkExpiredCases() []Case {
	lasting := both(Case{
		ID: "CH-21", Level: Should, Title: "a token lasts for minutes while nothing is compacted",
		Why:    "a client that is slow with its pages would never come to the end",
		Source: docChunks, takes: tokenAge,
	}, onFive(lastingToken))
	return slices.Concat(lasting,
		both(Case{
			ID: "CH-18", Level: Must, Title: "a token whose state is forgotten is refused as Expired, with a new token",
			Why:    "the client chooses between starting over and going on with what is there now",
			Source: docGoneToken,
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
		both(Case{
			ID: "CH-19", Level: Must, Title: "the new token goes on behind the same object, in the state of now",
			Why:    "it spares the client the pages that it has, at the price of consistency",
			Source: docGoneToken,
		}, func(ctx context.Context, s *session, c collection) error {
			p, err := s.expiredPage(ctx, c)
			if err != nil {
				return err
			}
			l, err := p.rest(ctx, "")
			if err != nil {
				return err
			}
			if err := l.isLast(p.left...); err != nil {
				return err
			}
			if got := l.Items[len(l.Items)-1]; got.ResourceVersion != p.newE {
				return l.from.errorf("expected %s as it is now, at resourceVersion %s, got %s", got.Name, p.newE, got.ResourceVersion)
			}
			return nil
		}),
		both(Case{
			ID: "CH-20", Level: Must, Title: "pages after the new token are of one state again, a new one",
			Why:    "the client watches from the resourceVersion of its last page",
			Source: docGoneToken,
		}, inconsistentPages),
	)
}

// expiredPage is the first page of a list whose state the server has forgotten: a and b. What is left has changed since: d went, cc came.
type expiredPage struct {
	collection
	first objectList
	left  []string // what follows the page now
	newE  string   // the resourceVersion that e has now
}

// expiredPage makes one, or skips the case if the server cannot be made to forget. A compaction takes a real server a while, so there
// is one for all cases on a kind.
func (s *session) expiredPage(ctx context.Context, like collection) (expiredPage, error) {
	if p, ok := s.run.expired[like.kind]; ok {
		return p, nil
	}
	if s.run.config.Compact == nil {
		return expiredPage{}, s.compact(ctx)
	}
	p := expiredPage{left: []string{"c", "cc", "e"}}
	var err error
	if p.collection, err = s.run.shared.fill(ctx, like, fiveNames); err != nil {
		return p, err
	}
	if p.first, err = someToken(ctx, p.collection); err != nil {
		return p, err
	}
	if err := p.delete(ctx, "d"); err != nil {
		return p, err
	}
	if _, err := p.create(ctx, p.object("cc")); err != nil {
		return p, err
	}
	e, err := p.change(ctx, "e", "1")
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

// newToken asks for the second page, and gives the token that the refusal offers. The parameters begin with "&" or are empty.
func (p expiredPage) newToken(ctx context.Context, parameters string) (string, error) {
	a, err := p.s.do(ctx, get(p.path()+"?continue="+p.first.Metadata.Continue+parameters), refusal{
		code: 410, reason: metav1.StatusReasonExpired,
		says: "The provided continue parameter is too old to display a consistent list result.",
	}.check)
	if err != nil {
		return "", err
	}
	meta, err := rowMeta(a)
	if err == nil && (meta.Continue == "" || meta.Continue == p.first.Metadata.Continue) {
		err = a.errorf("expected a new token in metadata.continue, got %q", meta.Continue)
	}
	return meta.Continue, err
}

// rest lists with the new token.
func (p expiredPage) rest(ctx context.Context, parameters string) (objectList, error) {
	token, err := p.newToken(ctx, "")
	if err != nil {
		return objectList{}, err
	}
	return p.list(ctx, "?continue="+token+parameters)
}

func inconsistentPages(ctx context.Context, s *session, c collection) error {
	p, err := s.expiredPage(ctx, c)
	if err != nil {
		return err
	}
	l, err := p.rest(ctx, "&limit=1")
	if err != nil {
		return err
	}
	version := l.Metadata.ResourceVersion
	if err := notOlder(version, p.newE); err != nil {
		return l.from.errorf("the state of now was expected: %w", err)
	}
	got := l.names()
	for range len(p.left) {
		if l.Metadata.Continue == "" {
			break
		}
		if l, err = p.list(ctx, "?limit=1&continue="+l.Metadata.Continue); err != nil {
			return err
		}
		if err := l.at(version); err != nil {
			return err
		}
		got = append(got, l.names()...)
	}
	if !slices.Equal(got, p.left) || l.Metadata.Continue != "" {
		return l.from.errorf("expected the items %v on the pages after the new token, got %v", p.left, got)
	}
	return nil
}

// tokenAge is what a token should live for, a minute less than etcd's default interval between compactions.
const tokenAge = 4 * time.Minute

// lastingToken lets a watch run for as long as a token lasts.
func lastingToken(ctx context.Context, _ *session, c collection) error {
	l, err := someToken(ctx, c)
	if err != nil {
		return err
	}
	w, err := watchFromNow(ctx, c, "&timeoutSeconds="+strconv.Itoa(int(tokenAge.Seconds())))
	if err != nil {
		return err
	}
	defer w.close()
	if err := c.delete(ctx, "d"); err != nil {
		return err
	}
	if _, err := w.rest(); err != nil {
		return err
	}
	rest, err := c.list(ctx, "?continue="+l.Metadata.Continue)
	if err != nil {
		return fmt.Errorf("after %v: %w", tokenAge, err)
	}
	return rest.isLast("c", "d", "e")
}
