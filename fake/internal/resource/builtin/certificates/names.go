package certificates

import (
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/fakeapi/fake/internal/resource"
)

// validateClusterTrustBundleName accepts a DNS subdomain with an optional prefix that names a
// signer, "example.com:signer:name". It does not compare the signer with the spec.
func validateClusterTrustBundleName(name string, prefix bool) []string {
	if i := strings.LastIndex(name, ":"); i >= 0 {
		if problems := resource.ValidatePathSegmentName(name[:i], false); len(problems) > 0 {
			return problems
		}
		name = name[i+1:]
	}
	return apivalidation.NameIsDNSSubdomain(name, prefix)
}
