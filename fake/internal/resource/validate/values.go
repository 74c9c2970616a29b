package validate

import (
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NonNegative validates that a number is not negative.
func NonNegative(value int64, p *Path) field.ErrorList {
	if value >= 0 {
		return nil
	}
	return apivalidation.ValidateNonnegativeField(value, p.Field())
}

// NonNegativeOrNil validates that a number is not negative, if there is one.
func NonNegativeOrNil[T int32 | int64](value *T, p *Path) field.ErrorList {
	if value == nil {
		return nil
	}
	return NonNegative(int64(*value), p)
}

// Immutable validates that a field has not changed. It compares with equality.Semantic, so that an
// empty list equals none.
func Immutable[T any](value, old T, p *Path) field.ErrorList {
	if equality.Semantic.DeepEqual(value, old) {
		return nil
	}
	return field.ErrorList{p.Invalid(value, apivalidation.FieldImmutableErrorMsg)}
}

// DNSLabel validates a DNS label of RFC 1123, such as the name of a container.
func DNSLabel(value string, p *Path) field.ErrorList {
	return Messages(value, validation.IsDNS1123Label(value), p)
}

// DNSSubdomain validates a DNS subdomain of RFC 1123, such as the name of most objects.
func DNSSubdomain(value string, p *Path) field.ErrorList {
	return Messages(value, validation.IsDNS1123Subdomain(value), p)
}

// PortNumber validates the number of a port, from 1 to 65535.
func PortNumber(port int32, p *Path) field.ErrorList {
	if port >= 1 && port <= 65535 {
		return nil
	}
	return Messages(port, validation.IsValidPortNum(int(port)), p)
}

// Messages returns an error for each message of a function of
// k8s.io/apimachinery/pkg/util/validation that was called with value.
func Messages[T any](value T, messages []string, p *Path) (errs field.ErrorList) {
	for _, message := range messages {
		errs = append(errs, p.Invalid(value, message))
	}
	return errs
}
