package rest

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// BeforeUpdate prepares and validates an object that is to replace old, the stored object, through
// sub if it is not nil. See [ValidateUpdate] for the error.
func BeforeUpdate(ctx context.Context, res *resource.Resource, sub *resource.Subresource, obj, old runtime.Object) error {
	kind := kindOf(res, obj) // a status update restores that of old
	if sub != nil && sub.WritesObject() {
		prepareForSubresourceUpdate(ctx, res, sub, obj, old)
	} else {
		prepareForUpdate(ctx, res, obj, old)
	}
	return validateUpdate(ctx, res, sub, kind, obj, old)
}

// prepareForUpdate copies the fields that an update cannot change from old and sets the generation
// (MD-07, MD-10, MD-17, SU-01).
func prepareForUpdate(ctx context.Context, res *resource.Resource, obj, old runtime.Object) {
	copySystemFields(resource.Accessor(obj), resource.Accessor(old))
	if res.Status {
		copyStatus(obj, old)
	}
	if res.PrepareForUpdate != nil {
		res.PrepareForUpdate(ctx, obj, old)
	}
	updateGeneration(res, obj, old)
}

// prepareForSubresourceUpdate is prepareForUpdate for a subresource, which may change its own
// fields only (SU-02). An update of the status does not change the generation (SU-04).
func prepareForSubresourceUpdate(ctx context.Context, res *resource.Resource, sub *resource.Subresource, obj, old runtime.Object) {
	copySystemFields(resource.Accessor(obj), resource.Accessor(old))
	sub.PrepareForUpdate(ctx, obj, old)
	if sub.Name != "status" {
		updateGeneration(res, obj, old)
	}
}

// updateGeneration increments the generation if anything except metadata and status changed
// (MD-15), or the annotations if the resource counts them. It sets the same value if the resource
// has done so itself.
func updateGeneration(res *resource.Resource, obj, old runtime.Object) {
	m, was := resource.Accessor(obj), resource.Accessor(old)
	if res.HasGeneration && specDiffers(res, obj, old) {
		m.SetGeneration(was.GetGeneration() + 1)
	}
	if res.GenerationCountsAnnotations && !maps.Equal(m.GetAnnotations(), was.GetAnnotations()) {
		m.SetGeneration(was.GetGeneration() + 1)
	}
}

