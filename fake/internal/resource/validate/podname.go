package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// PodNamePrefixWarnings returns the warning for the name of an object whose pods have names and
// hostnames that begin with it, if it is not a DNS label.
func PodNamePrefixWarnings(name string) []string {
	messages := validation.IsDNS1123Label(name)
	if len(messages) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "+
		"a DNS label is recommended: %v", messages)}
}
