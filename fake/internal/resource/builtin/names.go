package builtin

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
)

// validatePathSegmentName accepts any name that can be a segment of a path, for instance
// "system:node" and "My_Budget".
func validatePathSegmentName(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// validateIPAddressName accepts an IP address in canonical form. Such names cannot be generated, so
// that prefix has no effect.
func validateIPAddressName(name string, _ bool) []string {
	var problems []string
	for _, err := range validation.IsValidIP(nil, name) {
		problems = append(problems, err.Detail)
	}
	return problems
}

// validateClusterTrustBundleName accepts a DNS subdomain with an optional prefix that names a
// signer, "example.com:signer:name". It does not compare the signer with the spec.
func validateClusterTrustBundleName(name string, prefix bool) []string {
	if i := strings.LastIndex(name, ":"); i >= 0 {
		if problems := validatePathSegmentName(name[:i], false); len(problems) > 0 {
			return problems
		}
		name = name[i+1:]
	}
	return apivalidation.NameIsDNSSubdomain(name, prefix)
}
