package handlers

import (
	"iter"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// selector is the label selector and the field selector of a list or a watch. The zero value
// selects everything.
type selector struct {
	labels labels.Selector
	fields fields.Selector
	// res is the resource of the fields.
	res *resource.Resource
	// key is the key of the only object that may be selected, or "".
	key string
}

// newSelector returns the selector of list options. The error is that of an unknown field (SE-05,
// SE-06).
func newSelector(res *resource.Resource, opts *metainternal.ListOptions) (selector, error) {
	s := selector{res: res}
	if opts.LabelSelector != nil && !opts.LabelSelector.Empty() {
		s.labels = opts.LabelSelector
	}
	if opts.FieldSelector == nil || opts.FieldSelector.Empty() {
		return s, nil
	}
	for _, requirement := range opts.FieldSelector.Requirements() {
		if err := res.CheckField(requirement.Field); err != nil {
			return s, apierrors.NewBadRequest(err.Error())
		}
	}
	s.fields = opts.FieldSelector
	return s, nil
}

// isEmpty reports whether s selects everything.
func (s selector) isEmpty() bool { return s.labels == nil && s.fields == nil }

// isSingleObject reports whether s selects at most one object, by its key. A real server reads a
// list of it from etcd instead of the watch cache, without pages, and does not wait for a revision.
func (s selector) isSingleObject() bool { return s.key != "" }

// matches reports whether rec is selected. nil is not. Fields of another version than the stored
// one, and labels that a webhook may change, are read from the converted object; the error is that
// of the conversion.
func (s selector) matches(rec *memstore.Record) (bool, error) {
	if rec == nil {
		return false, nil
	}
	if s.labels != nil {
		converted, err := codec.LabelsOf(s.res, rec)
		if err != nil || !s.labels.Matches(converted) {
			return false, err
		}
	}
	if s.fields == nil {
		return true, nil
	}
	if codec.HasIndexedFields(s.res, rec) {
		return s.fields.Matches((*recordFields)(rec)), nil
	}
	converted, err := codec.CustomFields(s.res, rec)
	if err != nil {
		return false, err
	}
	return s.fields.Matches(convertedFields{(*recordFields)(rec), converted}), nil
}

// candidates returns the records of a collection from a key on that s may select.
func (s selector) candidates(view memstore.View, prefix, startKey string) iter.Seq[*memstore.Record] {
	if s.key == "" || startKey != "" {
		return view.Range(prefix, startKey)
	}
	return func(yield func(*memstore.Record) bool) {
		if rec := view.Get(s.key); rec != nil {
			yield(rec)
		}
	}
}

// convertedFields are the fields of a record in another version than the stored one.
type convertedFields struct {
	*recordFields
	converted fields.Set
}

func (c convertedFields) Has(field string) bool {
	return c.converted.Has(field) || c.recordFields.Has(field)
}

func (c convertedFields) Get(field string) string {
	if c.converted.Has(field) {
		return c.converted.Get(field)
	}
	return c.recordFields.Get(field)
}

// recordFields implements fields.Fields for a record. The name and the namespace are those in its
// key; the resource has extracted the others.
type recordFields memstore.Record

func (r *recordFields) Has(field string) bool {
	_, ok := r.lookup(field)
	return ok
}

func (r *recordFields) Get(field string) string {
	value, _ := r.lookup(field)
	return value
}

func (r *recordFields) lookup(field string) (string, bool) {
	switch field {
	case "metadata.name":
		return nameFromKey(r.Key), true
	case "metadata.namespace":
		first, last := strings.IndexByte(r.Key, '/'), strings.LastIndexByte(r.Key, '/')
		if first == last {
			return "", true
		}
		return r.Key[first+1 : last], true
	}
	return r.Fields.Get(field)
}
