package storagemigration

import (
	"fmt"
	"strconv"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type migration = storagemigrationv1.StorageVersionMigration

// The tags of the types are alpha, so that their validation is not in force.

func validateMigration(m *migration) field.ErrorList {
	if m.Spec.Resource.Resource == "" {
		return field.ErrorList{field.Required(field.NewPath("spec", "resource", "resource"), "resource is required")}
	}
	return nil
}

// validateMigrationUpdate names changed fields as a real server does, without their parents.
func validateMigrationUpdate(m, old *migration) field.ErrorList {
	errs := validateMigration(m)
	resource, oldResource := m.Spec.Resource, old.Spec.Resource
	if resource.Group != oldResource.Group {
		errs = append(errs, field.Invalid(field.NewPath("group"), resource.Group, apivalidation.FieldImmutableErrorMsg))
	}
	if resource.Resource != oldResource.Resource {
		errs = append(errs, field.Invalid(field.NewPath("resource"), resource.Resource, apivalidation.FieldImmutableErrorMsg))
	}
	return errs
}

func validateMigrationStatusUpdate(m, old *migration) field.ErrorList {
	path := field.NewPath("status")
	errs := validateResourceVersion(m.Status.ResourceVersion, path.Child("resourceVersion"))
	errs = append(errs, metav1validation.ValidateConditions(m.Status.Conditions, path.Child("conditions"))...)
	if was := old.Status.ResourceVersion; was != "" && m.Status.ResourceVersion != was {
		errs = append(errs, field.Invalid(path.Child("resourceVersion"), m.Status.ResourceVersion, apivalidation.FieldImmutableErrorMsg))
	}
	return append(errs, validateProgress(m.Status.Conditions, old.Status.Conditions, path.Child("conditions"))...)
}

func validateResourceVersion(version string, path *field.Path) field.ErrorList {
	if version == "" {
		return nil
	}
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return field.ErrorList{field.Invalid(path, version, fmt.Sprintf("failed to parse resource version %q: %v", version, err))}
	}
	return apivalidation.ValidateNonnegativeField(n, path)
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
