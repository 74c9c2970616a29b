package conformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docToken = "apiserver storage/continue.go"

// chunkTokenCases returns the cases about valid and invalid continue tokens (CH-12 to CH-17).
func chunkTokenCases() []Case {
	const why = "a forged or damaged token must not return unrelated data"
	badToken := func(text string) failure {
		return failure{code: 400, reason: metav1.StatusReasonBadRequest, contains: "invalid continue token: continue key is not valid: " + text}
	}
	forged := func(id, title, why string, want failure, change func(*token)) []Case {
		return onBoth(Case{ID: id, Level: Must, Title: title, Why: why, Source: docToken}, onFiveObjects(checkForgedToken(change, want)))
	}
	return slices.Concat(
		onBoth(Case{
			ID: "CH-12", Level: Must, Title: "a token is URL-safe base64 without padding, and encodes a version, the resourceVersion of the list and a start key",
			Why:    "clients must treat it as opaque, but tools and proxies send it without escaping",
			Source: docToken,
		}, onFiveObjects(checkTokenFormat)),
		onBoth(Case{
			ID: "CH-13", Level: Must, Title: "a token that cannot be decoded is a bad request",
			Why: why, Source: docToken,
		}, func(ctx context.Context, s *session, c collection) error {
			for token, text := range sortedByKey(map[string]string{
				"abc": "invalid character 'i' looking for beginning of value", // valid base64
				"!!!": "illegal base64 data at input byte 0",
				"e30": "server does not recognize this encoded version ", // the encoding of {}
			}) {
				query := "?limit=2&continue=" + url.QueryEscape(token)
				if err := s.expect(ctx, get(c.path()+query), badToken(text).check); err != nil {
					return err
				}
			}
			return nil
		}),
		forged("CH-14", "a token of an unknown version is a bad request", why,
			badToken("server does not recognize this encoded version v9"), func(t *token) { t.Version = "v9" }),
		forged("CH-15", "a token of resourceVersion 0 is a bad request", why,
			badToken("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"), func(t *token) { t.Revision = 0 }),
		forged("CH-16", "a token whose start key is outside of the collection is a bad request",
			"it could read data that the client has no permission for",
			badToken("/../x"), func(t *token) { t.Start = "/../x" }),
		onBoth(Case{
			ID: "CH-17", Level: Must, Title: "a token with a resourceVersion that the server has not reached fails with 504 Timeout and a retry delay",
			Why:    "clients distinguish a server that lags from one that fails",
			Source: docUnavailable,
		}, onFiveObjects(checkFutureToken)),
	)
}

// token is the content of a continue token of kube-apiserver.
type token struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"`
}

func (t token) encode() (string, error) {
	plain, err := json.Marshal(t)
	return base64.RawURLEncoding.EncodeToString(plain), err
}

func decodeToken(s string) (token, error) {
	var t token
	plain, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(plain, &t)
	}
	return t, err
}

// firstPage returns a page with the first two of the five objects and a token.
func firstPage(ctx context.Context, c collection) (objectList, error) {
	l, err := c.list(ctx, "?limit=2")
	if err == nil && l.Metadata.Continue == "" {
		err = l.response.errorf("expected a continue token on the first of several pages")
	}
	return l, err
}

func checkTokenFormat(ctx context.Context, _ *session, c collection) error {
	l, err := firstPage(ctx, c)
	if err != nil {
		return err
	}
	t, err := decodeToken(l.Metadata.Continue)
	if err != nil {
		return l.response.errorf("expected a token of JSON in URL-safe base64 without padding: %w", err)
	}
	version, err := parseVersion(l.Metadata.ResourceVersion)
	if err != nil {
		return l.response.errorf("%w", err)
	}
	if t.Version != "meta.k8s.io/v1" || t.Revision != version || !strings.HasSuffix(t.Start, "b\x00") {
		return l.response.errorf("expected a meta.k8s.io/v1 token at %d that starts after b, got %#v", version, t)
	}
	return nil
}

// forgeToken returns a changed token of the server, or skips the case if tokens have another
// format.
func forgeToken(ctx context.Context, s *session, c collection, change func(*token)) (string, error) {
	l, err := firstPage(ctx, c)
	if err != nil {
		return "", err
	}
	t, err := decodeToken(l.Metadata.Continue)
	if err != nil {
		return "", s.skipf("the continue tokens of the server have an unknown format, so none can be forged: %v", err)
	}
	change(&t)
	return t.encode()
}

func checkForgedToken(change func(*token), want failure) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		token, err := forgeToken(ctx, s, c, change)
		if err != nil {
			return err
		}
		return s.expect(ctx, get(c.path()+"?limit=2&continue="+token), want.check)
	}
}

func checkFutureToken(ctx context.Context, s *session, c collection) error {
	at := ""
	token, err := forgeToken(ctx, s, c, func(t *token) {
		t.Revision += 1_000_000_000
		at = formatVersion(t.Revision)
	})
	if err != nil {
		return err
	}
	return expectFutureError(ctx, s, c.path()+"?limit=2&continue="+token, at)
}
