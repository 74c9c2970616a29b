package validate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// IsQualifiedFinalizer reports whether a finalizer has a domain or is one of Kubernetes itself.
func IsQualifiedFinalizer(name string) bool {
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return true
	}
	return strings.Contains(name, "/")
}

// StandardFinalizer validates that a finalizer without a domain is one of Kubernetes itself.
func StandardFinalizer(name string, p *Path) field.ErrorList {
	if IsQualifiedFinalizer(name) {
		return nil
	}
	return field.ErrorList{p.Invalid(name, "name is neither a standard finalizer name nor is it fully qualified")}
}
