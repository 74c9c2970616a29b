package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// managedEntry is an expected entry of managedFields.
type managedEntry struct {
	manager     string
	operation   metav1.ManagedFieldsOperationType
	version     string // apiVersion of the fields; "" is not compared
	subresource string
	fields      string // in the format FieldsV1; "" is not compared
}

// applyEntry returns the entry of a manager that applied the fields.
func applyEntry(manager, fields string) managedEntry {
	return managedEntry{manager: manager, operation: metav1.ManagedFieldsOperationApply, fields: fields}
}

// updateEntry returns the entry of a manager that wrote the fields without apply.
func updateEntry(manager, fields string) managedEntry {
	return managedEntry{manager: manager, operation: metav1.ManagedFieldsOperationUpdate, fields: fields}
}

// withSubresource sets the subresource that the fields were written through.
func (e managedEntry) withSubresource(subresource string) managedEntry {
	e.subresource = subresource
	return e
}

// withVersion sets the version that the fields were written in.
func (e managedEntry) withVersion(version string) managedEntry {
	e.version = version
	return e
}

func (e managedEntry) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", e.manager, e.operation, e.version, e.subresource, e.fields))
}

// matches reports whether an entry is the expected one.
func (e managedEntry) matches(entry metav1.ManagedFieldsEntry) bool {
	same := e.manager == entry.Manager && e.operation == entry.Operation && e.subresource == entry.Subresource &&
		entry.FieldsType == "FieldsV1" && entry.FieldsV1 != nil
	if e.version != "" {
		same = same && e.version == entry.APIVersion
	}
	if same && e.fields != "" {
		var want, got any
		same = json.Unmarshal([]byte(e.fields), &want) == nil && json.Unmarshal(entry.FieldsV1.GetRawBytes(), &got) == nil &&
			reflect.DeepEqual(want, got)
	}
	return same
}

// managedFieldsOf returns the managedFields of the object in a response.
func managedFieldsOf(r *response) ([]metav1.ManagedFieldsEntry, error) {
	var o metav1.PartialObjectMetadata
	err := r.decode(&o)
	return o.ManagedFields, err
}

// managedFieldsAre expects exactly these entries in managedFields, in any order.
func managedFieldsAre(want ...managedEntry) expectation {
	return func(r *response) error {
		entries, err := managedFieldsOf(r)
		if err != nil {
			return err
		}
		left := slices.Clone(entries)
		for _, w := range want {
			i := slices.IndexFunc(left, w.matches)
			if i < 0 {
				return fmt.Errorf("expected an entry %q in managedFields, got %s", w, formatManagedFields(entries))
			}
			left = slices.Delete(left, i, i+1)
		}
		if len(left) > 0 {
			return fmt.Errorf("expected %d entries in managedFields, got %s", len(want), formatManagedFields(entries))
		}
		return nil
	}
}

// formatManagedFields formats managedFields for error messages.
func formatManagedFields(entries []metav1.ManagedFieldsEntry) string {
	var lines []string
	for _, e := range entries {
		fields := ""
		if e.FieldsV1 != nil {
			fields = e.FieldsV1.GetRawString()
		}
		lines = append(lines, managedEntry{e.Manager, e.Operation, e.APIVersion, e.Subresource, fields}.String())
	}
	return fmt.Sprintf("%q", lines)
}

// These functions return fields of data in the format FieldsV1: only the keys, or the keys and data
// itself.

func dataFields(keys ...string) string        { return `{"f:data":{` + fieldNames(keys) + `}}` }
func dataFieldsAndSelf(keys ...string) string { return `{"f:data":{".":{},` + fieldNames(keys) + `}}` }

func fieldNames(keys []string) string {
	var names []string
	for _, key := range keys {
		names = append(names, fmt.Sprintf(`"f:%s":{}`, key))
	}
	return strings.Join(names, ",")
}

// fieldConflict is the failure of an apply that changes one field of another manager, which is
// given as in the message.
func fieldConflict(manager, path string) failure {
	return failure{
		code: 409, reason: metav1.StatusReasonConflict, details: &metav1.StatusDetails{},
		message: fmt.Sprintf("Apply failed with 1 conflict: conflict with %s: %s", manager, path),
		causes:  []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: path, Message: "conflict with " + manager}},
	}
}
