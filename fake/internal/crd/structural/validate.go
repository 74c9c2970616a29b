package structural

import (
	"context"
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Validate says what is wrong with a new object. The errors of its metadata are
// handed to it, and come out in their place; the package's manual has the rules.
func (s *Schema) Validate(ctx context.Context, obj *unstructured.Unstructured, meta ...*field.Error) field.ErrorList {
	if errs := s.validateType(obj); len(errs) > 0 {
		return errs
	}
	errs := append(field.ErrorList(nil), meta...)
	validator, err := s.objectValidator()
	if err != nil {
		return append(errs, field.InternalError(nil, err))
	}
	errs = append(errs, sortByPath(validation.ValidateCustomResource(nil, obj.Object, validator))...)
	errs = append(errs, validateScale(s.scale, obj)...)
	errs = append(errs, s.validateEmbedded(ctx, obj)...)
	errs = append(errs, s.validateLists(obj)...)
	return append(errs, s.validateRules(ctx, obj, nil, errs)...)
}

// ValidateUpdate says what is wrong with a changed object that was not wrong before.
// The errors of its metadata are handed to it, and come out in their place.
func (s *Schema) ValidateUpdate(ctx context.Context, obj, old *unstructured.Unstructured, meta ...*field.Error) field.ErrorList {
	if errs := s.validateType(obj); len(errs) > 0 {
		return errs
	}
	errs := append(field.ErrorList(nil), meta...)
	validator, err := s.objectValidator()
	if err != nil {
		return append(errs, field.InternalError(nil, err))
	}
	correlated := s.correlate(obj, old)
	errs = append(errs, validateWithRatcheting(nil, obj.Object, old.Object, validator, correlated)...)
	errs = append(errs, validateScale(s.scale, obj)...)
	errs = append(errs, s.validateEmbedded(ctx, obj)...)
	errs = append(errs, s.validateListsUpdate(obj, old)...)
	return append(errs, s.validateRules(ctx, obj, &oldObject{old: old.Object, correlated: correlated}, errs)...)
}

// ValidateStatusUpdate is ValidateUpdate for a write to the status subresource. Of the
// object, which is the old one but for the status and managedFields, only the status
// is checked against the schema; lists and rules are checked in all of it.
func (s *Schema) ValidateStatusUpdate(ctx context.Context, obj, old *unstructured.Unstructured, meta ...*field.Error) field.ErrorList {
	if errs := s.validateType(obj); len(errs) > 0 {
		return errs
	}
	errs := append(field.ErrorList(nil), meta...)
	validator, err := s.statusValidator()
	if err != nil {
		return append(errs, field.InternalError(nil, err))
	}
	correlated := s.correlate(obj, old)
	if status, ok := obj.Object["status"]; ok && validator != nil {
		errs = append(errs, validateWithRatcheting(field.NewPath("status"), status, old.Object["status"], validator, correlated.Key("status"))...)
	}
	errs = append(errs, validateScaleStatus(s.scale, obj)...)
	errs = append(errs, s.validateListsUpdate(obj, old)...)
	return append(errs, s.validateRules(ctx, obj, &oldObject{old: old.Object, correlated: correlated}, errs)...)
}

// validateWithRatcheting checks a changed value against the schema. Ratcheting only takes errors
// away, and pairing each value with an old one costs more than the checks: it is done
// for what has any.
func validateWithRatcheting(path *field.Path, value, old any, validator validation.SchemaValidator, correlated *common.CorrelatedObject) field.ErrorList {
	if len(validation.ValidateCustomResource(path, value, validator)) == 0 {
		return nil
	}
	return sortByPath(validation.ValidateCustomResourceUpdate(path, value, old, validator, validation.WithRatcheting(correlated)))
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

// correlate pairs the parts of an object with those of the old one. Without a
// structural schema there are no pairs below the root.
func (s *Schema) correlate(obj, old *unstructured.Unstructured) *common.CorrelatedObject {
	structural := s.structural
	if structural == nil {
		structural = &structuralschema.Structural{}
	}
	return common.NewCorrelatedObject(obj.Object, old.Object, &model.Structural{Structural: structural})
}

// validateEmbedded checks the metadata of embedded objects. An update is no
// different from a create.
func (s *Schema) validateEmbedded(ctx context.Context, obj *unstructured.Unstructured) field.ErrorList {
	if !s.features.embedded {
		return nil
	}
	return sortByPath(objectmeta.Validate(ctx, nil, obj.Object, s.structural, false))
}

// validateLists looks for duplicates in lists that are sets or maps.
func (s *Schema) validateLists(obj *unstructured.Unstructured) field.ErrorList {
	if !s.features.unique {
		return nil
	}
	return sortByPath(listtype.ValidateListSetsAndMaps(nil, s.structural, obj.Object))
}

// validateListsUpdate lets duplicates be if the old object had some anywhere.
func (s *Schema) validateListsUpdate(obj, old *unstructured.Unstructured) field.ErrorList {
	errs := s.validateLists(obj)
	if len(errs) > 0 && len(s.validateLists(old)) > 0 {
		return nil
	}
	return errs
}

// oldObject is what an update is compared with.
type oldObject struct {
	old        map[string]any
	correlated *common.CorrelatedObject
}

// validateRules runs the rules in CEL, unless the errors so far are such that rules
// could fail on a value that they need not expect.
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
	return sortByPath(errs)
}

// blocksRules reports whether after an error no rules are run: those of types, enum,
// required, maxLength, maxItems and maxProperties.
func blocksRules(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}
