package handlers

import (
	"bytes"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/auditlog"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// The limits of the cache of no-op requests: the number of objects, and the sizes of the largest body
// and the largest record in bytes.
const (
	maxNoops      = 2048
	maxNoopBody   = 16 << 10
	maxNoopRecord = 32 << 10
)

func newNoopCache() *recordcache.Cache[noopRequest] {
	return recordcache.NewSized[noopRequest](maxNoops, maxNoopRecord)
}

// noopRequest is a PUT or a PATCH that does not change a record: it did not change it before, or it
// is the apply that the record is the result of. The result depends on the record and on what a
// noopRequest has, so that the same request does not change the same record again and need not be
// evaluated. Many controllers send little else, because they apply their whole configuration
// repeatedly (SA-04).
type noopRequest struct {
	method, path, query    string
	contentType, userAgent string
	body                   []byte
	// user and groups are those of the user, of which some plugins refuse writes.
	user   string
	groups []string
	// res is the resource, which is another one after a change of its definition.
	res *resource.Resource
	// namespace is the Namespace, whose labels the plugin PodSecurity reads.
	namespace *memstore.Record
}

// newNoopRequest returns a request without its body. It is called before the evaluation, so that a
// later write of the Namespace makes a difference.
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

func (n *noopRequest) equal(other *noopRequest) bool {
	return n.method == other.method && n.path == other.path && n.query == other.query &&
		n.contentType == other.contentType && n.userAgent == other.userAgent && bytes.Equal(n.body, other.body) &&
		n.user == other.user && slices.Equal(n.groups, other.groups) && n.res == other.res && n.namespace == other.namespace
}

// findNoop returns the stored record if an equal request is known not to change it, or nil. A write
// that is reviewed or in the audit log is always evaluated.
func (a *API) findNoop(q *request, noop *noopRequest) *memstore.Record {
	if !q.isNoopCacheable() || a.isReviewed() || auditlog.Enabled(q.r.Context()) {
		return nil
	}
	rec, known := a.noops.Find(q.key())
	if rec == nil {
		return nil
	}
	var err error
	if noop.body, err = q.readBody(); err != nil || !known.equal(noop) || a.store.View().Get(rec.Key) != rec {
		return nil
	}
	return rec
}

// rememberNoop caches a request that does not change rec.
func (a *API) rememberNoop(q *request, noop *noopRequest, rec *memstore.Record) {
	if a.mayCacheNoop(q) {
		noop.body = q.bodyBytes
		a.noops.Put(rec, *noop)
	}
}

// mayCacheNoop reports whether the response to a request that was evaluated may be cached. One with
// warnings is not, because the warnings are found by the evaluation.
func (a *API) mayCacheNoop(q *request) bool {
	return q.isNoopCacheable() && len(q.bodyBytes) <= maxNoopBody && len(q.w.Header()["Warning"]) == 0 && !a.isReviewed()
}

// isApplied reports whether the apply that has the result obj would not change it again. It is not
// found out if the response may not be cached.
func (a *API) isApplied(q *request, info *updatedObjectInfo, obj runtime.Object) bool {
	return info.isApplied != nil && a.mayCacheNoop(q) && !info.admission.isChanged && !info.dropManagedFields && info.isApplied(obj)
}

// isNoopCacheable reports whether the response to a request is the record that it changes. That of a
// write of a role or a binding depends on the rights of the user.
func (q *request) isNoopCacheable() bool {
	return q.res.Group != rbacv1.GroupName && (q.info.Subresource == "" || q.info.Subresource == "status")
}
