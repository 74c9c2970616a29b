package verbs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/memstore"
)

// tokenVersion is the one version of continue tokens there is.
const tokenVersion = "meta.k8s.io/v1"

// inconsistent is the revision in a token that goes on in the state of now.
const inconsistent = -1

// continueToken is where a list goes on, in the form of a real server: base64url
// of JSON, neither signed nor kept (CH-12).
type continueToken struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	// Start is the key to go on from, below the collection's prefix. A slash at
	// its front is optional.
	Start string `json:"start"`
}

// encodeContinue makes the token for the list under prefix that goes on at key.
func encodeContinue(prefix, key string, revision int64) string {
	return continueToken{
		Version:  tokenVersion,
		Revision: revision,
		Start:    "/" + strings.TrimPrefix(key, prefix),
	}.encode()
}

func (t continueToken) encode() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and a number always encode
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// position is a decoded token: from where to go on, and in which state.
type position struct {
	from     string
	revision memstore.Revision // 0: that of now
}

// decodeContinue reads a token for the list under prefix. What it refuses is
// the 400 of CH-13 to CH-16.
func decodeContinue(prefix, token string) (position, error) {
	t, err := parseContinue(token)
	if err != nil {
		return position{}, apierrors.NewBadRequest("invalid continue token: continue key is not valid: " + err.Error())
	}
	at := position{from: prefix + strings.TrimPrefix(t.Start, "/")}
	if t.Revision > 0 {
		at.revision = memstore.Revision(t.Revision)
	}
	return at, nil
}

func parseContinue(token string) (t continueToken, err error) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, err
	}
	switch {
	case t.Version != tokenVersion:
		return t, fmt.Errorf("server does not recognize this encoded version %s", t.Version)
	case t.Revision == 0:
		return t, fmt.Errorf("incorrect encoded start resourceVersion (version %s)", tokenVersion)
	case t.Start == "":
		return t, fmt.Errorf("encoded start key empty (version %s)", tokenVersion)
	}
	// A start that climbs out of the collection would read somebody else's.
	absolute := "/" + strings.TrimPrefix(t.Start, "/")
	if path.Clean(absolute) != absolute {
		return t, fmt.Errorf("%s", t.Start)
	}
	return t, nil
}

// tokens knows when the first page at a revision was served, to let continue
// tokens expire after a time. It remembers the latest few thousand revisions.
type tokens struct {
	lifetime time.Duration // 0: as long as history lasts

	mu     sync.Mutex
	first  map[moment]time.Time
	recent []moment // the keys of first in the order they came, a ring
	next   int
}

// rememberedPages is how many revisions tokens remembers.
const rememberedPages = 4096

// served notes that a page at a revision goes out.
func (t *tokens) served(at moment) {
	if t.lifetime == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil {
		t.first = make(map[moment]time.Time)
		t.recent = make([]moment, rememberedPages)
	}
	if _, known := t.first[at]; known {
		return
	}
	delete(t.first, t.recent[t.next])
	t.recent[t.next] = at
	t.next = (t.next + 1) % len(t.recent)
	t.first[at] = time.Now()
}

// expired reports whether the tokens of a revision are too old.
func (t *tokens) expired(at moment) bool {
	if t.lifetime == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	first, known := t.first[at]
	return known && time.Since(first) >= t.lifetime
}
