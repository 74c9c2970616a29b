package managed

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KeepTimes gives obj back the times of live's managedFields if nothing else
// would change: a write that only says again what is there is none (OC-18,
// SA-04). Call it with the object as it would be stored. The two must be of one
// type.
func KeepTimes(live, obj runtime.Object) {
	before, err := meta.Accessor(live)
	if err != nil {
		return
	}
	after, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	was, is := before.GetManagedFields(), after.GetManagedFields()
	if !sameApartFromTimes(was, is) || !sameApartFromMetadata(live, obj) {
		return
	}
	after.SetManagedFields(was)
	if !sameMetadata(live, obj) {
		after.SetManagedFields(is)
	}
}

// sameApartFromTimes reports whether two lists of entries differ, and in nothing but
// times. Times are stored in seconds.
func sameApartFromTimes(was, is []metav1.ManagedFieldsEntry) bool {
	if len(was) != len(is) {
		return false
	}
	differ := false
	for i := range is {
		a, b := was[i], is[i]
		differ = differ || seconds(a.Time) != seconds(b.Time)
		a.Time, b.Time = nil, nil
		if !reflect.DeepEqual(a, b) {
			return false
		}
	}
	return differ
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
