package managedfields

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// keepCustomTimes is KeepTimes for a custom resource. It decodes no entries.
func keepCustomTimes(live *unstructured.Unstructured, obj runtime.Object) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	before, _ := live.Object["metadata"].(map[string]any)
	after, _ := u.Object["metadata"].(map[string]any)
	was, _ := before["managedFields"].([]any)
	is, _ := after["managedFields"].([]any)
	same, times := sameCustomEntries(was, is)
	if same && !times && sameFields(live.Object, u.Object, "apiVersion", "kind", "metadata") && sameFields(before, after, "managedFields") {
		setEntries(u, was)
	}
}

// sameCustomEntries is sameEntries for entries as they stand in an object, where times are
// in seconds.
func sameCustomEntries(was, is []any) (same, times bool) {
	if len(was) != len(is) {
		return false, false
	}
	times = true
	for i := range is {
		a, isMap := was[i].(map[string]any)
		b, areMaps := is[i].(map[string]any)
		if !isMap || !areMaps || !sameFields(a, b, "time") {
			return false, false
		}
		times = times && sameJSON(a["time"], b["time"])
	}
	return true, times
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

// EqualManagers reports whether the managedFields of two custom resources have the same owners,
// in the same order. It is there because to decode them only for that costs a multiple.
func EqualManagers(a, b *unstructured.Unstructured) bool {
	x, _ := a.Object["metadata"].(map[string]any)
	y, _ := b.Object["metadata"].(map[string]any)
	one, _ := x["managedFields"].([]any)
	other, _ := y["managedFields"].([]any)
	return slices.EqualFunc(one, other, func(a, b any) bool {
		a1, isMap := a.(map[string]any)
		b1, areMaps := b.(map[string]any)
		if !isMap || !areMaps {
			return false
		}
		for _, name := range []string{"manager", "operation", "subresource", "fieldsType"} {
			if !sameJSON(a1[name], b1[name]) {
				return false
			}
		}
		return true
	})
}
