package handlers

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"sync"
	"weak"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/auditlog"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// maxNoops is the number of objects that a noopCache has at least, if so many are written. It has
// at most twice as many, with 300 bytes each.
const maxNoops = 8192

// noopCache has a noopRequest for each of the objects that were written last. It keeps no objects
// and no definitions. The zero value is an empty cache. It is safe for concurrent use.
type noopCache struct {
	mu sync.Mutex
	// recent and older have entries by the keys of objects. When recent is full, it becomes older.
	recent, older map[string]noopEntry
}

// noopEntry is a request and the record that it does not change.
type noopEntry struct {
	rec, namespace weak.Pointer[memstore.Record]
	res            weak.Pointer[resource.Resource]
	digest         [sha256.Size]byte
}

// find returns the entry of the object with a key, and whether there is one.
func (c *noopCache) find(key string) (noopEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.recent[key]
	if !ok {
		e, ok = c.older[key]
	}
	return e, ok
}

// put replaces the entry of the object with a key.
func (c *noopCache) put(key string, e noopEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recent == nil || len(c.recent) >= maxNoops {
		c.older, c.recent = c.recent, map[string]noopEntry{}
	}
	c.recent[key] = e
}

// noopRequest is a PUT or a PATCH that does not change a record: it did not change it before, or it
// is the apply that the record is the result of. The result depends on the record and on what a
// noopRequest has, so that the same request does not change the same record again and need not be
// evaluated. Many controllers send little else, because they apply their whole configuration
// repeatedly (SA-04).
type noopRequest struct {
	method, path, query    string
	contentType, userAgent string
	// user and groups are those of the user, of which some plugins refuse writes.
	user   string
	groups []string
	// res is the resource, which is another one after a change of its definition.
	res *resource.Resource
	// namespace is the Namespace, whose labels the plugin PodSecurity reads.
	namespace *memstore.Record
}

// newNoopRequest returns a noopRequest. It is called before the evaluation, so that a later write
// of the Namespace makes a difference.
func (a *API) newNoopRequest(q *request) noopRequest {
	user := authn.UserFrom(q.r.Context())
	n := noopRequest{
		method: q.r.Method, path: q.r.URL.Path, query: q.r.URL.RawQuery,
		contentType: q.r.Header.Get("Content-Type"), userAgent: q.r.UserAgent(),
		user: user.Username, groups: user.Groups, res: q.res,
	}
	if namespace := q.namespace(); namespace != "" {
		n.namespace = a.store.View().Get("namespaces/" + namespace)
	}
	return n
}

// digest returns a hash of the request with its body, without res and namespace.
func (n *noopRequest) digest(body []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	var length []byte
	writeLength := func(l int) {
		length = binary.AppendUvarint(length[:0], uint64(l))
		h.Write(length)
	}
	write := func(parts ...string) {
		writeLength(len(parts))
		for _, s := range parts {
			writeLength(len(s))
			_, _ = io.WriteString(h, s)
		}
	}
	write(n.method, n.path, n.query, n.contentType, n.userAgent, n.user)
	write(n.groups...)
	h.Write(body)
	h.Sum(sum[:0])
	return sum
}

// findNoop returns the stored record if an equal request is known not to change it, or nil. A write
// that is reviewed or in the audit log is always evaluated.
func (a *API) findNoop(q *request, noop *noopRequest) *memstore.Record {
	if !q.isNoopCacheable() || a.isReviewed() || auditlog.Enabled(q.r.Context()) {
		return nil
	}
	known, ok := a.noops.find(q.key())
	if !ok || known.res != weak.Make(noop.res) || known.namespace != weak.Make(noop.namespace) {
		return nil
	}
	rec := a.store.View().Get(q.key())
	if rec == nil || known.rec != weak.Make(rec) {
		return nil
	}
	if body, err := q.readBody(); err != nil || noop.digest(body) != known.digest {
		return nil
	}
	return rec
}

// rememberNoop caches a request that does not change rec.
func (a *API) rememberNoop(q *request, noop *noopRequest, rec *memstore.Record) {
	if a.mayCacheNoop(q) {
		a.noops.put(rec.Key, noopEntry{weak.Make(rec), weak.Make(noop.namespace), weak.Make(noop.res), noop.digest(q.bodyBytes)})
	}
}

// mayCacheNoop reports whether the response to a request that was evaluated may be cached. One with
// warnings is not, because the warnings are found by the evaluation.
func (a *API) mayCacheNoop(q *request) bool {
	return q.isNoopCacheable() && len(q.w.Header()["Warning"]) == 0 && !a.isReviewed()
}

// isApplied reports whether the apply that has the result obj would not change it again. It is not
// found out if the response may not be cached, or if transition rules may refuse what does not
// change.
func (a *API) isApplied(q *request, info *updatedObjectInfo, obj runtime.Object) bool {
	if q.res.Custom != nil && q.res.Custom.HasTransitionRules() {
		return false
	}
	return info.isApplied != nil && a.mayCacheNoop(q) && !info.admission.isChanged && !info.dropManagedFields && info.isApplied(obj)
}

// isNoopCacheable reports whether the response to a request is the record that it changes, and
// depends on no more than a noopRequest has. That of a write of a role, an admission policy or a
// binding depends on the rights of the user, and that of a write of a claim on LimitRanges.
func (q *request) isNoopCacheable() bool {
	switch {
	case q.res.Group == rbacv1.GroupName, q.res.Group == admissionv1.GroupName,
		q.res.Group == "" && q.res.Plural == "persistentvolumeclaims":
		return false
	}
	return q.info.Subresource == "" || q.info.Subresource == "status"
}
