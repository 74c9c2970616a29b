package handlers

import (
	"cmp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// decodeListOptions decodes and validates the options of a list, a watch or a deletecollection. The
// defaults depend on whether WatchList is enabled (SI-10).
func (q *request) decodeListOptions(watchList bool) (metainternal.ListOptions, selector, error) {
	var opts metainternal.ListOptions
	if err := q.decodeOptions(&opts); err != nil {
		return opts, selector{}, err
	}
	if q.info.IsWatchPath {
		opts.Watch = true
	}
	metainternal.SetListOptionsDefaults(&opts, watchList)
	if err := status.InvalidOptions("ListOptions", metainternalvalidation.ValidateListOptions(&opts, watchList)); err != nil {
		return opts, selector{}, err
	}
	sel, err := newSelector(q.res, &opts)
	if err != nil {
		return opts, sel, err
	}
	if err := q.addNameSelector(&sel); err != nil {
		return opts, sel, err
	}
	sel.key = q.selectedKey(sel.fields)
	return opts, sel, nil
}

// addNameSelector adds the name of the path, which deprecated watch paths have (PV-12), to the
// field selector. The field selector must not have another name (PV-31).
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

// selectedKey returns the key of the only object that a field selector may select, or "".
func (q *request) selectedKey(selector fields.Selector) string {
	if selector == nil {
		return ""
	}
	name, ok := selector.RequiresExactMatch("metadata.name")
	if !ok || name == "" || len(content.IsPathSegmentName(name)) > 0 {
		return ""
	}
	namespace := q.namespace()
	if q.res.Namespaced && namespace == "" {
		namespace, ok = selector.RequiresExactMatch("metadata.namespace")
		if !ok || len(validation.ValidateNamespaceName(namespace, false)) > 0 {
			return ""
		}
	}
	return codec.Key(q.res, namespace, name)
}

// listPrefix returns the prefix of the keys that a list reads. A field selector of one namespace
// makes a list of all namespaces one of it. As on a real server, a continue token undoes that, so
// that the second page begins with the first object again.
func (q *request) listPrefix(sel selector, opts *metainternal.ListOptions) string {
	if q.res.Namespaced && q.namespace() == "" && sel.fields != nil && opts.Continue == "" {
		namespace, ok := sel.fields.RequiresExactMatch("metadata.namespace")
		if ok && len(validation.ValidateNamespaceName(namespace, false)) == 0 {
			return codec.Key(q.res, namespace, "")
		}
	}
	return q.key()
}

// list returns a collection, or a page of it (LS, RS and CH rules).
func (a *API) list(q *request) error {
	opts, sel, err := q.decodeListOptions(a.watchList.Load())
	if err != nil {
		return err
	}
	prefix := q.listPrefix(sel, &opts)
	start, err := a.resolveListStart(q, prefix, sel, &opts)
	if err != nil {
		return err
	}
	page, err := a.readPage(start.view, prefix, start.startKey, sel, pageLimit(sel, &opts))
	if err != nil {
		return err
	}
	return q.replyList(start.view.Revision(), sel, page)
}

// page is a part of a collection.
type page struct {
	items []*memstore.Record
	// continueToken continues after the last item; "" if there are no more.
	continueToken string
	// remaining is the number of items after the page. It is set with continueToken if the selector
	// is empty.
	remaining int64
}

// readPage reads up to limit selected records from a key on. As on a real server, there is a
// continue token if any record follows, selected or not (CH-10).
func (a *API) readPage(view memstore.View, prefix, startKey string, sel selector, limit int) (page, error) {
	var p page
	if limit == 0 && startKey == "" && sel.isEmpty() {
		p.items = make([]*memstore.Record, 0, view.Count(prefix))
	}
	for rec := range sel.candidates(view, prefix, startKey) {
		if limit > 0 && len(p.items) == limit {
			nextKey := p.items[limit-1].Key + "\x00"
			revision := a.epochRevision(view.Revision())
			p.continueToken = encodeContinue(prefix, nextKey, int64(view.Revision()))
			a.continueLifetimes.recordServed(revision)
			if sel.isEmpty() {
				p.remaining = a.remaining.afterPage(view, revision, prefix, startKey, nextKey, limit)
			}
			break
		}
		selected, err := sel.matches(rec)
		if err != nil {
			if isConversionError(err) { // a list has the errors of all objects
				err = cmp.Or(codec.ConvertAll(sel.res, slices.Collect(view.Range(prefix, ""))), err)
			}
			return p, err
		}
		if selected {
			p.items = append(p.items, rec)
		}
	}
	return p, nil
}

// replyList writes the response with a page of a collection.
func (q *request) replyList(rev memstore.Revision, sel selector, p page) error {
	if err := q.checkListForm(); err != nil {
		return err
	}
	if err := codec.ConvertAll(q.res, p.items); err != nil {
		return err
	}
	meta := metav1.ListMeta{ResourceVersion: rev.String(), Continue: p.continueToken}
	if p.continueToken != "" && sel.isEmpty() { // CH-05
		meta.RemainingItemCount = &p.remaining
	}
	if err := q.auditList(meta, p.items); err != nil {
		return err
	}
	return q.encoder.WriteList(q.w, meta, p.items)
}
