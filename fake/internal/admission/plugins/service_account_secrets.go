package plugins

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authz/node"
)

// isMirrorPod reports whether a kubelet made the pod for a static one.
func isMirrorPod(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}

// checkMirrorPod refuses a mirror pod that uses a service account or a secret.
func checkMirrorPod(attrs *admission.Attributes, pod *corev1.Pod) error {
	switch {
	case pod.Spec.ServiceAccountName != "":
		return forbiddenf(attrs, "a mirror pod may not reference service accounts")
	case len(node.References(pod)["secrets"]) > 0:
		return forbiddenf(attrs, "a mirror pod may not reference secrets")
	}
	for _, v := range pod.Spec.Volumes {
		if v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool { return s.ServiceAccountToken != nil }) {
			return forbiddenf(attrs, "a mirror pod may not use ServiceAccountToken volume projections")
		}
	}
	return nil
}

// containerSecret is a reference of a container to a secret: in a variable, or for all variables of
// a source if variable is "".
type containerSecret struct {
	kind, container, variable, secret string
}

// eachSecretOfContainers calls do for the secrets in the environment of containers: first those of
// single variables, then those of sources.
func eachSecretOfContainers(pod *corev1.Pod, do func(containerSecret)) {
	each := func(kind, name string, env []corev1.EnvVar, from []corev1.EnvFromSource) {
		for _, e := range env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				do(containerSecret{kind, name, e.Name, e.ValueFrom.SecretKeyRef.Name})
			}
		}
		for _, source := range from {
			if source.SecretRef != nil {
				do(containerSecret{kind, name, "", source.SecretRef.Name})
			}
		}
	}
	for _, c := range pod.Spec.InitContainers {
		each("init container", c.Name, c.Env, c.EnvFrom)
	}
	for _, c := range pod.Spec.Containers {
		each("container", c.Name, c.Env, c.EnvFrom)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		each("ephemeral container", c.Name, c.Env, c.EnvFrom)
	}
}

// disallowedSecret returns why a pod may not use one of its secrets, "" if it may use all: those of
// the account are allowed. An update concerns the ephemeral containers only.
func disallowedSecret(attrs *admission.Attributes, pod *corev1.Pod, account *corev1.ServiceAccount) (cause string) {
	isAllowed := func(secret string) bool {
		return slices.ContainsFunc(account.Secrets, func(r corev1.ObjectReference) bool { return r.Name == secret })
	}
	isCreate := attrs.Operation == admissionv1.Create
	if isCreate {
		for _, v := range pod.Spec.Volumes {
			if v.Secret != nil && !isAllowed(v.Secret.SecretName) {
				return fmt.Sprintf("volume with secret.secretName=%q is not allowed because service account %s does not reference that secret",
					v.Secret.SecretName, account.Name)
			}
		}
	}
	eachSecretOfContainers(pod, func(s containerSecret) {
		if cause != "" || isAllowed(s.secret) || isCreate == (s.kind == "ephemeral container") {
			return
		}
		where := "envVar " + s.variable
		if s.variable == "" {
			where = "envFrom"
		}
		cause = fmt.Sprintf("%s %s with %s referencing secret.secretName=%q is not allowed because service account %s does not reference that secret",
			s.kind, s.container, where, s.secret, account.Name)
	})
	if cause != "" || !isCreate {
		return cause
	}
	for i, r := range pod.Spec.ImagePullSecrets {
		if !slices.Contains(account.ImagePullSecrets, r) {
			return fmt.Sprintf("imagePullSecrets[%d].name=%q is not allowed because service account %s does not reference that imagePullSecret",
				i, r.Name, account.Name)
		}
	}
	return ""
}
