package plugins

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/warning"

	"example.com/fakeapi/fake/internal/admission"
)

// recordedWarnings collects warnings.
type recordedWarnings []string

func (r *recordedWarnings) AddWarning(_, text string) { *r = append(*r, text) }

func TestPodSecurity(t *testing.T) {
	labels := map[string]string{"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "v1.30", "pod-security.kubernetes.io/warn": "baseline"}
	p := newPodSecurity(Dependencies{Objects: storedObjects{namespaces: {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: labels}}}}})
	pod := newPod(nil, nil)
	pod.Spec.HostPID = true
	requireRefusal(t, `pods "p" is forbidden: violates PodSecurity "baseline:v1.30": host namespaces (hostPID=true)`, call(t, p, writeOf(pods, pod, nil)))
	require.NoError(t, call(t, p, writeOf(pods, pod, pod)), "no image has changed")
	require.NoError(t, call(t, p, writeOf(pods, newPod(nil, nil), nil)))

	deployments := appsv1.SchemeGroupVersion.WithResource("deployments")
	var texts recordedWarnings
	ctx := warning.WithWarningRecorder(t.Context(), &texts)
	deployment := &appsv1.Deployment{ObjectMeta: inNamespace("d"), Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: pod.Spec}}}
	require.NoError(t, admission.Chain{p}.Validate(ctx, writeOf(deployments, deployment, nil)))
	require.Equal(t, recordedWarnings{`would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)`}, texts)

	// Without labels nothing is evaluated.
	p = newPodSecurity(Dependencies{Objects: storedObjects{namespaces: {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}}}})
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))

	// Without a namespace pods are refused.
	p = newPodSecurity(Dependencies{Objects: storedObjects{}})
	err := call(t, p, writeOf(pods, pod, nil))
	require.EqualError(t, err, `Internal error occurred: failed to lookup namespace "ns"`)
	require.True(t, apierrors.IsInternalError(err))
	require.NoError(t, call(t, p, writeOf(deployments, deployment, nil)))
}

func TestPodSecurityOfNamespaces(t *testing.T) {
	namespace := func(level string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"pod-security.kubernetes.io/enforce": level}}}
	}
	pod := newPod(nil, nil)
	pod.Spec.HostPID = true
	p := newPodSecurity(Dependencies{Objects: storedObjects{pods: {pod}}})
	attrs := writeOf(namespaces, namespace("none"), nil)
	attrs.Resource.Kind = "Namespace"
	err := call(t, p, attrs)
	require.True(t, apierrors.IsInvalid(err))
	require.EqualError(t, err, `Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "none": must be one of privileged, baseline, restricted`)

	var texts recordedWarnings
	ctx := warning.WithWarningRecorder(t.Context(), &texts)
	require.NoError(t, admission.Chain{p}.Validate(ctx, writeOf(namespaces, namespace("baseline"), &corev1.Namespace{})))
	require.Equal(t, recordedWarnings{
		`existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"`, "p: host namespaces",
	}, texts)
}
