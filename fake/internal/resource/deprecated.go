package resource

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// EmulatedMinor is the minor version of the emulated release, v1.37.
const EmulatedMinor = 37

// deprecationWarning returns the warning of a real server for a deprecated type: the release of its
// deprecation, that of its removal and its replacement. It is "" if the type is not deprecated
// (WN-05), or will be in a later release.
func deprecationWarning(kind schema.GroupVersionKind, object reflect.Type) string {
	obj := reflect.New(object).Interface()
	deprecated, ok := obj.(interface{ APILifecycleDeprecated() (int, int) })
	if !ok {
		return ""
	}
	major, minor := deprecated.APILifecycleDeprecated()
	if major == 0 && minor == 0 || minor > EmulatedMinor {
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
