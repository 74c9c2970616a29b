package handlers

import (
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/storage"

	"example.com/fakeapi/memstore"
)

// inconsistent is the revision in a token that goes on in the state of now.
const inconsistent = -1

// encodeContinue makes the token for the list under prefix that goes on at key: base64url of JSON,
// neither signed nor kept (CH-12). The start in it has a slash at its front, unless it goes on in the
// state of now: so it is on a real server.
func encodeContinue(prefix, key string, revision int64) string {
	if revision != inconsistent {
		prefix = strings.TrimSuffix(prefix, "/")
	}
	token, err := storage.EncodeContinue(key, prefix, revision)
	if err != nil {
		panic(err) // the key is below the prefix, and a text and a number always encode
	}
	return token
}

// position is a decoded token: from where to go on, and in which state.
type position struct {
	from     string
	revision memstore.Revision // 0: that of now
}

// decodeContinue reads a token for the list under prefix. What it refuses is
// the 400 of CH-13 to CH-16, a start that climbs out of the collection among it.
func decodeContinue(prefix, token string) (position, error) {
	from, revision, err := storage.DecodeContinue(token, prefix)
	if err != nil {
		return position{}, apierrors.NewBadRequest("invalid continue token: " + err.Error())
	}
	return position{from: from, revision: memstore.Revision(max(revision, 0))}, nil
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
