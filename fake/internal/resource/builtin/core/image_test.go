package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestDefaultPullPolicy(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for image, want := range map[string]corev1.PullPolicy{
		"app":                            corev1.PullAlways,
		"app:latest":                     corev1.PullAlways,
		"team/app":                       corev1.PullAlways,
		"host.example.com:5000/team/app": corev1.PullAlways,
		"localhost/a__b/c.d--e:latest":   corev1.PullAlways,
		"[2001:db8::1]:5000/app":         corev1.PullAlways,
		"Registry/app":                   corev1.PullAlways, // upper case is a host
		"app:latest" + digest:            corev1.PullAlways,
		"app:v1":                         corev1.PullIfNotPresent,
		"host:5000":                      corev1.PullIfNotPresent, // a tag
		"host.example.com:5000/app:1.2":  corev1.PullIfNotPresent,
		"app" + digest:                   corev1.PullIfNotPresent,
		"app:v1" + digest:                corev1.PullIfNotPresent,
		"app:LATEST":                     corev1.PullIfNotPresent,
		// Texts that are not names of images.
		"":                            corev1.PullIfNotPresent,
		"App":                         corev1.PullIfNotPresent,
		"app:":                        corev1.PullIfNotPresent,
		"app@":                        corev1.PullIfNotPresent,
		"app:latest@sha256:0123":      corev1.PullIfNotPresent,
		"a b":                         corev1.PullIfNotPresent,
		"-app":                        corev1.PullIfNotPresent,
		"app-":                        corev1.PullIfNotPresent,
		"a..b":                        corev1.PullIfNotPresent,
		"a___b":                       corev1.PullIfNotPresent,
		"a._b":                        corev1.PullIfNotPresent,
		"a//b":                        corev1.PullIfNotPresent,
		"/a":                          corev1.PullIfNotPresent,
		"-host.example.com/app":       corev1.PullIfNotPresent,
		"host.example.com:port/app":   corev1.PullIfNotPresent,
		strings.Repeat("0a", 32):      corev1.PullIfNotPresent,
		strings.Repeat("x", 256):      corev1.PullIfNotPresent,
		"host.example.com/App:latest": corev1.PullIfNotPresent,
	} {
		assert.Equal(t, want, defaultPullPolicy(image), image)
	}
}
