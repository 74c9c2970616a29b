package codec

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/fake/internal/jsonvalue"
	"example.com/fakeapi/fake/internal/resource"
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

// LabelsOf returns the labels of a record in r's version. A conversion webhook may change those of
// a custom resource.
func LabelsOf(r *resource.Resource, rec *memstore.Record) (labels.Labels, error) {
	if !ConversionMayFail(r, rec) {
		return (*RecordLabels)(rec), nil
	}
	data, err := CustomMetadata(r, rec)
	if err != nil {
		return nil, err
	}
	metadata, err := jsonvalue.Decode(data)
	if err != nil {
		return nil, err
	}
	set, _, _ := unstructured.NestedStringMap(metadata, "labels") // no labels if one is no string
	return labels.Set(set), nil
}
