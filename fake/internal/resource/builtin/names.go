package builtin

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
)

// validatePathSegmentName accepts what fits into one segment of a path, as every name must:
// "system:node" and "My_Budget" do.
func validatePathSegmentName(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// validateIPAddressName accepts an IP address in its canonical form. Such names cannot be
// generated, so prefix makes no difference.
func validateIPAddressName(name string, _ bool) []string {
	var problems []string
	for _, err := range validation.IsValidIP(nil, name) {
		problems = append(problems, err.Detail)
	}
	return problems
}

// validateClusterTrustBundleName accepts a DNS subdomain, which may stand behind the signer
// that the bundle belongs to: "example.com:signer:name". Whether the signer is
// the one of the spec is not looked at here.
func validateClusterTrustBundleName(name string, prefix bool) []string {
	if i := strings.LastIndex(name, ":"); i >= 0 {
		if problems := validatePathSegmentName(name[:i], false); len(problems) > 0 {
			return problems
		}
		name = name[i+1:]
	}
	return apivalidation.NameIsDNSSubdomain(name, prefix)
}
