package handlers

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// decodeListOptions decodes and validates the options of a list, a watch or a
// deletecollection, with the defaults of a server that has WatchList, or not (SI-10).
func (q *request) decodeListOptions(watchList bool) (metainternal.ListOptions, selector, error) {
	var opts metainternal.ListOptions
	if err := q.decodeOptions(&opts); err != nil {
		return opts, selector{}, err
	}
	if q.info.IsWatchPath {
		opts.Watch = true
	}
	metainternal.SetListOptionsDefaults(&opts, watchList)
	if err := invalidOptions("ListOptions", metainternalvalidation.ValidateListOptions(&opts, watchList)); err != nil {
		return opts, selector{}, err
	}
	sel, err := newSelector(q.res, &opts)
	if err != nil {
		return opts, sel, err
	}
	return opts, sel, q.addNameSelector(&sel)
}

// addNameSelector adds the name of the path, which the deprecated watch paths have
// (PV-12), to the field selector; another name there is refused (PV-31).
func (q *request) addNameSelector(sel *selector) error {
	name := q.info.Name
	if name == "" {
		return nil
	}
	if sel.fields != nil {
		if selected, ok := sel.fields.RequiresExactMatch("metadata.name"); !ok || selected != name {
			return apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
		}
		return nil
	}
	sel.fields = fields.OneTermEqualSelector("metadata.name", name)
	return nil
}

// list reads a collection (LS, RS and CH rules).
func (a *API) list(q *request) error {
	opts, sel, err := q.decodeListOptions(a.hasWatchList())
	if err != nil {
		return err
	}
	prefix := q.key()
	from, err := a.resolveListStart(q, prefix, sel, &opts)
	if err != nil {
		return err
	}
	page, err := a.page(from.view, prefix, from.startKey, sel, limit(&opts))
	if err != nil {
		return err
	}
	return q.replyList(from.view.Revision(), sel, page)
}

// replyList answers with a page of a collection.
func (q *request) replyList(rev memstore.Revision, sel selector, page page) error {
	if err := q.checkListForm(); err != nil {
		return err
	}
	if err := codec.ConvertAll(q.res, page.items); err != nil {
		return err
	}
	meta := metav1.ListMeta{ResourceVersion: rev.String(), Continue: page.token}
	if page.token != "" && sel.isEmpty() { // CH-05
		meta.RemainingItemCount = &page.remaining
	}
	return q.encoder.WriteList(q.w, meta, page.items)
}

// limit is how many items a page may have, 0 for any number. A read of "any"
// state is answered from the cache, which has no pages (RS-14, RS-17).
func limit(opts *metainternal.ListOptions) int {
	if opts.ResourceVersion == "0" {
		return 0
	}
	return int(max(opts.Limit, 0))
}

// listStart is where a list begins: in which state, at which key.
type listStart struct {
	view     memstore.View
	startKey string
}

// resolveListStart finds it: the cells of the table of resourceVersion, match and
// continue (RS-10 to RS-28).
func (a *API) resolveListStart(q *request, prefix string, sel selector, opts *metainternal.ListOptions) (listStart, error) {
	if opts.Continue != "" {
		return a.resolveContinue(q, prefix, opts)
	}
	rev, err := parseRevision(opts.ResourceVersion)
	if err != nil {
		return listStart{}, apierrors.NewBadRequest("invalid resource version: " + err.Error())
	}
	exact := opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		opts.ResourceVersionMatch == "" && opts.Limit > 0
	if exact && rev > 0 {
		if current := a.store.Revision(); rev > current && q.isSingleObject(sel) {
			return listStart{}, status.ResourceVersionNotFound(uint64(rev), uint64(current))
		}
		view, err := a.viewExactly(q, rev)
		return listStart{view: view}, err
	}
	if err := a.watchCache.checkReadyForList(sel, opts); err != nil {
		return listStart{}, err
	}
	view, err := a.viewAtLeast(q, opts.ResourceVersion)
	return listStart{view: view}, err
}

// isSingleObject reports whether a list is of one object at most, by its name: a real server reads
// the exact state of that from etcd, past its cache, and waits for nothing.
func (q *request) isSingleObject(sel selector) bool {
	if sel.fields == nil || q.res.Namespaced && q.namespace() == "" {
		return false
	}
	_, hasName := sel.fields.RequiresExactMatch("metadata.name")
	return hasName
}

// resolveContinue finds where a continue token goes on. A token whose revision is gone
// is a 410 with one that goes on in the state of now (CH-18).
func (a *API) resolveContinue(q *request, prefix string, opts *metainternal.ListOptions) (listStart, error) {
	at, err := decodeContinue(prefix, opts.Continue)
	if err != nil {
		return listStart{}, err
	}
	if opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
		return listStart{}, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	if at.revision == 0 {
		return listStart{view: a.store.View(), startKey: at.startKey}, nil
	}
	var view memstore.View
	if a.tokenLifetimes.isExpired(a.epochRevision(at.revision)) {
		err = apierrors.NewResourceExpired("the token has lived too long")
	} else {
		view, err = a.viewExactly(q, at.revision)
	}
	if apierrors.IsResourceExpired(err) {
		return listStart{}, status.ExpiredContinue(encodeContinue(prefix, at.startKey, inconsistentRevision))
	}
	return listStart{view: view, startKey: at.startKey}, err
}

// viewExactly gives the state at exactly rev, waiting for one from the future.
func (a *API) viewExactly(q *request, rev memstore.Revision) (memstore.View, error) {
	if err := a.waitForRevision(q.r.Context(), timeoutOf(&q.info), currentView{a.store}, rev); err != nil {
		return memstore.View{}, err
	}
	view, err := a.store.ViewAt(rev)
	return view, status.FromStoreError(err)
}

// page is a part of a collection.
type page struct {
	items []*memstore.Record
	// token goes on behind the last item; "" if nothing is left.
	token     string
	remaining int64
}

// page gathers up to limit selected records from a key on. As a real server
// does, it says that there is more as soon as any object follows, selected or
// not (CH-10).
func (a *API) page(view memstore.View, prefix, from string, sel selector, limit int) (page, error) {
	var p page
	if limit == 0 && from == "" && sel.isEmpty() {
		p.items = make([]*memstore.Record, 0, view.Count(prefix))
	}
	for rec := range view.Range(prefix, from) {
		if limit > 0 && len(p.items) == limit {
			last := p.items[limit-1].Key + "\x00"
			p.token = encodeContinue(prefix, last, int64(view.Revision()))
			a.tokenLifetimes.recordServed(a.epochRevision(view.Revision()))
			if sel.isEmpty() {
				p.remaining = a.remaining.remaining(view, a.epochRevision(view.Revision()), prefix, from, last, limit)
			}
			break
		}
		selected, err := sel.matches(rec)
		if err != nil {
			return p, err
		}
		if selected {
			p.items = append(p.items, rec)
		}
	}
	return p, nil
}
