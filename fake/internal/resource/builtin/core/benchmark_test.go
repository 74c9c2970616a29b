package core

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// benchmarkPod is a pod as users write it.
const benchmarkPod = `
metadata: {name: p, labels: {app: web}}
spec:
  serviceAccountName: web
  containers:
  - name: c
    image: registry.example.com/team/web:1.2
    ports: [{containerPort: 80}]
    env: [{name: A, value: b}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 1, memory: 128Mi}}
    livenessProbe: {httpGet: {port: 80}}
    volumeMounts: [{name: v, mountPath: /v}]
  volumes: [{name: v, configMap: {name: m}}]
`

func BenchmarkSetPodDefaults(b *testing.B) {
	plain := validatetest.Parse[corev1.Pod](b, benchmarkPod)
	stored := plain.DeepCopy()
	setPodDefaults(stored)
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		pods := make([]*corev1.Pod, b.N)
		for i := range pods {
			pods[i] = plain.DeepCopy()
		}
		b.ResetTimer()
		for _, pod := range pods {
			setPodDefaults(pod)
		}
	})
	b.Run("stored", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			setPodDefaults(stored)
		}
	})
	b.Run("prepare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			preparePodForCreate(b.Context(), stored)
		}
	})
}
