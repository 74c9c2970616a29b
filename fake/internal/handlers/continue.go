package handlers

import (
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/storage"

	"example.com/fakeapi/memstore"
)

// inconsistentRevision is the revision in a token that goes on in the state of now.
const inconsistentRevision = -1

// encodeContinue makes the token for the list under prefix that goes on at key: base64url of JSON,
// neither signed nor kept (CH-12). The start in it has a slash at its front, unless it goes on in the
// state of now: so it is on a real server.
func encodeContinue(prefix, key string, revision int64) string {
	if revision != inconsistentRevision {
		prefix = strings.TrimSuffix(prefix, "/")
	}
	token, err := storage.EncodeContinue(key, prefix, revision)
	if err != nil {
		panic(err) // the key is below the prefix, and a text and a number always encode
	}
	return token
}

// continuePosition is a decoded token: from where to go on, and in which state.
type continuePosition struct {
	startKey string
	revision memstore.Revision // 0: that of now
}

// decodeContinue reads a token for the list under prefix. What it refuses is
// the 400 of CH-13 to CH-16, a start that climbs out of the collection among it.
func decodeContinue(prefix, token string) (continuePosition, error) {
	from, revision, err := storage.DecodeContinue(token, prefix)
	if err != nil {
		return continuePosition{}, apierrors.NewBadRequest("invalid continue token: " + err.Error())
	}
	return continuePosition{startKey: from, revision: memstore.Revision(max(revision, 0))}, nil
}

// continueLifetimes knows when the first page at a revision was served, to let continue
// tokens expire after a time. It remembers the latest few thousand revisions.
type continueLifetimes struct {
	lifetime time.Duration // 0: as long as history lasts

	mu          sync.Mutex
	firstServed map[epochRevision]time.Time
	ring        []epochRevision // the keys of first in the order they came, a ring
	next        int
}

// maxTrackedRevisions is how many revisions tokens remembers.
const maxTrackedRevisions = 4096

// recordServed notes that a page at a revision goes out.
func (t *continueLifetimes) recordServed(at epochRevision) {
	if t.lifetime == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.firstServed == nil {
		t.firstServed = make(map[epochRevision]time.Time)
		t.ring = make([]epochRevision, maxTrackedRevisions)
	}
	if _, known := t.firstServed[at]; known {
		return
	}
	delete(t.firstServed, t.ring[t.next])
	t.ring[t.next] = at
	t.next = (t.next + 1) % len(t.ring)
	t.firstServed[at] = time.Now()
}

// isExpired reports whether the tokens of a revision are too old.
func (t *continueLifetimes) isExpired(at epochRevision) bool {
	if t.lifetime == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	first, known := t.firstServed[at]
	return known && time.Since(first) >= t.lifetime
}
