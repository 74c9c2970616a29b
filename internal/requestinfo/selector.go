package requestinfo

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/fields"
)

// SelectedName returns the name that a field selector requires with metadata.name, or "" if it
// requires none, does not parse, or requires a name that cannot be in a path (AU-09).
func SelectedName(fieldSelector string) string {
	if !strings.Contains(fieldSelector, "metadata.name") {
		return ""
	}
	selector, err := fields.ParseSelector(fieldSelector)
	if err != nil {
		return ""
	}
	name, ok := selector.RequiresExactMatch("metadata.name")
	if !ok || len(content.IsPathSegmentName(name)) > 0 {
		return ""
	}
	return name
}
