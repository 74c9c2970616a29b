package lifecycle

import (
	"fmt"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/status"
)

// updateNonStructural is the controller of non-structural schemas. It returns a copy with a changed
// or removed condition, or nil.
func updateNonStructural(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	cond, violated := nonStructuralCondition(crd)
	switch {
	case violated && hasCondition(crd, cond):
		return nil
	case violated:
		return withConditions(crd, now, cond)
	case apihelpers.FindCRDCondition(crd, apiextensionsv1.NonStructuralSchema) == nil:
		return nil
	}
	changed := crd.DeepCopy()
	apihelpers.RemoveCRDCondition(changed, apiextensionsv1.NonStructuralSchema)
	return changed
}

// nonStructuralCondition returns the condition of a definition with a schema that is not
// structural, or with preserveUnknownFields. It reports false if there is no violation.
func nonStructuralCondition(crd *apiextensionsv1.CustomResourceDefinition) (cond condition, violated bool) {
	cond = condition{Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionTrue, Reason: "Violations"}
	var errs field.ErrorList
	if crd.Spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "must be false"))
	}
	for i, version := range crd.Spec.Versions {
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			continue
		}
		inner := &apiextensions.CustomResourceValidation{}
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema.DeepCopy(), inner, nil); err != nil {
			continue // crd was not canonicalized
		}
		structural, err := schema.NewStructural(inner.OpenAPIV3Schema)
		if err != nil {
			cond.Status, cond.Reason = apiextensionsv1.ConditionUnknown, "StructuralError"
			cond.Message = fmt.Sprintf("failed to check validation schema for version %s: %v", version.Name, err)
			return cond, true
		}
		at := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		errs = append(errs, schema.ValidateStructural(at, structural)...)
	}
	if len(errs) == 0 {
		return condition{}, false
	}
	cond.Message = status.FieldErrorsText(errs)
	return cond, true
}
