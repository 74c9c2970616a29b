package managed

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
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
	if len(was) != len(is) || sameTimes(was, is) {
		return
	}
	// The entries first: in nearly every write that comes this far they differ
	// or the rest does, and they are the smaller part.
	equal := apartFromTimes()
	if !equal.DeepEqual(was, is) || !equal.DeepEqual(live, obj) {
		return
	}
	for i := range is {
		is[i].Time = was[i].Time
	}
	after.SetManagedFields(is)
}

func sameTimes(was, is []metav1.ManagedFieldsEntry) bool {
	for i := range is {
		if !is[i].Time.Equal(was[i].Time) {
			return false
		}
	}
	return true
}

// apartFromTimes is the semantic equality of objects that does not look at the
// times of managedFields.
var apartFromTimes = sync.OnceValue(func() conversion.Equalities {
	equal := equality.Semantic.Copy()
	err := equal.AddFunc(func(a, b metav1.ManagedFieldsEntry) bool {
		a.Time, b.Time = nil, nil
		return reflect.DeepEqual(a, b)
	})
	if err != nil {
		panic(err) // the signature above is what AddFunc asks for
	}
	return equal
})
