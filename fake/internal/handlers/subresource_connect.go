package handlers

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// needsKubelet reports whether a kubelet serves a subresource: the log of a pod, a command in it or
// a port of it.
func needsKubelet(sub *resource.Subresource) bool {
	return sub != nil && (sub.IsConnect || sub.Name == "log")
}

// rejectKubeletRequest returns the error of a request that only a kubelet can answer: that of an
// invalid request, that of a missing object or, otherwise, status.KubeletRequired.
func (a *API) rejectKubeletRequest(q *request) error {
	if q.sub.IsConnect && q.r.URL.Query().Has("dryRun") { // DR-09
		return apierrors.NewBadRequest("dryRun is not supported")
	}
	name := q.info.Name
	if q.sub.Name == "proxy" {
		// The name can have a scheme and a port, as in https:web:8443.
		var ok bool
		if _, name, _, ok = utilnet.SplitSchemeNamePort(q.info.Name); !ok {
			return apierrors.NewBadRequest("invalid " + q.res.Singular + " request \"" + q.info.Name + "\"")
		}
	}
	if a.store.View().Get(codec.Key(q.res, q.namespace(), name)) == nil {
		return apierrors.NewNotFound(q.res.GroupResource(), name)
	}
	return status.KubeletRequired(q.res.Plural + "/" + q.sub.Name)
}
