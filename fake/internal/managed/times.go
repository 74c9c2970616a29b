package managed

import (
	"reflect"
	"slices"

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
	if x, y, raw := contents(a, b); raw {
		return sameFields(x, y, "apiVersion", "kind", "metadata")
	}
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
	if x, y, raw := contents(a, b); raw {
		// The entries are the same: the one has just been given those of the other.
		x, xIs := x["metadata"].(map[string]any)
		y, yIs := y["metadata"].(map[string]any)
		return xIs && yIs && sameFields(x, y, "managedFields")
	}
	x, y := reflect.ValueOf(a).Elem().FieldByName("ObjectMeta"), reflect.ValueOf(b).Elem().FieldByName("ObjectMeta")
	return equality.Semantic.DeepEqual(x.Interface(), y.Interface())
}

// contents are the fields of two unstructured objects.
func contents(a, b runtime.Object) (x, y map[string]any, raw bool) {
	u, isRaw := a.(runtime.Unstructured)
	w, areRaw := b.(runtime.Unstructured)
	if !isRaw || !areRaw {
		return nil, nil, false
	}
	return u.UnstructuredContent(), w.UnstructuredContent(), true
}

// sameFields compares two objects of JSON without some of their fields.
func sameFields(x, y map[string]any, without ...string) bool {
	if len(x)-count(x, without) != len(y)-count(y, without) {
		return false
	}
	for name, value := range x {
		if other, has := y[name]; !slices.Contains(without, name) && (!has || !reflect.DeepEqual(value, other)) {
			return false
		}
	}
	return true
}

// count is how many of the names are fields.
func count(x map[string]any, names []string) int {
	n := 0
	for _, name := range names {
		if _, has := x[name]; has {
			n++
		}
	}
	return n
}
