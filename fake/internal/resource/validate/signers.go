package validate

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SignerName validates the name of a signer of certificates: DOMAIN/PATH, where the domain has at
// least two labels.
func SignerName(name string, p *Path) (errs field.ErrorList) {
	domain, path, found := strings.Cut(name, "/")
	switch {
	case name == "":
		return field.ErrorList{p.Required("")}
	case !found || strings.Contains(path, "/"):
		return field.ErrorList{p.Invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	const maxDomain = validation.DNS1123SubdomainMaxLength
	if len(domain) > maxDomain {
		errs = append(errs, p.TooLong(maxDomain))
	}
	for label := range strings.SplitSeq(domain, ".") {
		if messages := validation.IsDNS1123Label(label); len(messages) > 0 {
			errs = append(errs, labelErrors(domain, label, messages, p)...)
			break
		}
	}
	if !strings.Contains(domain, ".") {
		errs = append(errs, p.Invalid(domain, "should be a domain with at least two segments separated by dots"))
	}
	for label := range strings.SplitSeq(path, ".") {
		if messages := validation.IsDNS1123Subdomain(label); len(messages) > 0 {
			errs = append(errs, labelErrors(path, label, messages, p)...)
			break
		}
	}
	const maxPath = validation.DNS1123LabelMaxLength + 1 + validation.DNS1123SubdomainMaxLength
	if len(name) > maxDomain+1+maxPath {
		errs = append(errs, p.TooLong(maxDomain+1+maxPath))
	}
	return errs
}

// labelErrors returns the errors of a label of a part of a signer's name.
func labelErrors(part, label string, messages []string, p *Path) (errs field.ErrorList) {
	for _, message := range messages {
		errs = append(errs, p.Invalid(part, fmt.Sprintf("validating label %q: %s", label, message)))
	}
	return errs
}

// IsKubernetesSigner reports whether a signer is one of Kubernetes.
func IsKubernetesSigner(name string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}
