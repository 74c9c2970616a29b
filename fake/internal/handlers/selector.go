package handlers

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// selector is what a list or a watch selects by. The zero value selects all.
type selector struct {
	labels labels.Selector
	fields fields.Selector
	// res is whose fields those are.
	res *resource.Resource
}

// newSelector takes the selectors from list options and checks that the type
// knows the fields (SE-05, SE-06).
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

// isEmpty reports whether nothing is left out.
func (s selector) isEmpty() bool { return s.labels == nil && s.fields == nil }

// matches reports whether a record is selected. Nil never is. Fields of another version than
// the stored one are read of the converted object, whose conversion may fail.
func (s selector) matches(rec *memstore.Record) (bool, error) {
	if rec == nil || s.labels != nil && !s.labels.Matches((*recordLabels)(rec)) {
		return false, nil
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

// convertedFields shows a record's fields to a selector as another version has them.
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

// recordLabels shows a record's labels to a selector.
type recordLabels memstore.Record

func (r *recordLabels) Has(label string) bool {
	_, ok := r.Labels.Get(label)
	return ok
}

func (r *recordLabels) Get(label string) string {
	value, _ := r.Labels.Get(label)
	return value
}

func (r *recordLabels) Lookup(label string) (string, bool) { return r.Labels.Get(label) }

// recordFields shows a record's fields to a selector: its name and namespace
// from its key, the others as the type extracted them.
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
		return r.Key[strings.LastIndexByte(r.Key, '/')+1:], true
	case "metadata.namespace":
		first, last := strings.IndexByte(r.Key, '/'), strings.LastIndexByte(r.Key, '/')
		if first == last {
			return "", true
		}
		return r.Key[first+1 : last], true
	}
	return r.Fields.Get(field)
}