// copySystemFields copies the metadata that a client cannot change.
func copySystemFields(m, old metav1.Object) {
	m.SetGeneration(old.GetGeneration())
	if m.GetUID() == "" {
		m.SetUID(old.GetUID())
	}
	m.SetCreationTimestamp(old.GetCreationTimestamp())
	if old.GetDeletionTimestamp() != nil {
		m.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if old.GetDeletionGracePeriodSeconds() != nil && m.GetDeletionGracePeriodSeconds() == nil {
		m.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
}

// ValidateUpdate validates an object that was updated, through sub if it is not nil. The metadata
// is compared with that of old, the stored object (MD-05, DL-06). The error is one 422 with all
// violations.
func ValidateUpdate(ctx context.Context, res *resource.Resource, sub *resource.Subresource, obj, old runtime.Object) error {
	return validateUpdate(ctx, res, sub, kindOf(res, obj), obj, old)
}

// validateUpdate is ValidateUpdate with the kind of the error.
func validateUpdate(ctx context.Context, res *resource.Resource, sub *resource.Subresource, kind schema.GroupKind, obj, old runtime.Object) error {
	m := resource.Accessor(obj)
	if err := checkControllers(m); err != nil {
		return err
	}
	var checks resource.MetadataChecks // those of other subresources
	switch {
	case sub == nil:
		checks = res.MetadataChecksOnUpdate
	case sub.Name == "status":
		checks = res.MetadataChecksOnStatusUpdate
	}
	metadata := validateMetadataUpdate(res, checks, m, resource.Accessor(old))
	errs := metadata.All
	switch {
	case sub != nil && sub.ValidateUpdate != nil:
		errs = sub.ValidateUpdate(ctx, obj, old, metadata)
	case (sub == nil || !sub.WritesObject()) && res.ValidateUpdate != nil:
		errs = res.ValidateUpdate(ctx, obj, old, metadata)
	}
	switch {
	case sub == nil:
		errs = append(errs, validateDeclaratively(ctx, res, "", obj, old)...)
	case sub.WritesObject():
		errs = append(errs, validateDeclaratively(ctx, res, sub.Name, obj, old)...)
	}
	return status.Invalid(kind, m.GetName(), errs)
}

// validateMetadataUpdate validates updated metadata, as often as a real server: once for all types,
// and then as checks says. It lists each cause as often, and names it once in the message.
func validateMetadataUpdate(res *resource.Resource, checks resource.MetadataChecks, m, old metav1.Object) (errs resource.MetadataErrors) {
	if isMetadataValid(m, old) {
		return errs
	}
	path := field.NewPath("metadata")
	asNew := func(validateName validation.ValidateNameFunc) field.ErrorList {
		return validation.ValidateObjectMetaAccessor(m, res.Namespaced, validateName, path)
	}
	asUpdated := validation.ValidateObjectMetaAccessorUpdate(m, old, path)
	finalizers := validateFinalizers(res, m)
	errs.ForAllTypes = slices.Concat(asNew(resource.ValidatePathSegmentName), asUpdated)
	errs.AsNew, errs.AsUpdated = slices.Concat(asNew(res.ValidateName), finalizers), slices.Concat(asUpdated, finalizers)
	errs.All = errs.ForAllTypes
	if !checks.NotAsUpdated {
		errs.All = slices.Concat(errs.All, errs.AsUpdated)
	}
	for range checks.AsNew {
		errs.All = slices.Concat(errs.All, errs.AsNew)
	}
	return errs
}

// isMetadataValid reports whether updated metadata is surely valid, as is the case for most
// updates: what is validated was validated when it was written, except new managers. The
// creationTimestamp has been copied from old.
func isMetadataValid(m, old metav1.Object) bool {
	return m.GetName() == old.GetName() && m.GetUID() == old.GetUID() &&
		m.GetGenerateName() == old.GetGenerateName() &&
		m.GetDeletionTimestamp() == nil && old.GetDeletionTimestamp() == nil &&
		m.GetDeletionGracePeriodSeconds() == nil && old.GetDeletionGracePeriodSeconds() == nil &&
		maps.Equal(m.GetLabels(), old.GetLabels()) &&
		maps.Equal(m.GetAnnotations(), old.GetAnnotations()) &&
		slices.Equal(m.GetFinalizers(), old.GetFinalizers()) &&
		equality.Semantic.DeepEqual(m.GetOwnerReferences(), old.GetOwnerReferences()) &&
		len(metav1validation.ValidateManagedFields(newManagers(m, old), nil)) == 0
}

// newManagers returns the entries of managedFields of m with an owner that has none in old.
func newManagers(m, old metav1.Object) []metav1.ManagedFieldsEntry {
	known := managedfields.Managers(old)
	return slices.DeleteFunc(slices.Clone(managedfields.Managers(m)), func(e metav1.ManagedFieldsEntry) bool {
		return slices.ContainsFunc(known, func(k metav1.ManagedFieldsEntry) bool {
			return k.Manager == e.Manager && k.Operation == e.Operation && k.Subresource == e.Subresource && k.FieldsType == e.FieldsType
		})
	})
}

// ShouldDeleteDuringUpdate reports whether an update completes the deletion of an object: it has
// removed the last finalizer, and the grace period is over.
func ShouldDeleteDuringUpdate(obj, old runtime.Object) bool {
	if ns, ok := obj.(*corev1.Namespace); ok {
		return isNamespaceDeletable(ns)
	}
	m := resource.Accessor(old)
	grace := m.GetDeletionGracePeriodSeconds()
	return len(resource.Accessor(obj).GetFinalizers()) == 0 && m.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0)
}
