package handlers

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
)

// accessor gives the metadata of an object of a known type.
func accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(err) // every type of the table has metadata; a test walks them
	}
	return m
}

// ensureNamespace fills the object's namespace from the path and refuses
// another one (NM-17, NM-18). From a cluster-scoped object it is taken away (NM-19).
func (q *request) ensureNamespace(m metav1.Object) error {
	want, have := q.namespace(), m.GetNamespace()
	if q.res.Namespaced && have != "" && have != want {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	m.SetNamespace(want)
	return nil
}

// checkObjectName refuses a body that names another object than the path (NM-15,
// NM-16, NM-20). The path of a collection names none.
func (q *request) checkObjectName(m metav1.Object) error {
	switch name := m.GetName(); {
	case q.info.Name == "", name == q.info.Name:
		return nil
	case name == "":
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", q.info.Name))
	default:
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", name, q.info.Name))
	}
}

// prepareForCreate gives a new object what only the server can (MD-02 to MD-09,
// MD-14) and takes from it what only a subresource may write (SU-01).
func (a *API) prepareForCreate(res *resource.Resource, obj runtime.Object) {
	m := accessor(obj)
	wipeSystemFields(m)
	m.SetUID(a.ids.UID())
	m.SetCreationTimestamp(a.now())
	if res.HasGeneration {
		m.SetGeneration(1)
	}
	if res.Status && !res.StatusOnCreate {
		copyStatus(obj, nil)
	}
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(a.ids.GenerateName(m.GetGenerateName()))
	}
	if res.PrepareForCreate != nil {
		res.PrepareForCreate(obj)
	}
}

// wipeSystemFields takes away what a client cannot say of a new object (MD-03, MD-06, MD-09).
func wipeSystemFields(m metav1.Object) {
	m.SetUID("")
	m.SetCreationTimestamp(metav1.Time{})
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
}

// prepareForUpdate carries over from the stored object what an update of the main
// resource cannot change (MD-07, MD-10, MD-17, SU-01).
func prepareForUpdate(res *resource.Resource, obj, old runtime.Object) {
	copySystemFields(accessor(obj), accessor(old))
	if res.Status {
		copyStatus(obj, old)
	}
	if res.PrepareForUpdate != nil {
		res.PrepareForUpdate(obj, old)
	}
	updateGeneration(res, obj, old)
}

// prepareForSubresourceUpdate lets an update of a subresource change what it is there for
// (SU-02). A status leaves the generation as it is (SU-04).
func prepareForSubresourceUpdate(res *resource.Resource, sub *resource.Subresource, obj, old runtime.Object) {
	copySystemFields(accessor(obj), accessor(old))
	sub.PrepareForUpdate(obj, old)
	if sub.Name != "status" {
		updateGeneration(res, obj, old)
	}
}

// updateGeneration counts a change of anything but metadata and status (MD-15), and of the
// annotations where they count. A type that counts for itself comes to the same.
func updateGeneration(res *resource.Resource, obj, old runtime.Object) {
	m, was := accessor(obj), accessor(old)
	if res.HasGeneration && specDiffers(obj, old) {
		m.SetGeneration(was.GetGeneration() + 1)
	}
	if res.GenerationCountsAnnotations && !maps.Equal(m.GetAnnotations(), was.GetAnnotations()) {
		m.SetGeneration(was.GetGeneration() + 1)
	}
}

func copySystemFields(m, old metav1.Object) {
	m.SetGeneration(old.GetGeneration())
	m.SetSelfLink("")
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

// copyStatus sets the Status field of an object to that of another, or to its
// zero value for nil.
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

// specDiffers reports whether two objects of one type differ in anything but
// metadata and status. The status of a custom resource is a part of it as long as
// it has no subresource, which keeps it.
func specDiffers(a, b runtime.Object) bool {
	if a, ok := a.(*unstructured.Unstructured); ok {
		return customDiffers(a.Object, b.(*unstructured.Unstructured).Object)
	}
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		if !resource.IsSpecField(x.Type().Field(i).Name) {
			continue
		}
		if !equality.Semantic.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			return true
		}
	}
	return false
}

func customDiffers(a, b map[string]any) bool {
	same := func(a, b map[string]any) bool {
		for key, value := range a {
			if other, ok := b[key]; key != "metadata" && (!ok || !equality.Semantic.DeepEqual(value, other)) {
				return false
			}
		}
		return true
	}
	return !same(a, b) || !same(b, a)
}

