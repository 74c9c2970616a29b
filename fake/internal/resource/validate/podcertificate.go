package validate

import (
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// UserAnnotations validates the annotations for the signer of a pod's certificate. Their keys have
// domains.
func UserAnnotations(annotations map[string]string, p *Path) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		errs = append(errs, validation.IsDomainPrefixedKey(p.Field(), strings.ToLower(key))...)
	}
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		errs = append(errs, p.TooLong(apivalidation.TotalAnnotationSizeLimitB))
	}
	return errs
}
