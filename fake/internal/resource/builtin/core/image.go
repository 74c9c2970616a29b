package core

import (
	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

// defaultPullPolicy returns the pull policy of an image: Always if its tag is latest, by name or
// because it has neither a tag nor a digest. It is IfNotPresent for a text that is not the name of
// an image.
func defaultPullPolicy(image string) corev1.PullPolicy {
	name, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	if tagged, ok := reference.TagNameOnly(name).(reference.Tagged); ok && tagged.Tag() == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
