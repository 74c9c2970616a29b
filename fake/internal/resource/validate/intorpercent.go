package validate

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// IntOrPercent validates a number of pods that is not negative or a percentage. nil is 0.
func IntOrPercent(value *intstr.IntOrString, p *Path) field.ErrorList {
	switch {
	case value == nil:
		return nil
	case value.Type == intstr.Int:
		return NonNegative(int64(value.IntVal), p)
	case value.Type == intstr.String:
		return Messages(*value, validation.IsValidPercent(value.StrVal), p)
	}
	return field.ErrorList{p.Invalid(*value, "must be an integer or percentage (e.g '5%%')")}
}

// AtMost100Percent validates that a value of IntOrPercent, if it is a percentage, is at most 100%.
func AtMost100Percent(value *intstr.IntOrString, p *Path) field.ErrorList {
	if !isPercent(value) || IntOrPercentValue(value) <= 100 {
		return nil
	}
	return field.ErrorList{p.Invalid(*value, "must not be greater than 100%")}
}

// IntOrPercentValue returns the number of a value of IntOrPercent, without its percent sign.
func IntOrPercentValue(value *intstr.IntOrString) int {
	switch {
	case value == nil:
		return 0
	case isPercent(value):
		number, _ := strconv.Atoi(strings.TrimSuffix(value.StrVal, "%"))
		return number // the largest one, if it is too large
	}
	return value.IntValue()
}

func isPercent(value *intstr.IntOrString) bool {
	return value != nil && value.Type == intstr.String && len(validation.IsValidPercent(value.StrVal)) == 0
}
