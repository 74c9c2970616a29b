package node

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A pod refers to the objects of its environment, its volumes and its resource claims.
func TestReferences(t *testing.T) {
	name := func(n string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: n} }
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		ServiceAccountName: "account", ImagePullSecrets: []corev1.LocalObjectReference{name("pull"), {}},
		InitContainers: []corev1.Container{{EnvFrom: []corev1.EnvFromSource{
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: name("from")}},
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: name("from")}},
		}}},
		EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Env: []corev1.EnvVar{
			{Value: "v"},
			{ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: name("key")}}},
			{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: name("key")}}},
		}}}},
		ResourceClaims: []corev1.PodResourceClaim{{Name: "own", ResourceClaimName: new("claim")}, {Name: "new", ResourceClaimTemplateName: new("template")}},
	}}
	pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{
		{Name: "new", ResourceClaimName: new("generated")}, {Name: "none"},
		{Name: "own", ResourceClaimName: new("other")}, // the name in the spec counts
	}
	pod.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: "extended"}
	secret := new(name("ref"))
	for _, v := range []corev1.VolumeSource{
		{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "azure"}},
		{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name("volume")}},
		{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{LocalObjectReference: name("projected")}}}}},
		{CephFS: &corev1.CephFSVolumeSource{SecretRef: secret}}, {Cinder: &corev1.CinderVolumeSource{SecretRef: secret}},
		{FlexVolume: &corev1.FlexVolumeSource{SecretRef: secret}}, {RBD: &corev1.RBDVolumeSource{SecretRef: secret}},
		{ScaleIO: &corev1.ScaleIOVolumeSource{SecretRef: secret}}, {ISCSI: &corev1.ISCSIVolumeSource{SecretRef: secret}},
		{StorageOS: &corev1.StorageOSVolumeSource{SecretRef: secret}}, {CSI: &corev1.CSIVolumeSource{NodePublishSecretRef: secret}},
	} {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{VolumeSource: v})
	}
	require.Equal(t, map[string][]string{
		"serviceaccounts": {"account"},
		"secrets":         {"pull", "from", "key", "azure", "projected", "ref", "ref", "ref", "ref", "ref", "ref", "ref", "ref"},
		"configmaps":      {"from", "key", "volume"},
		"resourceclaims":  {"claim", "generated", "extended"},
	}, References(pod))
}

// A secret of a volume is in its own namespace or, without one, in that of the claim.
func TestSecretsOfVolumes(t *testing.T) {
	ref := &corev1.SecretReference{Namespace: "x", Name: "s"}
	for _, source := range []corev1.PersistentVolumeSource{
		{AzureFile: &corev1.AzureFilePersistentVolumeSource{SecretName: "s", SecretNamespace: new("x")}},
		{CephFS: &corev1.CephFSPersistentVolumeSource{SecretRef: ref}}, {Cinder: &corev1.CinderPersistentVolumeSource{SecretRef: ref}},
		{FlexVolume: &corev1.FlexPersistentVolumeSource{SecretRef: ref}}, {RBD: &corev1.RBDPersistentVolumeSource{SecretRef: ref}},
		{ScaleIO: &corev1.ScaleIOPersistentVolumeSource{SecretRef: ref}}, {ISCSI: &corev1.ISCSIPersistentVolumeSource{SecretRef: ref}},
		{StorageOS: &corev1.StorageOSPersistentVolumeSource{SecretRef: &corev1.ObjectReference{Namespace: "x", Name: "s"}}},
		{CSI: &corev1.CSIPersistentVolumeSource{NodePublishSecretRef: ref, ControllerPublishSecretRef: &corev1.SecretReference{Name: "other"}}},
	} {
		var v volumeReferences
		v.addSecrets(&source)
		require.Equal(t, []types.NamespacedName{{Namespace: "x", Name: "s"}}, v.secrets, "%+v", source)
	}
	v := volumeReferences{claim: types.NamespacedName{Namespace: "ns", Name: "c"}}
	v.addSecrets(&corev1.PersistentVolumeSource{AzureFile: &corev1.AzureFilePersistentVolumeSource{SecretName: "s"}})
	v.addSecrets(&corev1.PersistentVolumeSource{RBD: &corev1.RBDPersistentVolumeSource{SecretRef: &corev1.SecretReference{}}})
	v.addSecrets(&corev1.PersistentVolumeSource{StorageOS: &corev1.StorageOSPersistentVolumeSource{}})
	require.Equal(t, []types.NamespacedName{{Namespace: "ns", Name: "s"}}, v.secrets)
}
