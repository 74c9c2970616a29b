package resourcek8sio

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePoolName validates the name of a pool: DNS subdomains between slashes.
func validatePoolName(name string, p *validate.Path) (errs field.ErrorList) {
	if name == "" {
		return field.ErrorList{p.Required("")}
	}
	if len(name) > resourcev1.PoolNameMaxLength {
		errs = append(errs, p.TooLong(resourcev1.PoolNameMaxLength))
	}
	for part := range strings.SplitSeq(name, "/") {
		errs = append(errs, validate.DNSSubdomain(part, p)...)
	}
	return errs
}

// validateQualifiedName validates the name of an attribute or a capacity: an identifier, which may
// follow the name of a driver and a slash. As on a real server, names with more slashes are not
// validated.
func validateQualifiedName(name string, p *validate.Path) (errs field.ErrorList) {
	domain, id, found := strings.Cut(name, "/")
	switch {
	case !found:
		return validateIdentifier(name, p)
	case strings.Contains(id, "/"):
		return nil
	case domain == "":
		errs = append(errs, p.Invalid("", "the domain must not be empty"))
	default:
		errs = append(errs, core.ValidateCSIDriverName(domain, p)...)
	}
	if id == "" {
		return append(errs, p.Invalid("", "the name must not be empty"))
	}
	return append(errs, validateIdentifier(id, p)...)
}

func validateIdentifier(id string, p *validate.Path) (errs field.ErrorList) {
	if len(id) > resourcev1.DeviceMaxIDLength {
		errs = append(errs, p.TooLong(resourcev1.DeviceMaxIDLength))
	}
	return append(errs, validate.Messages(id, content.IsCIdentifier(id), p)...)
}
