package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// owner is an entry of managedFields as it should be.
type owner struct {
	manager     string
	operation   metav1.ManagedFieldsOperationType
	version     string // apiVersion of the fields; "" is not compared
	subresource string
	fields      string // in the format FieldsV1; "" is not compared
}

// applied is the entry of a manager that applied these fields.
func applied(manager, fields string) owner {
	return owner{manager: manager, operation: metav1.ManagedFieldsOperationApply, fields: fields}
}

// updated is the entry of a manager that wrote these fields in another way.
func updated(manager, fields string) owner {
	return owner{manager: manager, operation: metav1.ManagedFieldsOperationUpdate, fields: fields}
}

// through says by which subresource the fields were written.
func (o owner) through(subresource string) owner {
	o.subresource = subresource
	return o
}

// in says in which version of the object the fields were written.
func (o owner) in(version string) owner {
	o.version = version
	return o
}

func (o owner) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", o.manager, o.operation, o.version, o.subresource, o.fields))
}

// is says whether an entry is the expected one.
func (o owner) is(entry metav1.ManagedFieldsEntry) bool {
	same := o.manager == entry.Manager && o.operation == entry.Operation && o.subresource == entry.Subresource &&
		entry.FieldsType == "FieldsV1" && entry.FieldsV1 != nil
	if o.version != "" {
		same = same && o.version == entry.APIVersion
	}
	if same && o.fields != "" {
		var want, got any
		same = json.Unmarshal([]byte(o.fields), &want) == nil && json.Unmarshal(entry.FieldsV1.GetRawBytes(), &got) == nil &&
			reflect.DeepEqual(want, got)
	}
	return same
}

// managers gives the managedFields of the object in an answer.
func managers(a *answer) ([]metav1.ManagedFieldsEntry, error) {
	var o metav1.PartialObjectMetadata
	err := a.decode(&o)
	return o.ManagedFields, err
}

// owned expects just these entries in managedFields, in any order.
func owned(want ...owner) expectation {
	return func(a *answer) error {
		entries, err := managers(a)
		if err != nil {
			return err
		}
		left := slices.Clone(entries)
		for _, w := range want {
			i := slices.IndexFunc(left, w.is)
			if i < 0 {
				return fmt.Errorf("expected an entry %q in managedFields, got %s", w, shown(entries))
			}
			left = slices.Delete(left, i, i+1)
		}
		if len(left) > 0 {
			return fmt.Errorf("expected %d entries in managedFields, got %s", len(want), shown(entries))
		}
		return nil
	}
}

// shown is managedFields in short.
func shown(entries []metav1.ManagedFieldsEntry) string {
	var lines []string
	for _, e := range entries {
		fields := ""
		if e.FieldsV1 != nil {
			fields = e.FieldsV1.GetRawString()
		}
		lines = append(lines, owner{e.Manager, e.Operation, e.APIVersion, e.Subresource, fields}.String())
	}
	return fmt.Sprintf("%q", lines)
}

// The fields of data in the format FieldsV1: these keys, and the field itself where it was set as a whole.

func dataFields(keys ...string) string      { return `{"f:data":{` + fieldNames(keys) + `}}` }
func wholeDataFields(keys ...string) string { return `{"f:data":{".":{},` + fieldNames(keys) + `}}` }

func fieldNames(keys []string) string {
	var names []string
	for _, key := range keys {
		names = append(names, fmt.Sprintf(`"f:%s":{}`, key))
	}
	return strings.Join(names, ",")
}

// fieldConflict is how an apply is refused that changes one field of another manager, by the words for that manager.
func fieldConflict(manager, path string) refusal {
	return refusal{
		code: 409, reason: metav1.StatusReasonConflict, details: &metav1.StatusDetails{},
		message: fmt.Sprintf("Apply failed with 1 conflict: conflict with %s: %s", manager, path),
		causes:  []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: path, Message: "conflict with " + manager}},
	}
}
