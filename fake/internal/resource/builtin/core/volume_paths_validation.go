package core

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateLocalNonReservedPath validates a path within a volume that does not start with two dots,
// which are reserved for the files of the kubelet.
func validateLocalNonReservedPath(target string, p *validate.Path) field.ErrorList {
	errs := validateLocalDescendingPath(target, p)
	if strings.HasPrefix(target, "..") && !strings.HasPrefix(target, "../") {
		errs = append(errs, p.Invalid(target, "must not start with '..'"))
	}
	return errs
}

// validateLocalDescendingPath validates a path within a volume.
func validateLocalDescendingPath(target string, p *validate.Path) (errs field.ErrorList) {
	if path.IsAbs(target) {
		errs = append(errs, p.Invalid(target, "must be a relative path"))
	}
	return append(errs, validatePathNoBacksteps(target, p)...)
}

// validatePathNoBacksteps validates that no element of a path is "..".
func validatePathNoBacksteps(target string, p *validate.Path) field.ErrorList {
	for rest, more := target, true; more; {
		var element string
		element, rest, more = strings.Cut(rest, "/")
		if element == ".." {
			return field.ErrorList{p.Invalid(target, "must not contain '..'")}
		}
	}
	return nil
}
