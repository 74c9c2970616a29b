package codec

import (
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/memstore"
)

// RecordLabels is a record as labels.Labels, by which selectors select it.
type RecordLabels memstore.Record

var _ labels.Labels = (*RecordLabels)(nil)

// Has implements labels.Labels.
func (r *RecordLabels) Has(label string) bool {
	_, ok := r.Labels.Get(label)
	return ok
}

// Get implements labels.Labels.
func (r *RecordLabels) Get(label string) string {
	value, _ := r.Labels.Get(label)
	return value
}

// Lookup implements labels.Labels.
func (r *RecordLabels) Lookup(label string) (string, bool) { return r.Labels.Get(label) }
