package networking

import "k8s.io/apimachinery/pkg/util/validation"

// validateIPAddressName accepts an IP address in canonical form. A generateName is a whole address,
// too.
func validateIPAddressName(name string, _ bool) []string {
	var problems []string
	for _, err := range validation.IsValidIP(nil, name) {
		problems = append(problems, err.Detail)
	}
	return problems
}
