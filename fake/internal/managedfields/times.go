package managedfields

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// RestoreTimestamps gives obj back the times of live's managedFields if nothing else
// would change: a write that only says again what is there is none (OC-18,
// SA-04). Call it with the object as it would be stored. The two must be of one
// type.
func RestoreTimestamps(live, obj runtime.Object) {
	if x, isRaw := live.(*unstructured.Unstructured); isRaw {
		keepCustomTimes(x, obj)
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
	was, is := before.GetManagedFields(), after.GetManagedFields()
	if same, times := sameEntries(was, is); !same || times || !sameApartFromMetadata(live, obj) {
		return
	}
	after.SetManagedFields(was)
	if !sameMetadata(live, obj) {
		after.SetManagedFields(is)
	}
}

// sameEntries reports whether two lists of entries are the same apart from their
// times, and whether these are, too. Times are stored in seconds: one that was not
// stored yet has more, and another location.
func sameEntries(was, is []metav1.ManagedFieldsEntry) (same, times bool) {
	if len(was) != len(is) {
		return false, false
	}
	times = true
	for i := range is {
		a, b := was[i], is[i]
		times = times && (a.Time == nil) == (b.Time == nil) && seconds(a.Time) == seconds(b.Time)
		a.Time, b.Time = nil, nil
		if !reflect.DeepEqual(a, b) {
			return false, false
		}
	}
	return true, times
}

// sameApartFromMetadata comes before the metadata: in nearly every write the
// difference is here, and it is soon found.
func sameApartFromMetadata(a, b runtime.Object) bool {
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

func sameMetadata(a, b runtime.Object) bool {
	x, y := reflect.ValueOf(a).Elem().FieldByName("ObjectMeta"), reflect.ValueOf(b).Elem().FieldByName("ObjectMeta")
	return equality.Semantic.DeepEqual(x.Interface(), y.Interface())
}
