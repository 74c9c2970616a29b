package handlers

import (
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// parseRevision parses the resourceVersion of options. "" is 0, like "0".
func parseRevision(s string) (memstore.Revision, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", s, err)
	}
	return memstore.Revision(n), nil
}

// resourceVersionOf parses the resourceVersion of an object. "" is 0. The error is answered with
// 500.
func resourceVersionOf(m metav1.Object) (uint64, error) {
	if m.GetResourceVersion() == "" {
		return 0, nil
	}
	return strconv.ParseUint(m.GetResourceVersion(), 10, 64)
}

// viewAtLeast returns the state that a read at a resourceVersion sees, with "not older than"
// semantics: the most recent one for "" (GT-02), any state for "0" (GT-03), and for a number one
// that is not older (GT-04), for which it waits (GT-05). The error of a resourceVersion that does
// not parse is answered with 500 (GT-06).
func (a *API) viewAtLeast(q *request, resourceVersion string) (memstore.View, error) {
	if resourceVersion == "" {
		return a.store.View(), nil
	}
	rev, err := parseRevision(resourceVersion)
	if err != nil {
		return memstore.View{}, err
	}
	if err := a.cache.WaitUntilFresh(q.r.Context(), q.timeLeft(), rev); err != nil {
		return memstore.View{}, err
	}
	return a.cache.View(), nil
}

// viewExactly returns the state at rev. It waits for a revision that does not exist yet.
func (a *API) viewExactly(q *request, rev memstore.Revision) (memstore.View, error) {
	if err := a.cache.WaitUntilStored(q.r.Context(), q.timeLeft(), rev); err != nil {
		return memstore.View{}, err
	}
	view, err := a.store.ViewAt(rev)
	return view, status.FromStoreError(err)
}

// listStart is the state and the key at which a list starts.
type listStart struct {
	view     memstore.View
	startKey string
}

// resolveListStart returns the start of a list for its resourceVersion, resourceVersionMatch and
// continue (RS-10 to RS-28). The package documentation has the table.
func (a *API) resolveListStart(q *request, prefix string, sel selector, opts *metainternal.ListOptions) (listStart, error) {
	if opts.Continue != "" {
		return a.resolveContinue(q, prefix, sel, opts)
	}
	rev, err := parseRevision(opts.ResourceVersion)
	if err != nil {
		return listStart{}, apierrors.NewBadRequest("invalid resource version: " + err.Error())
	}
	isLimited := opts.ResourceVersionMatch == "" && opts.Limit > 0
	isExact := opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact || isLimited
	if isExact && rev > 0 {
		if sel.isSingleObject() {
			if current := a.store.Revision(); rev > current {
				return listStart{}, status.ResourceVersionNotFound(uint64(rev), uint64(current))
			}
			if isLimited { // one object has no pages, so that the limit has no meaning
				return listStart{view: a.store.View()}, nil
			}
		}
		if err := a.checkExactListReady(q, sel, opts); err != nil {
			return listStart{}, err
		}
		view, err := a.viewExactly(q, rev)
		return listStart{view: view}, err
	}
	if err := a.checkListReady(q, sel, opts); err != nil {
		return listStart{}, err
	}
	view, err := a.viewAtLeast(q, opts.ResourceVersion)
	return listStart{view: view}, err
}

// checkListReady returns the 429 of a list while the watch cache is being initialized. A list with
// a limit and without selectors is read from the storage instead (RS-31).
func (a *API) checkListReady(q *request, sel selector, opts *metainternal.ListOptions) error {
	if sel.isEmpty() && opts.Limit > 0 {
		return nil
	}
	return a.checkCacheReady(q)
}

// checkExactListReady is checkListReady for an exact or continued list. That of a single object is
// always read from the storage.
func (a *API) checkExactListReady(q *request, sel selector, opts *metainternal.ListOptions) error {
	if sel.isSingleObject() {
		return nil
	}
	return a.checkListReady(q, sel, opts)
}

// checkCacheReady returns the 429 of a watch cache that is being initialized. That of a custom
// resource is also initialized after a change of its definition.
func (a *API) checkCacheReady(q *request) error {
	var changed time.Time
	if q.res.Custom != nil {
		changed = q.res.Custom.CRD().Created()
	}
	return a.cache.CheckReady(changed)
}

// resolveContinue returns the start of a list with a continue token. If its revision has expired,
// the error is a 410 with a token that continues in the current state (CH-18).
func (a *API) resolveContinue(q *request, prefix string, sel selector, opts *metainternal.ListOptions) (listStart, error) {
	position, err := decodeContinue(prefix, opts.Continue)
	if err != nil {
		return listStart{}, err
	}
	if opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
		return listStart{}, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	if err := a.checkExactListReady(q, sel, opts); err != nil {
		return listStart{}, err
	}
	if position.revision == 0 {
		return listStart{view: a.store.View(), startKey: position.startKey}, nil
	}
	var view memstore.View
	if a.continueLifetimes.isExpired(a.epochRevision(position.revision)) {
		err = apierrors.NewResourceExpired("the continue token has expired")
	} else {
		view, err = a.viewExactly(q, position.revision)
	}
	if apierrors.IsResourceExpired(err) {
		return listStart{}, status.ExpiredContinue(encodeContinue(prefix, position.startKey, inconsistentRevision))
	}
	return listStart{view: view, startKey: position.startKey}, err
}

// pageLimit returns the maximum number of items of a page, or 0 if it is not limited. A list at
// resourceVersion "0" is read from the watch cache, which has no pages (RS-14, RS-17). A list of
// one object has none either.
func pageLimit(sel selector, opts *metainternal.ListOptions) int {
	if opts.ResourceVersion == "0" || opts.Limit > 0 && opts.Continue == "" && sel.isSingleObject() {
		return 0
	}
	return int(max(opts.Limit, 0))
}
