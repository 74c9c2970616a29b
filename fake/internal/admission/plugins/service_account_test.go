package plugins

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func newTestServiceAccount(accounts ...*corev1.ServiceAccount) *serviceAccount {
	objects := storedObjects{}
	for _, a := range accounts {
		objects[serviceAccounts] = append(objects[serviceAccounts], a)
	}
	return &serviceAccount{objects, func(base string) string { return base + "abcde" }}
}

func TestServiceAccount(t *testing.T) {
	no, yes := false, true
	quiet := &corev1.ServiceAccount{ObjectMeta: inNamespace("quiet"), AutomountServiceAccountToken: &no}
	normal := &corev1.ServiceAccount{ObjectMeta: inNamespace("default"), ImagePullSecrets: []corev1.LocalObjectReference{{Name: "s"}}}
	p := newTestServiceAccount(normal, quiet)
	for name, c := range map[string]struct {
		change func(*corev1.PodSpec)
		volume string
	}{
		"default":             {func(*corev1.PodSpec) {}, "kube-api-access-abcde"},
		"pod says no":         {func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = &no }, ""},
		"account says no":     {func(s *corev1.PodSpec) { s.ServiceAccountName = "quiet" }, ""},
		"pod over account":    {func(s *corev1.PodSpec) { s.ServiceAccountName, s.AutomountServiceAccountToken = "quiet", &yes }, "kube-api-access-abcde"},
		"volume of the token": {func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{{Name: "kube-api-access-mine"}} }, "kube-api-access-mine"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := newPod(nil, nil)
			pod.Spec.InitContainers = []corev1.Container{{Name: "i"}}
			c.change(&pod.Spec)
			require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
			require.NotEmpty(t, pod.Spec.ServiceAccountName)
			require.Equal(t, pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount)
			if c.volume == "" {
				require.Empty(t, pod.Spec.Volumes)
				require.Empty(t, pod.Spec.Containers[0].VolumeMounts)
				return
			}
			require.Len(t, pod.Spec.Volumes, 1)
			require.Equal(t, c.volume, pod.Spec.Volumes[0].Name)
			for _, one := range []corev1.Container{pod.Spec.Containers[0], pod.Spec.InitContainers[0]} {
				require.Equal(t, []corev1.VolumeMount{{Name: c.volume, ReadOnly: true, MountPath: tokenMountPath}}, one.VolumeMounts)
			}
		})
	}
	own := newPod(nil, nil)
	own.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "own", MountPath: tokenMountPath}}
	require.NoError(t, call(t, p, writeOf(pods, own, nil)))
	require.Empty(t, own.Spec.Volumes)
	require.Equal(t, normal.ImagePullSecrets, own.Spec.ImagePullSecrets)
}

func TestServiceAccountRefusals(t *testing.T) {
	strict := &corev1.ServiceAccount{ObjectMeta: inNamespace("default"), Secrets: []corev1.ObjectReference{{Name: "ok"}}}
	strict.Annotations = map[string]string{"kubernetes.io/enforce-mountable-secrets": "true"}
	p := newTestServiceAccount(strict)
	variable := func(secret string) []corev1.EnvVar {
		return []corev1.EnvVar{{Name: "v", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}},
		}}}
	}
	secretVolume := func(name string) []corev1.Volume {
		return []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}}}
	}
	for want, change := range map[string]func(*corev1.Pod){
		"": func(pod *corev1.Pod) {
			pod.Spec.Volumes, pod.Spec.Containers[0].Env = secretVolume("ok"), variable("ok")
		},
		`error looking up service account ns/none: serviceaccount "none" not found`: func(pod *corev1.Pod) { pod.Spec.ServiceAccountName = "none" },
		`volume with secret.secretName="s" is not allowed because service account default does not reference that secret`: func(pod *corev1.Pod) {
			pod.Spec.Volumes = secretVolume("s")
		},
		`container c with envVar v referencing secret.secretName="s" is not allowed because service account default does not reference that secret`: func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Env = variable("s")
		},
		`container c with envFrom referencing secret.secretName="s" is not allowed because service account default does not reference that secret`: func(pod *corev1.Pod) {
			pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}}
		},
		`imagePullSecrets[0].name="s" is not allowed because service account default does not reference that imagePullSecret`: func(pod *corev1.Pod) {
			pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "s"}}
		},
		"a mirror pod may not reference service accounts": func(pod *corev1.Pod) {
			pod.Annotations, pod.Spec.ServiceAccountName = map[string]string{corev1.MirrorPodAnnotationKey: ""}, "default"
		},
		"a mirror pod may not reference secrets": func(pod *corev1.Pod) {
			pod.Annotations, pod.Spec.Volumes = map[string]string{corev1.MirrorPodAnnotationKey: ""}, secretVolume("ok")
		},
		`init container i with envVar v referencing secret.secretName="s" is not allowed because service account default does not reference that secret`: func(pod *corev1.Pod) {
			pod.Spec.InitContainers = []corev1.Container{{Name: "i", Env: variable("s")}}
			pod.Spec.Containers[0].Env, pod.Spec.ImagePullSecrets = variable("t"), []corev1.LocalObjectReference{{Name: "s"}}
		},
		"a mirror pod may not use ServiceAccountToken volume projections": func(pod *corev1.Pod) {
			pod.Annotations, pod.Spec.Volumes = map[string]string{corev1.MirrorPodAnnotationKey: ""}, []corev1.Volume{tokenVolume("t")}
		},
	} {
		pod := newPod(nil, nil)
		change(pod)
		if want != "" {
			want = `pods "p" is forbidden: ` + want
		}
		requireRefusal(t, want, call(t, p, writeOf(pods, pod, nil)))
	}
	mirror := newPod(nil, nil)
	mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: ""}
	mirror.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{}} // a reference without a name is none
	mirror.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "a"}, {Name: "b", ValueFrom: &corev1.EnvVarSource{}}}
	mirror.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{DownwardAPI: &corev1.DownwardAPIProjection{}}}}}}}
	require.NoError(t, call(t, p, writeOf(pods, mirror, nil)))
	require.Empty(t, mirror.Spec.ServiceAccountName)

	// A plugin or a webhook may have removed the account. What ephemeral containers may not refer to
	// is not Forbidden.
	const noAccount = `pods "p" is forbidden: no service account specified for pod ns/p`
	requireRefusal(t, noAccount, p.Validate(t.Context(), writeOf(pods, newPod(nil, nil), nil)))
	debugged := newPod(nil, nil)
	debugged.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e", Env: variable("s")}}}
	attrs := writeOf(pods, debugged, newPod(nil, nil))
	attrs.Subresource = "ephemeralcontainers"
	requireRefusal(t, noAccount, call(t, p, attrs))
	debugged.Spec.ServiceAccountName, debugged.Spec.Containers[0].Env = "default", variable("s")
	debugged.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "s"}}
	err := call(t, p, attrs)
	require.EqualError(t, err, `ephemeral container e with envVar v referencing secret.secretName="s" `+
		`is not allowed because service account default does not reference that secret`)
	require.Equal(t, metav1.StatusReasonUnknown, apierrors.ReasonForError(err))
}
