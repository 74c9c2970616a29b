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
		"[2001:db8::1]/app":              corev1.PullAlways,
		strings.Repeat("0g", 32):         corev1.PullAlways, // not a sha256 sum
		"app:latest@sha384:" + strings.Repeat("0a", 48): corev1.PullAlways,
		"app:latest@sha512:" + strings.Repeat("0a", 64): corev1.PullAlways,
		"host_a.example.com/app":                        corev1.PullAlways, // no host, a path
		strings.Repeat("0a", 32) + ":latest":            corev1.PullAlways, // the tag tells it from an ID
		strings.Repeat("0a", 32) + ":latest" + digest:   corev1.PullAlways,
		// The path of an official image begins with library/.
		strings.Repeat("x", 247):                            corev1.PullAlways,
		strings.Repeat("x", 248):                            corev1.PullIfNotPresent,
		"docker.io/" + strings.Repeat("x", 247):             corev1.PullAlways,
		"docker.io/" + strings.Repeat("x", 248):             corev1.PullIfNotPresent,
		"index.docker.io/" + strings.Repeat("x", 248):       corev1.PullIfNotPresent,
		"docker.io/a/" + strings.Repeat("x", 253):           corev1.PullAlways,
		"host.example.com/" + strings.Repeat("x", 255):      corev1.PullAlways,
		"host_a.example.com/" + strings.Repeat("x", 255-18): corev1.PullIfNotPresent,
		"app:v1":                        corev1.PullIfNotPresent,
		"host:5000":                     corev1.PullIfNotPresent, // a tag
		"host.example.com:5000/app:1.2": corev1.PullIfNotPresent,
		"app" + digest:                  corev1.PullIfNotPresent,
		"app:v1" + digest:               corev1.PullIfNotPresent,
		"app:LATEST":                    corev1.PullIfNotPresent,
		// Texts that are not names of images.
		"":                      corev1.PullIfNotPresent,
		"App":                   corev1.PullIfNotPresent,
		"app:latest@sha256":     corev1.PullIfNotPresent,
		"app:latest@:0a":        corev1.PullIfNotPresent,
		"app:latest@sha/256:0a": corev1.PullIfNotPresent,
		"x2001::1]:5000/app":    corev1.PullIfNotPresent,
		"[g::1]/app":            corev1.PullIfNotPresent,
		"[::1]5000/app":         corev1.PullIfNotPresent,
		"[::1]:port/app":        corev1.PullIfNotPresent,
		"host-.example.com/app": corev1.PullIfNotPresent,
		"host_.example.com/app": corev1.PullIfNotPresent,
		"app:latest@sha256:" + strings.Repeat("0A", 32): corev1.PullIfNotPresent,
		"app:latest@sha384:" + strings.Repeat("0A", 48): corev1.PullIfNotPresent,
		"app:latest@sha384:" + strings.Repeat("0a", 32): corev1.PullIfNotPresent,
		"app:latest@sha512:" + strings.Repeat("0A", 64): corev1.PullIfNotPresent,
		"app:latest@sha512:" + strings.Repeat("0a", 32): corev1.PullIfNotPresent,
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
