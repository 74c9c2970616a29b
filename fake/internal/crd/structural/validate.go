package structural

import (
	"context"
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/openapi"
)

// Validate returns the errors of a new object. meta are the errors of its metadata, which the
// result includes, see the package documentation.
func (s *Schema) Validate(ctx context.Context, obj *unstructured.Unstructured, meta ...*field.Error) field.ErrorList {
	errs := s.validateType(obj)
	if len(errs) == 0 { // the rest does not depend on it
		errs = append(errs, meta...)
		validator, err := s.objectValidator()
		if err != nil {
			return append(errs, field.InternalError(nil, err))
		}
		if !validator.checker.accepts(obj.Object) {
			errs = append(errs, validator.validate(ctx, nil, obj.Object, nil, maxErrors)...)
		}
		errs = append(errs, validateScale(s.scale, obj)...)
	}
	errs = append(errs, s.validateEmbedded(ctx, obj)...)
	errs = append(errs, s.validateLists(obj)...)
	return append(errs, s.validateRules(ctx, obj, nil, errs)...)
}

// ValidateUpdate returns the errors of an object that replaces old, without those that old has too.
// meta are the errors of its metadata, which the result includes.
func (s *Schema) ValidateUpdate(ctx context.Context, obj, old *unstructured.Unstructured, meta ...*field.Error) field.ErrorList {
	errs := s.validateType(obj)
	correlated := s.correlate(obj, old)
	if len(errs) == 0 {
		errs = append(errs, meta...)
		validator, err := s.objectValidator()
		if err != nil {
			return append(errs, field.InternalError(nil, err))
		}
		errs = append(errs, validateWithRatcheting(ctx, nil, obj.Object, old.Object, validator, correlated)...)
		errs = append(errs, validateScale(s.scale, obj)...)
	}
	errs = append(errs, s.validateEmbedded(ctx, obj)...)
	errs = append(errs, s.validateListsUpdate(obj, old)...)
	return append(errs, s.validateRules(ctx, obj, &oldObject{old: old.Object, correlated: correlated}, errs)...)
}

// ValidateStatusUpdate is ValidateUpdate for the status subresource. obj differs from old only in
// the status and managedFields. It validates only the status by the schema, but lists and rules in
// the whole object.
func (s *Schema) ValidateStatusUpdate(ctx context.Context, obj, old *unstructured.Unstructured, meta ...*field.Error) field.ErrorList {
	errs := s.validateType(obj)
	correlated := s.correlate(obj, old)
	if len(errs) == 0 {
		errs = append(errs, meta...)
		validator, err := s.statusValidator()
		if err != nil {
			return append(errs, field.InternalError(nil, err))
		}
		if status, ok := obj.Object["status"]; ok && validator != nil {
			errs = append(errs, validateWithRatcheting(ctx, field.NewPath("status"), status, old.Object["status"], validator, correlated.Key("status"))...)
		}
		errs = append(errs, validateScaleStatus(s.scale, obj)...)
	}
	errs = append(errs, s.validateListsUpdate(obj, old)...)
	return append(errs, s.validateRules(ctx, obj, &oldObject{old: old.Object, correlated: correlated}, errs)...)
}

// validateWithRatcheting validates a changed value. Ratcheting only removes errors and costs more
// than the validation, so that it is done for values with errors only.
func validateWithRatcheting(ctx context.Context, path *field.Path, value, old any, validator *validator, correlated *common.CorrelatedObject) field.ErrorList {
	if validator.isValid(ctx, value) {
		return nil
	}
	if correlated == nil {
		correlated = common.NewCorrelatedObject(value, old, &openapi.Schema{Schema: validator.schema})
	}
	return validator.validate(ctx, path, value, correlated, maxErrors)
}

// validateType checks kind and apiVersion.
func (s *Schema) validateType(obj *unstructured.Unstructured) (errs field.ErrorList) {
	if kind := obj.GetKind(); kind != s.kind.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, fmt.Sprintf("must be %v", s.kind.Kind)))
	}
	if want, got := s.kind.Group+"/"+s.kind.Version, obj.GetAPIVersion(); got != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), got, fmt.Sprintf("must be %v", want)))
	}
	return errs
}

// correlate pairs the values in an object with those in old. Without a structural schema only the
// roots are paired.
func (s *Schema) correlate(obj, old *unstructured.Unstructured) *common.CorrelatedObject {
	structural := s.structural
	if structural == nil {
		structural = &structuralschema.Structural{}
	}
	return common.NewCorrelatedObject(obj.Object, old.Object, &model.Structural{Structural: structural})
}

// validateEmbedded validates the metadata of embedded objects, in an update as in a create.
func (s *Schema) validateEmbedded(ctx context.Context, obj *unstructured.Unstructured) field.ErrorList {
	if !s.features.embedded {
		return nil
	}
	return sortByPath(objectmeta.Validate(ctx, nil, obj.Object, s.structural, false))
}

// validateLists checks that lists that are sets or maps have no duplicates.
func (s *Schema) validateLists(obj *unstructured.Unstructured) field.ErrorList {
	if s.shape().isUnique(obj.Object) {
		return nil
	}
	return sortByPath(listtype.ValidateListSetsAndMaps(nil, s.structural, obj.Object))
}

// validateListsUpdate is validateLists, but accepts duplicates if old has any.
func (s *Schema) validateListsUpdate(obj, old *unstructured.Unstructured) field.ErrorList {
	errs := s.validateLists(obj)
	if len(errs) > 0 && len(s.validateLists(old)) > 0 {
		return nil
	}
	return errs
}

// oldObject is the object that an update replaces.
type oldObject struct {
	old        map[string]any
	correlated *common.CorrelatedObject
}

// validateRules evaluates the CEL rules. It evaluates none if an error in before means that rules
// could fail on values of wrong types.
func (s *Schema) validateRules(ctx context.Context, obj *unstructured.Unstructured, update *oldObject, before field.ErrorList) field.ErrorList {
	rules := s.celValidator()
	if rules == nil {
		return nil
	}
	for _, err := range before {
		if blocksRules(err) {
			return field.ErrorList{field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
		}
	}
	var old any
	var options []cel.Option
	if update != nil {
		old = update.old
		options = append(options, cel.WithRatcheting(update.correlated))
	}
	errs, _ := rules.Validate(ctx, nil, s.structural, obj.Object, old, celconfig.RuntimeCELCostBudget, options...)
	return sortByRule(errs, s.structural)
}

// blocksRules reports whether an error prevents the evaluation of rules: those of types, enum,
// required, maxLength, maxItems and maxProperties.
func blocksRules(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}
