package flowcontrol

import (
	"fmt"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/util/shufflesharding"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const maxQueues = 10_000_000

// The validation of tags requires the types, and the fields that belong to a type.

func validatePriorityLevelConfiguration(c *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	var root *validate.Path
	errs := validateZeroSharesAnnotation(c.Annotations, root.Child("metadata").Child("annotations"))
	p := root.Child("spec")
	errs = append(errs, validatePriorityLevelSpec(c.Name, &c.Spec, p)...)
	for _, fixed := range bootstrap.MandatoryPriorityLevelConfigurations {
		if fixed.Name == c.Name {
			errs = append(errs, validateFixedSpec(c, fixed, p)...)
		}
	}
	return errs
}

// validateZeroSharesAnnotation forbids the annotation that v1beta3, which is not served, has for
// zero shares.
func validateZeroSharesAnnotation(annotations map[string]string, p *validate.Path) field.ErrorList {
	const name = flowcontrolv1beta3.PriorityLevelPreserveZeroConcurrencySharesKey
	if _, found := annotations[name]; !found {
		return nil
	}
	return field.ErrorList{p.Forbidden(fmt.Sprintf("annotation '%s' is forbidden", name))}
}

func validatePriorityLevelConfigurationUpdate(c, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	return validatePriorityLevelConfiguration(c)
}

func validatePriorityLevelConfigurationStatusUpdate(c, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	return validateConditionTypes(c.Status.Conditions, func(c flowcontrolv1.PriorityLevelConfigurationCondition) string { return string(c.Type) })
}

// validateFixedSpec compares the spec of a priority level with that of the level that every server
// has. Only the shares of the level "exempt" can be chosen.
func validateFixedSpec(c, fixed *flowcontrolv1.PriorityLevelConfiguration, p *validate.Path) field.ErrorList {
	spec, detail := c.Spec, "spec of '%s' must equal the fixed value"
	if c.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt {
		spec.Exempt, detail = fixed.Spec.Exempt, "spec of '%s' except the 'spec.exempt' field must equal the fixed value"
	}
	if equality.Semantic.DeepEqual(spec, fixed.Spec) {
		return nil
	}
	return field.ErrorList{p.Invalid(c.Spec, fmt.Sprintf(detail, c.Name))}
}

func validatePriorityLevelSpec(name string, s *flowcontrolv1.PriorityLevelConfigurationSpec, p *validate.Path) (errs field.ErrorList) {
	if (name == flowcontrolv1.PriorityLevelConfigurationNameExempt) != (s.Type == flowcontrolv1.PriorityLevelEnablementExempt) {
		errs = append(errs, p.Child("type").Invalid(s.Type, "type must be 'Exempt' if and only if name is 'exempt'"))
	}
	switch s.Type {
	case flowcontrolv1.PriorityLevelEnablementExempt:
		if s.Exempt != nil {
			errs = append(errs, validateShares(s.Exempt.NominalConcurrencyShares, p.Child("exempt"))...)
			errs = append(errs, validateLendablePercent(s.Exempt.LendablePercent, p.Child("exempt"))...)
		}
	case flowcontrolv1.PriorityLevelEnablementLimited:
		if s.Limited != nil {
			errs = append(errs, validateLimited(s.Limited, p.Child("limited"))...)
		}
	case "":
	default:
		errs = append(errs, validate.NotSupported(p.Child("type"), s.Type,
			flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited))
	}
	return errs
}

func validateLimited(l *flowcontrolv1.LimitedPriorityLevelConfiguration, p *validate.Path) field.ErrorList {
	errs := validateShares(l.NominalConcurrencyShares, p)
	response := p.Child("limitResponse")
	switch t := l.LimitResponse.Type; t {
	case flowcontrolv1.LimitResponseTypeQueue:
		if q := l.LimitResponse.Queuing; q != nil {
			errs = append(errs, validateQueuing(q, response.Child("queuing"))...)
		}
	case flowcontrolv1.LimitResponseTypeReject, "":
	default:
		errs = append(errs, validate.NotSupported(response.Child("type"), t,
			flowcontrolv1.LimitResponseTypeQueue, flowcontrolv1.LimitResponseTypeReject))
	}
	errs = append(errs, validateLendablePercent(l.LendablePercent, p)...)
	if percent := l.BorrowingLimitPercent; percent != nil && *percent < 0 {
		errs = append(errs, p.Child("borrowingLimitPercent").Invalid(*percent, "if specified, must be a non-negative integer"))
	}
	return errs
}

// validateShares validates the field nominalConcurrencyShares of p.
func validateShares(shares *int32, p *validate.Path) field.ErrorList {
	if shares == nil || *shares >= 0 {
		return nil
	}
	return field.ErrorList{p.Child("nominalConcurrencyShares").Invalid(*shares, "must be a non-negative integer")}
}

// validateLendablePercent validates the field lendablePercent of p.
func validateLendablePercent(percent *int32, p *validate.Path) field.ErrorList {
	if percent == nil || *percent >= 0 && *percent <= 100 {
		return nil
	}
	return field.ErrorList{p.Child("lendablePercent").Invalid(*percent, "must be between 0 and 100, inclusive")}
}

func validateQueuing(q *flowcontrolv1.QueuingConfiguration, p *validate.Path) (errs field.ErrorList) {
	if q.QueueLengthLimit <= 0 {
		errs = append(errs, p.Child("queueLengthLimit").Invalid(q.QueueLengthLimit, "must be positive"))
	}
	if q.Queues <= 0 {
		errs = append(errs, p.Child("queues").Invalid(q.Queues, "must be positive"))
	} else if q.Queues > maxQueues {
		errs = append(errs, p.Child("queues").Invalid(q.Queues, fmt.Sprintf("must not be greater than %d", maxQueues)))
	}
	if q.HandSize <= 0 {
		errs = append(errs, p.Child("handSize").Invalid(q.HandSize, "must be positive"))
	} else if q.HandSize > q.Queues {
		errs = append(errs, p.Child("handSize").Invalid(q.HandSize, fmt.Sprintf("should not be greater than queues (%d)", q.Queues)))
	} else if shufflesharding.RequiredEntropyBits(int(q.Queues), int(q.HandSize)) > shufflesharding.MaxHashBits {
		errs = append(errs, p.Child("handSize").Invalid(q.HandSize, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d",
			q.Queues, q.HandSize, shufflesharding.MaxHashBits)))
	}
	return errs
}
