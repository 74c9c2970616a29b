package resource

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deprecationWarning tells that a type is deprecated, since which release, when it goes,
// and what replaces it, in the words of a real server's warning; "" if it is not
// (WN-05). The types say so themselves. All of them are of the release that is
// served, so what they say has come into force, but for removals, which may lie
// ahead.
func deprecationWarning(kind schema.GroupVersionKind, object reflect.Type) string {
	obj := reflect.New(object).Interface()
	since, ok := obj.(interface{ APILifecycleDeprecated() (int, int) })
	if !ok {
		return ""
	}
	major, minor := since.APILifecycleDeprecated()
	if major == 0 && minor == 0 {
		return ""
	}
	text := fmt.Sprintf("%s %s is deprecated in v%d.%d+", kind.GroupVersion(), kind.Kind, major, minor)
	if end, ok := obj.(interface{ APILifecycleRemoved() (int, int) }); ok {
		if major, minor := end.APILifecycleRemoved(); major != 0 || minor != 0 {
			text += fmt.Sprintf(", unavailable in v%d.%d+", major, minor)
		}
	}
	if next, ok := obj.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		if by := next.APILifecycleReplacement(); !by.Empty() {
			text += fmt.Sprintf("; use %s %s", by.GroupVersion(), by.Kind)
		}
	}
	return text
}
