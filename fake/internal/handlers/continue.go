package handlers

import (
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/storage"

	"example.com/fakeapi/memstore"
)

// inconsistentRevision is the revision in a token that continues in the current state.
const inconsistentRevision = -1

// encodeContinue returns the token of a list under prefix that continues at key: base64url of JSON,
// not signed and not stored (CH-12). As on a real server, its start begins with a slash unless it
// continues in the current state.
func encodeContinue(prefix, key string, revision int64) string {
	if revision != inconsistentRevision {
		prefix = strings.TrimSuffix(prefix, "/")
	}
	token, err := storage.EncodeContinue(key, prefix, revision)
	if err != nil {
		panic(err) // only for a key that is not under prefix
	}
	return token
}

// continuePosition is a decoded continue token.
type continuePosition struct {
	startKey string
	revision memstore.Revision // 0 for the current one
}

// decodeContinue decodes the token of a list under prefix. The error is the 400 of CH-13 to CH-16,
// also for a start outside of the collection.
func decodeContinue(prefix, token string) (continuePosition, error) {
	startKey, revision, err := storage.DecodeContinue(token, prefix)
	if err != nil {
		return continuePosition{}, apierrors.NewBadRequest("invalid continue token: " + err.Error())
	}
	return continuePosition{startKey: startKey, revision: memstore.Revision(max(revision, 0))}, nil
}

// epochRevision identifies a state of the store. A revision alone does not: after the store is
// restored, it can belong to another state.
type epochRevision struct {
	restores uint64
	revision memstore.Revision
}

func (a *API) epochRevision(rev memstore.Revision) epochRevision {
	return epochRevision{a.store.RestoreCount(), rev}
}

// maxTrackedRevisions is the number of revisions that continueLifetimes tracks.
const maxTrackedRevisions = 4096

// continueLifetimes expires continue tokens after a time. It tracks when the first page was served
// at each of the latest revisions. It is safe for concurrent use.
type continueLifetimes struct {
	lifetime time.Duration // 0 means that tokens do not expire

	mu          sync.Mutex // guards all below
	firstServed map[epochRevision]time.Time
	ring        []epochRevision // the keys of firstServed in the order in which they were added
	next        int             // the index in ring of the next key
}

// recordServed records that a page was served at a revision.
func (c *continueLifetimes) recordServed(revision epochRevision) {
	if c.lifetime == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.firstServed == nil {
		c.firstServed = make(map[epochRevision]time.Time)
		c.ring = make([]epochRevision, maxTrackedRevisions)
	}
	if _, ok := c.firstServed[revision]; ok {
		return
	}
	delete(c.firstServed, c.ring[c.next])
	c.ring[c.next] = revision
	c.next = (c.next + 1) % len(c.ring)
	c.firstServed[revision] = time.Now()
}

// isExpired reports whether the tokens of a revision have expired.
func (c *continueLifetimes) isExpired(revision epochRevision) bool {
	if c.lifetime == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	first, ok := c.firstServed[revision]
	return ok && time.Since(first) >= c.lifetime
}
