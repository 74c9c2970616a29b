// Package rest prepares and validates objects before they are stored, as
// k8s.io/apiserver/pkg/registry/rest does: BeforeCreate, BeforeUpdate and BeforeDelete there. It
// calls the hooks of the resource, and does not depend on requests and on the store.
package rest

import (
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/jsonvalue"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// copyStatus sets the status of to to that of from. A nil from clears it.
func copyStatus(to, from runtime.Object) {
	if u, ok := to.(*unstructured.Unstructured); ok {
		delete(u.Object, "status")
		if from, ok := from.(*unstructured.Unstructured); ok && from.Object["status"] != nil {
			u.Object["status"] = from.Object["status"]
		}
		return
	}
	target := reflect.ValueOf(to).Elem().FieldByName("Status")
	if from == nil {
		target.SetZero()
		return
	}
	target.Set(reflect.ValueOf(from).Elem().FieldByName("Status"))
}

// specDiffers reports whether two objects of one type differ in anything except metadata and
// status. The status of a custom resource without a status subresource counts.
func specDiffers(res *resource.Resource, a, b runtime.Object) bool {
	if a, ok := a.(*unstructured.Unstructured); ok {
		return customDiffers(a.Object, b.(*unstructured.Unstructured).Object)
	}
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		if !resource.IsSpecField(x.Type().Field(i).Name) {
			continue
		}
		if !validate.EqualValues(x.Field(i), y.Field(i)) ||
			res.GenerationCountsEmpty && !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			return true
		}
	}
	return false
}

func customDiffers(a, b map[string]any) bool {
	for key := range b {
		if _, ok := a[key]; key != "metadata" && !ok {
			return true
		}
	}
	for key, value := range a {
		if other, ok := b[key]; key != "metadata" && (!ok || !jsonvalue.SemanticEqual(value, other)) {
			return true
		}
	}
	return false
}

// kindOf returns the kind that is in the 422 of an object. A custom resource may be sent with the
// kind of another one, which is then in its error.
func kindOf(res *resource.Resource, obj runtime.Object) schema.GroupKind {
	if res.Custom != nil {
		return obj.GetObjectKind().GroupVersionKind().GroupKind()
	}
	return res.GroupKind()
}

// maxControllerErrors is the maximum number of owner references multiplied by the number of those
// among them that are controllers, of which only one is valid.
const maxControllerErrors = 100_000

// checkControllers returns a 413 if the errors of the owner references would take gigabytes: each
// of those about a second controller contains all references.
func checkControllers(m metav1.Object) error {
	owners := m.GetOwnerReferences()
	controllers := 0
	for i := range owners {
		if owners[i].Controller != nil && *owners[i].Controller {
			controllers++
		}
	}
	if controllers > 1 && controllers*len(owners) > maxControllerErrors {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"only one of %d owner references can have controller set to true, got %d", len(owners), controllers))
	}
	return nil
}
