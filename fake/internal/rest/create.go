package rest

import (
	"context"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// WipeSystemFields clears the metadata that a client cannot set on a new object (MD-03, MD-06,
// MD-09).
func WipeSystemFields(m metav1.Object) {
	m.SetUID("")
	m.SetCreationTimestamp(metav1.Time{})
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
}

// PrepareForCreate sets the metadata of a new object that the server sets (MD-02 to MD-09, MD-14),
// and clears the fields that only a subresource may write (SU-01). WipeSystemFields must have been
// called before admission. As on a real server, a webhook can create an object that is being
// deleted.
func PrepareForCreate(ctx context.Context, res *resource.Resource, obj runtime.Object, g *ids.Generator, now metav1.Time) {
	m := resource.Accessor(obj)
	m.SetUID(g.UID())
	m.SetCreationTimestamp(now)
	if res.HasGeneration {
		m.SetGeneration(1)
	}
	if res.Status && !res.StatusOnCreate {
		copyStatus(obj, nil)
	}
	switch base := m.GetGenerateName(); {
	case m.GetName() != "" || base == "":
	case res.GenerateNameWithoutSuffix:
		m.SetName(base)
	default:
		m.SetName(g.GenerateName(base))
	}
	if res.PrepareForCreate != nil {
		res.PrepareForCreate(ctx, obj)
	}
}

// withManagers is metadata with managedFields that have no field sets: validation does not read
// these, and an object of a custom resource encodes each of them to return it.
type withManagers struct{ metav1.Object }

func (m withManagers) GetManagedFields() []metav1.ManagedFieldsEntry {
	return managedfields.Managers(m.Object)
}

// ValidateCreate validates a new object, including its metadata (NM-04 to NM-14, MD-18 to MD-23).
// The error is one 422 with all violations (CR-12).
func ValidateCreate(ctx context.Context, res *resource.Resource, obj runtime.Object) error {
	m := resource.Accessor(obj)
	if err := checkControllers(m); err != nil {
		return err
	}
	errs := validation.ValidateObjectMetaAccessor(withManagers{m}, res.Namespaced, res.ValidateName, field.NewPath("metadata"))
	errs = append(errs, validateFinalizers(res, m)...)
	if res.Validate != nil {
		errs = res.Validate(ctx, obj, errs)
	}
	return status.Invalid(kindOf(res, obj), m.GetName(), append(errs, validateDeclaratively(ctx, res, "", obj, nil)...))
}
