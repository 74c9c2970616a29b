package core

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateNamespaceFinalizers(t *testing.T) {
	validatetest.RequireErrors(t, validateNamespace(validatetest.Parse[corev1.Namespace](t, `spec: {finalizers: [kubernetes, orphan, foregroundDeletion, example.com/a]}`)))
	ns := validatetest.Parse[corev1.Namespace](t, `spec: {finalizers: [kubernetes, cleanup, a/b/c]}`)
	const standard = `Invalid value: "cleanup": name is neither a standard finalizer name nor is it fully qualified`
	const twoSlashes = `Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric ` +
		`character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') ` +
		`with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
	validatetest.RequireErrors(t, validateNamespace(ns), "spec.finalizers: "+standard, "spec.finalizers: "+twoSlashes)
	validatetest.RequireErrors(t, validateNamespaceFinalizeUpdate(ns, nil), "spec.finalizers[1]: "+standard, "spec.finalizers[2]: "+twoSlashes)
}

func TestValidateNamespaceStatusUpdate(t *testing.T) {
	ns := &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}}
	validatetest.RequireErrors(t, validateNamespaceStatusUpdate(ns, nil))
	now := metav1.Now()
	ns.DeletionTimestamp = &now
	validatetest.RequireErrors(t, validateNamespaceStatusUpdate(ns, nil),
		"status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty")
	ns.Status.Phase = corev1.NamespaceTerminating
	validatetest.RequireErrors(t, validateNamespaceStatusUpdate(ns, nil))
	ns.DeletionTimestamp = nil
	validatetest.RequireErrors(t, validateNamespaceStatusUpdate(ns, nil),
		"status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty")
}
