package resource

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deprecationWarning returns the warning of a real server for a deprecated type: the release of its
// deprecation, that of its removal and its replacement. It is "" if the type is not deprecated
// (WN-05). The lifecycle methods of the types are those of the served release, so that a
// deprecation is in effect, while a removal may be in the future.
func deprecationWarning(kind schema.GroupVersionKind, object reflect.Type) string {
	obj := reflect.New(object).Interface()
	deprecated, ok := obj.(interface{ APILifecycleDeprecated() (int, int) })
	if !ok {
		return ""
	}
	major, minor := deprecated.APILifecycleDeprecated()
	if major == 0 && minor == 0 {
		return ""
	}
	text := fmt.Sprintf("%s %s is deprecated in v%d.%d+", kind.GroupVersion(), kind.Kind, major, minor)
	if removed, ok := obj.(interface{ APILifecycleRemoved() (int, int) }); ok {
		if major, minor := removed.APILifecycleRemoved(); major != 0 || minor != 0 {
			text += fmt.Sprintf(", unavailable in v%d.%d+", major, minor)
		}
	}
	if replaced, ok := obj.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		if replacement := replaced.APILifecycleReplacement(); !replacement.Empty() {
			text += fmt.Sprintf("; use %s %s", replacement.GroupVersion(), replacement.Kind)
		}
	}
	return text
}
