package validate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// StandardFinalizer validates that a finalizer without a domain is one of Kubernetes itself.
func StandardFinalizer(name string, p *Path) field.ErrorList {
	switch {
	case strings.Contains(name, "/"):
		return nil
	case name == string(corev1.FinalizerKubernetes), name == metav1.FinalizerOrphanDependents, name == metav1.FinalizerDeleteDependents:
		return nil
	}
	return field.ErrorList{p.Invalid(name, "name is neither a standard finalizer name nor is it fully qualified")}
}
