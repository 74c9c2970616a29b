package rest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateFinalizers validates that finalizers without a domain are those of Kubernetes, which most
// built-in types require. Other rules of finalizers are the same for all types.
func validateFinalizers(res *resource.Resource, m metav1.Object) (errs field.ErrorList) {
	if res.Custom != nil || res.AnyFinalizers {
		return nil
	}
	p := (*validate.Path)(nil).Child("metadata").Child("finalizers")
	for i, name := range m.GetFinalizers() {
		errs = append(errs, validate.StandardFinalizer(name, p.Index(i))...)
	}
	return errs
}
