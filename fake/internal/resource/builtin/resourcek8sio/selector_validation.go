package resourcek8sio

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	devicecel "k8s.io/dynamic-resource-allocation/cel"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateSelectors validates selectors of devices. The validation of tags limits their number.
func validateSelectors(selectors []resourcev1.DeviceSelector, p *validate.Path) (errs field.ErrorList) {
	if len(selectors) > resourcev1.DeviceSelectorsMaxSize {
		return nil
	}
	for i, s := range selectors {
		at := p.Index(i).Child("cel")
		if s.CEL == nil {
			errs = append(errs, at.Required(""))
			continue
		}
		errs = append(errs, validateExpression(s.CEL.Expression, at.Child("expression"))...)
	}
	return errs
}

// validateExpression validates an expression that selects devices, and what it costs at most.
func validateExpression(expression string, p *validate.Path) field.ErrorList {
	if len(expression) > resourcev1.CELSelectorExpressionMaxLength {
		return field.ErrorList{p.TooLong(resourcev1.CELSelectorExpressionMaxLength)}
	}
	compiler := devicecel.GetCompiler(devicecel.Features{EnableConsumableCapacity: true})
	result := compiler.CompileCELExpression(expression, devicecel.Options{EnvType: new(environment.NewExpressions)})
	switch err := result.Error; {
	case err == nil && result.MaxCost > resourcev1.CELSelectorExpressionMaxCost:
		return field.ErrorList{p.Forbidden("too complex, exceeds cost limit")}
	case err == nil:
		return nil
	case err.Type == apiservercel.ErrorTypeInvalid:
		return field.ErrorList{p.Invalid(expression, err.Detail)}
	case err.Type == apiservercel.ErrorTypeRequired:
		return field.ErrorList{p.Required(err.Detail)}
	default:
		return field.ErrorList{field.InternalError(p.Field(), err)}
	}
}