// validateCreate checks a new object, above all its metadata (NM-04 to NM-14, MD-18 to
// MD-23). All that is wrong comes in one 422 (CR-12).
func validateCreate(res *resource.Resource, obj runtime.Object) error {
	m := accessor(obj)
	errs := validation.ValidateObjectMetaAccessor(m, res.Namespaced, res.ValidateName, field.NewPath("metadata"))
	if res.Validate != nil {
		errs = res.Validate(context.Background(), obj, errs)
	}
	return invalidError(res, obj, errs)
}

// validateUpdate checks an object that was changed, by itself or through a
// subresource, above all its metadata against that of the stored one (MD-05, DL-06).
func validateUpdate(ctx context.Context, res *resource.Resource, sub *resource.Subresource, obj, old runtime.Object) error {
	m := accessor(obj)
	errs := validateMetadataUpdate(res, m, accessor(old))
	switch {
	case sub != nil && sub.ValidateUpdate != nil:
		errs = append(errs, sub.ValidateUpdate(ctx, obj, old)...)
	case (sub == nil || !sub.WritesObject()) && res.ValidateUpdate != nil:
		errs = res.ValidateUpdate(ctx, obj, old, errs)
	}
	return invalidError(res, obj, errs)
}

// validateMetadataUpdate checks changed metadata.
func validateMetadataUpdate(res *resource.Resource, m, old metav1.Object) field.ErrorList {
	if isMetadataUnchanged(m, old) {
		return nil // it was found good when it was written
	}
	path := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessorUpdate(m, old, path)
	// A real server looks twice, in its generic layer and in the type's own
	// validation, and lists a cause each time; the message names it once.
	errs = append(errs, errs...)
	return append(errs, validation.ValidateObjectMetaAccessor(m, res.Namespaced, nameValidator(res, m, old), path)...)
}

// isMetadataUnchanged reports whether an update leaves the metadata alone that a client can get
// wrong, as most updates do. The creation is that of the stored object by now.
func isMetadataUnchanged(m, old metav1.Object) bool {
	return m.GetName() == old.GetName() && m.GetUID() == old.GetUID() &&
		m.GetGenerateName() == old.GetGenerateName() &&
		m.GetDeletionTimestamp() == nil && old.GetDeletionTimestamp() == nil &&
		m.GetDeletionGracePeriodSeconds() == nil && old.GetDeletionGracePeriodSeconds() == nil &&
		maps.Equal(m.GetLabels(), old.GetLabels()) &&
		maps.Equal(m.GetAnnotations(), old.GetAnnotations()) &&
		slices.Equal(m.GetFinalizers(), old.GetFinalizers()) &&
		equality.Semantic.DeepEqual(m.GetOwnerReferences(), old.GetOwnerReferences()) &&
		!addsManagers(m, old)
}

// addsManagers reports whether any entry of managedFields has an owner that has none in the
// old object.
func addsManagers(m, old metav1.Object) bool {
	u, isRaw := m.(*unstructured.Unstructured)
	was, wasRaw := old.(*unstructured.Unstructured)
	if isRaw && wasRaw && managedfields.EqualManagers(u, was) {
		return false
	}
	return slices.ContainsFunc(m.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return !hasManager(old, &e) })
}

// hasManager reports whether the owner of an entry of managedFields has one already. A
// client may send others, and in any form.
func hasManager(m metav1.Object, e *metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(m.GetManagedFields(), func(known metav1.ManagedFieldsEntry) bool {
		return known.Manager == e.Manager && known.Operation == e.Operation &&
			known.Subresource == e.Subresource && known.FieldsType == e.FieldsType
	})
}

// nameValidator is the rule for the names in changed metadata. The name itself is that of
// the path, and was found good when the object was made.
func nameValidator(res *resource.Resource, m, old metav1.Object) validation.ValidateNameFunc {
	if m.GetGenerateName() != old.GetGenerateName() {
		return res.ValidateName
	}
	return func(string, bool) []string { return nil }
}

func invalidError(res *resource.Resource, obj runtime.Object, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	kind := res.GroupKind()
	if res.Custom != nil { // which may be another one, and that be what is wrong
		kind = obj.GetObjectKind().GroupVersionKind().GroupKind()
	}
	return apierrors.NewInvalid(kind, accessor(obj).GetName(), errs)
}
