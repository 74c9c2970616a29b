package node

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateRuntimeClass validates a RuntimeClass. Its handler has validation tags.
func validateRuntimeClass(c *nodev1.RuntimeClass) (errs field.ErrorList) {
	var root *validate.Path
	if c.Overhead != nil {
		errs = append(errs, core.ValidateOverhead(c.Overhead.PodFixed, root.Child("overhead"))...)
	}
	if c.Scheduling != nil {
		p := root.Child("scheduling")
		errs = append(errs, validate.Labels(c.Scheduling.NodeSelector, p.Child("nodeSelector"))...)
		errs = append(errs, validateTolerations(c.Scheduling.Tolerations, p.Child("tolerations"))...)
	}
	return errs
}

// validateRuntimeClassUpdate validates a RuntimeClass that replaces another one as a new one.
func validateRuntimeClassUpdate(c, _ *nodev1.RuntimeClass) field.ErrorList {
	return validateRuntimeClass(c)
}

// validateTolerations validates tolerations, two of which must not differ only in their seconds.
func validateTolerations(tolerations []corev1.Toleration, p *validate.Path) field.ErrorList {
	errs := core.ValidateTolerations(tolerations, p)
	seen := make(map[corev1.Toleration]bool, len(tolerations))
	for i, t := range tolerations {
		key := t
		key.TolerationSeconds = nil
		if seen[key] {
			errs = append(errs, p.Index(i).Duplicate(t))
		}
		seen[key] = true
	}
	return errs
}
