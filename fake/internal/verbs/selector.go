package verbs

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// selector is what a list or a watch selects by. The zero value selects all.
type selector struct {
	labels labels.Selector
	fields fields.Selector
}

// newSelector takes the selectors from list options and checks that the type
// knows the fields (SE-05, SE-06).
func newSelector(res *resource.Resource, opts *metainternal.ListOptions) (selector, error) {
	var s selector
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

// all reports whether nothing is left out.
func (s selector) all() bool { return s.labels == nil && s.fields == nil }

// matches reports whether a record is selected. Nil never is.
func (s selector) matches(rec *memstore.Record) bool {
	return rec != nil &&
		(s.labels == nil || s.labels.Matches((*recordLabels)(rec))) &&
		(s.fields == nil || s.fields.Matches((*recordFields)(rec)))
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
