package managedfields

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

// RestoreTimestamps sets the times of obj's managedFields to those of live if the objects do not
// differ otherwise, so that a write that changes nothing is not stored (OC-18, SA-04). obj is the
// object as it would be stored. Both objects must be of the same type.
func RestoreTimestamps(live, obj runtime.Object) {
	if before, ok := live.(*unstructured.Unstructured); ok {
		restoreUnstructured(before, obj)
		return
	}
	before, err := meta.Accessor(live)
	if err != nil {
		return
	}
	after, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	old, updated := before.GetManagedFields(), after.GetManagedFields()
	if equal, equalTimes := compareEntries(old, updated); !equal || equalTimes || !equalExceptMetadata(live, obj) {
		return
	}
	after.SetManagedFields(old)
	if !equalMetadata(live, obj) {
		after.SetManagedFields(updated)
	}
}

// compareEntries reports whether two lists of entries are equal apart from their times, and whether
// the times are equal too. Times are stored in seconds. A time that has not been stored is more
// precise and may be in another location.
func compareEntries(a, b []metav1.ManagedFieldsEntry) (equal, equalTimes bool) {
	if len(a) != len(b) {
		return false, false
	}
	equalTimes = true
	for i := range a {
		x, y := &a[i], &b[i]
		equalTimes = equalTimes && (x.Time == nil) == (y.Time == nil) && (x.Time == nil || x.Time.Unix() == y.Time.Unix())
		if x.Manager != y.Manager || x.Operation != y.Operation || x.APIVersion != y.APIVersion || x.FieldsType != y.FieldsType ||
			x.Subresource != y.Subresource || !equalFields(x.FieldsV1, y.FieldsV1) {
			return false, false
		}
	}
	return true, equalTimes
}

func equalFields(a, b *metav1.FieldsV1) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}

// equalExceptMetadata is called before equalMetadata, because most writes change other fields.
func equalExceptMetadata(a, b runtime.Object) bool {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		switch x.Type().Field(i).Name {
		case "TypeMeta", "ObjectMeta":
			continue
		}
		if !equality.Semantic.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			return false
		}
	}
	return true
}

func equalMetadata(a, b runtime.Object) bool {
	x, y := reflect.ValueOf(a).Elem().FieldByName("ObjectMeta"), reflect.ValueOf(b).Elem().FieldByName("ObjectMeta")
	return equality.Semantic.DeepEqual(x.Interface(), y.Interface())
}

// restoreUnstructured is RestoreTimestamps for a custom resource. It does not decode the entries.
func restoreUnstructured(live *unstructured.Unstructured, obj runtime.Object) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	before, _ := live.Object["metadata"].(map[string]any)
	after, _ := u.Object["metadata"].(map[string]any)
	old := entries(live)
	if equal, equalTimes := compareJSONEntries(old, entries(u)); equal && !equalTimes &&
		equalExcept(live.Object, u.Object, "apiVersion", "kind", "metadata") && equalExcept(before, after, "managedFields") {
		after["managedFields"] = old
	}
}

// entries returns the managedFields of a custom resource as decoded JSON.
func entries(u *unstructured.Unstructured) []any {
	metadata, _ := u.Object["metadata"].(map[string]any)
	list, _ := metadata["managedFields"].([]any)
	return list
}

// compareJSONEntries is compareEntries for entries as decoded JSON, whose times are in seconds.
func compareJSONEntries(a, b []any) (equal, equalTimes bool) {
	if len(a) != len(b) {
		return false, false
	}
	equalTimes = true
	for i := range a {
		x, isObject := a[i].(map[string]any)
		y, areObjects := b[i].(map[string]any)
		if !isObject || !areObjects || !equalExcept(x, y, "time") {
			return false, false
		}
		equalTimes = equalTimes && equalStrings(x["time"], y["time"])
	}
	return true, equalTimes
}

// equalExcept compares two objects without some of their fields.
func equalExcept(a, b map[string]any, excluded ...string) bool {
	if len(a)-countFields(a, excluded) != len(b)-countFields(b, excluded) {
		return false
	}
	for name, value := range a {
		if other, has := b[name]; !slices.Contains(excluded, name) && (!has || !jsonvalue.Equal(value, other)) {
			return false
		}
	}
	return true
}

// countFields returns how many of the names are fields of an object.
func countFields(object map[string]any, names []string) int {
	n := 0
	for _, name := range names {
		if _, has := object[name]; has {
			n++
		}
	}
	return n
}

// Managers returns the entries of managedFields of an object. Those of a custom resource are not
// decoded: they have no fields, no time and no version.
func Managers(m metav1.Object) []metav1.ManagedFieldsEntry {
	u, ok := m.(*unstructured.Unstructured)
	if !ok {
		return m.GetManagedFields()
	}
	list := entries(u)
	managers := make([]metav1.ManagedFieldsEntry, len(list))
	for i := range list {
		entry, _ := list[i].(map[string]any)
		managers[i].Manager, _ = entry["manager"].(string)
		operation, _ := entry["operation"].(string)
		managers[i].Operation = metav1.ManagedFieldsOperationType(operation)
		managers[i].Subresource, _ = entry["subresource"].(string)
		managers[i].FieldsType, _ = entry["fieldsType"].(string)
	}
	return managers
}

// equalStrings reports whether a and b are equal strings, or both no strings.
func equalStrings(a, b any) bool {
	x, isString := a.(string)
	y, areStrings := b.(string)
	return isString == areStrings && x == y
}
