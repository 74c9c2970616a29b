package resource

import "k8s.io/apimachinery/pkg/api/validate/content"

// ValidatePathSegmentName returns why a name, or the prefix of one, cannot be a segment of a path.
// It accepts "system:node" and "My_Budget", for instance.
func ValidatePathSegmentName(name string, isPrefix bool) []string {
	if isPrefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
