package storagemigration

import (
	"strings"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

type migration = storagemigrationv1.StorageVersionMigration

// The tags of the types are alpha, so that their validation is not in force.

func validateMigration(m *migration) (errs field.ErrorList) {
	var root *validate.Path
	resource, p := m.Spec.Resource, root.Child("spec").Child("resource")
	if resource.Resource == "" {
		errs = append(errs, p.Child("resource").Required("resource is required to be set"))
	} else if problems := validation.IsDNS1035Label(resource.Resource); problems != nil {
		errs = append(errs, p.Child("resource").Invalid(resource.Resource, strings.Join(problems, ",")))
	}
	if resource.Group == "" {
		return errs
	}
	if problems := validation.IsDNS1123Subdomain(resource.Group); problems != nil {
		errs = append(errs, p.Child("group").Invalid(resource.Group, strings.Join(problems, ",")))
	}
	return errs
}

func validateMigrationUpdate(m, old *migration) field.ErrorList {
	var root *validate.Path
	return append(validateMigration(m), validate.Immutable(m.Spec, old.Spec, root.Child("spec"))...)
}

// validateMigrationStatusUpdate requires a resource version with the conditions.
func validateMigrationStatusUpdate(m, old *migration) (errs field.ErrorList) {
	path := field.NewPath("status")
	version := m.Status.ResourceVersion
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		errs = append(errs, field.Invalid(path.Child("resourceVersion"), version, err.Error()))
	}
	errs = append(errs, metav1validation.ValidateConditions(m.Status.Conditions, path.Child("conditions"))...)
	if was := old.Status.ResourceVersion; was != "" && version != was {
		errs = append(errs, field.Invalid(path.Child("resourceVersion"), version, apivalidation.FieldImmutableErrorMsg))
	}
	return append(errs, validateProgress(m.Status.Conditions, old.Status.Conditions, path.Child("conditions"))...)
}

// validateProgress validates that a migration ends in one way only, and stays ended.
func validateProgress(conditions, old []metav1.Condition, path *field.Path) (errs field.ErrorList) {
	is := func(conditions []metav1.Condition, t storagemigrationv1.MigrationConditionType) bool {
		return meta.IsStatusConditionTrue(conditions, string(t))
	}
	succeeded, failed := is(conditions, storagemigrationv1.MigrationSucceeded), is(conditions, storagemigrationv1.MigrationFailed)
	running := is(conditions, storagemigrationv1.MigrationRunning)
	for _, rule := range []struct {
		broken bool
		detail string
	}{
		{succeeded && failed, "Both success and failed conditions cannot be true at the same time"},
		{running && succeeded, "Running condition cannot be true when success condition is true"},
		{running && failed, "Running condition cannot be true when failed condition is true"},
		{is(old, storagemigrationv1.MigrationSucceeded) && !succeeded, "Success condition cannot be set to false once it is true"},
		{is(old, storagemigrationv1.MigrationFailed) && !failed, "Failed condition cannot be set to false once it is true"},
	} {
		if rule.broken {
			errs = append(errs, field.Invalid(path, conditions, rule.detail))
		}
	}
	return errs
}
