package resource

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// EmulatedMinor is the minor version of the emulated release, v1.37.
const EmulatedMinor = 37

// deprecation returns the warning of a real server for a deprecated type, with the release of its
// deprecation, that of its removal and its replacement (WN-05), and the release of its removal,
// such as 1.40, "" if there is none. Both are "" if the type is not deprecated, or will be in a
// later release.
func deprecation(kind schema.GroupVersionKind, object reflect.Type) (warning, removed string) {
	obj := reflect.New(object).Interface()
	deprecated, ok := obj.(interface{ APILifecycleDeprecated() (int, int) })
	if !ok {
		return "", ""
	}
	major, minor := deprecated.APILifecycleDeprecated()
	if major == 0 && minor == 0 || minor > EmulatedMinor {
		return "", ""
	}
	warning = fmt.Sprintf("%s %s is deprecated in v%d.%d+", kind.GroupVersion(), kind.Kind, major, minor)
	if o, ok := obj.(interface{ APILifecycleRemoved() (int, int) }); ok {
		if major, minor := o.APILifecycleRemoved(); major != 0 || minor != 0 {
			removed = fmt.Sprintf("%d.%d", major, minor)
			warning += ", unavailable in v" + removed + "+"
		}
	}
	if replaced, ok := obj.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		if replacement := replaced.APILifecycleReplacement(); !replacement.Empty() {
			warning += fmt.Sprintf("; use %s %s", replacement.GroupVersion(), replacement.Kind)
		}
	}
	return warning, removed
}
