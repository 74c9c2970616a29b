package certificates

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// The parts of the name of a signer, a domain and a path, have room for a resource in a namespace.
const (
	maxSignerDomainLength = validation.DNS1123SubdomainMaxLength
	maxSignerPathLength   = validation.DNS1123SubdomainMaxLength + 1 + validation.DNS1123LabelMaxLength
	maxSignerNameLength   = maxSignerDomainLength + 1 + maxSignerPathLength
)

// validateSignerName validates the name of a signer, for instance "example.com/namespace.name".
func validateSignerName(name string, p *validate.Path) (errs field.ErrorList) {
	if name == "" {
		return field.ErrorList{p.Required("")}
	}
	domain, path, found := strings.Cut(name, "/")
	if !found || strings.Contains(path, "/") {
		return field.ErrorList{p.Invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	if len(domain) > maxSignerDomainLength {
		errs = append(errs, p.TooLong(maxSignerDomainLength))
	}
	errs = append(errs, validateSegments(domain, validation.IsDNS1123Label, p)...)
	if !strings.Contains(domain, ".") {
		errs = append(errs, p.Invalid(domain, "should be a domain with at least two segments separated by dots"))
	}
	errs = append(errs, validateSegments(path, validation.IsDNS1123Subdomain, p)...)
	if len(name) > maxSignerNameLength {
		errs = append(errs, p.TooLong(maxSignerNameLength))
	}
	return errs
}

// validateSegments returns the errors of the first invalid segment between dots.
func validateSegments(value string, validateSegment func(string) []string, p *validate.Path) (errs field.ErrorList) {
	for segment := range strings.SplitSeq(value, ".") {
		for _, message := range validateSegment(segment) {
			errs = append(errs, p.Invalid(value, fmt.Sprintf("validating label %q: %s", segment, message)))
		}
		if errs != nil {
			return errs
		}
	}
	return nil
}

// isKubernetesSigner reports whether the name of a signer is reserved for Kubernetes.
func isKubernetesSigner(name string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}
