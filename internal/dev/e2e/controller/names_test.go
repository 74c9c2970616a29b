package controller_test

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// names returns the names of the items of a list, sorted.
func names(list client.ObjectList) []string {
	found := []string{}
	err := meta.EachListItem(list, func(o runtime.Object) error {
		found = append(found, o.(client.Object).GetName())
		return nil
	})
	if err != nil {
		panic(err) // not a list
	}
	slices.Sort(found)
	return found
}
