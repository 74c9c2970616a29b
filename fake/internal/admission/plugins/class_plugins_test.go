package plugins

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
)

// classMeta returns the metadata of a class that was created at a second.
func classMeta(name, isDefault string, second int64) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(second, 0)), Annotations: map[string]string{
		"storageclass.kubernetes.io/is-default-class": isDefault, "ingressclass.kubernetes.io/is-default-class": isDefault,
	}}
}

// The newest default counts, then the first by name.
func TestDefaultClasses(t *testing.T) {
	for want, metas := range map[string][]metav1.ObjectMeta{
		"":      {classMeta("a", "false", 9)},
		"b":     {classMeta("a", "false", 9), classMeta("b", "true", 1)},
		"new":   {classMeta("a", "true", 1), classMeta("new", "true", 2), classMeta("z", "true", 1)},
		"first": {classMeta("first", "true", 3), classMeta("second", "true", 3)},
	} {
		objects := storedObjects{}
		for _, m := range metas {
			objects[storageClasses] = append(objects[storageClasses], &storagev1.StorageClass{ObjectMeta: m})
			objects[ingressClasses] = append(objects[ingressClasses], &networkingv1.IngressClass{ObjectMeta: m})
		}
		claim, ingress := &corev1.PersistentVolumeClaim{ObjectMeta: inNamespace("c")}, &networkingv1.Ingress{ObjectMeta: inNamespace("i")}
		require.NoError(t, call(t, newDefaultStorageClass(Dependencies{Objects: objects}), writeOf(claims, claim, nil)))
		require.NoError(t, call(t, newDefaultIngressClass(Dependencies{Objects: objects}), writeOf(ingresses, ingress, nil)))
		if want == "" {
			require.Nil(t, claim.Spec.StorageClassName)
			require.Nil(t, ingress.Spec.IngressClassName)
			continue
		}
		require.Equal(t, want, *claim.Spec.StorageClassName)
		require.Equal(t, want, *ingress.Spec.IngressClassName)
	}
}

// A class that is set stays, even if it is "", and an annotation is a class, too.
func TestDefaultClassesKeepClasses(t *testing.T) {
	objects, empty := storedObjects{
		storageClasses: {&storagev1.StorageClass{ObjectMeta: classMeta("a", "true", 1)}},
		ingressClasses: {&networkingv1.IngressClass{ObjectMeta: classMeta("a", "true", 1)}},
	}, ""
	claim, ingress := &corev1.PersistentVolumeClaim{}, &networkingv1.Ingress{}
	claim.Spec.StorageClassName, ingress.Spec.IngressClassName = &empty, &empty
	require.NoError(t, call(t, newDefaultStorageClass(Dependencies{Objects: objects}), writeOf(claims, claim, nil)))
	require.NoError(t, call(t, newDefaultIngressClass(Dependencies{Objects: objects}), writeOf(ingresses, ingress, nil)))
	require.Empty(t, *claim.Spec.StorageClassName)
	require.Empty(t, *ingress.Spec.IngressClassName)

	claim, ingress = &corev1.PersistentVolumeClaim{}, &networkingv1.Ingress{}
	claim.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "old"}
	ingress.Annotations = map[string]string{ingressClassAnnotation: "old"}
	require.NoError(t, call(t, newDefaultStorageClass(Dependencies{Objects: objects}), writeOf(claims, claim, nil)))
	require.NoError(t, call(t, newDefaultIngressClass(Dependencies{Objects: objects}), writeOf(ingresses, ingress, nil)))
	require.Nil(t, claim.Spec.StorageClassName)
	require.Nil(t, ingress.Spec.IngressClassName)
}

func TestStorageObjectInUseProtection(t *testing.T) {
	p := newStorageObjectInUseProtection(Dependencies{})
	volumes := corev1.SchemeGroupVersion.WithResource("persistentvolumes")
	attributesClasses := storagev1.SchemeGroupVersion.WithResource("volumeattributesclasses")
	check := func(want string, obj runtime.Object, call func()) {
		call()
		call()
		require.Equal(t, []string{want}, resource.Accessor(obj).GetFinalizers())
	}
	claim, volume, class := &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{}, &storagev1.VolumeAttributesClass{}
	check("kubernetes.io/pvc-protection", claim, func() { require.NoError(t, call(t, p, writeOf(claims, claim, nil))) })
	check("kubernetes.io/pv-protection", volume, func() { require.NoError(t, call(t, p, writeOf(volumes, volume, nil))) })
	check("kubernetes.io/vac-protection", class, func() { require.NoError(t, call(t, p, writeOf(attributesClasses, class, nil))) })
	updated := &corev1.PersistentVolumeClaim{}
	require.NoError(t, call(t, p, writeOf(claims, updated, claim)))
	require.Empty(t, updated.Finalizers)
}

func TestPersistentVolumeClaimResize(t *testing.T) {
	yes := true
	p := newPersistentVolumeClaimResize(Dependencies{Objects: storedObjects{storageClasses: {
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "grows"}, AllowVolumeExpansion: &yes},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "stays"}},
	}}})
	claim := func(class, size string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: inNamespace("c"), Status: corev1.PersistentVolumeClaimStatus{Phase: phase},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{Requests: quantities("storage", size)},
			},
		}
	}
	const unsupported = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
	for name, c := range map[string]struct {
		old, updated *corev1.PersistentVolumeClaim
		want         string
	}{
		"bound":        {claim("grows", "1Gi", corev1.ClaimBound), claim("grows", "2Gi", ""), ""},
		"same":         {claim("stays", "1Gi", ""), claim("stays", "1024Mi", ""), ""},
		"pending":      {claim("grows", "1Gi", corev1.ClaimPending), claim("grows", "2Gi", ""), "Only bound persistent volume claims can be expanded"},
		"stays":        {claim("stays", "1Gi", corev1.ClaimBound), claim("stays", "2Gi", ""), unsupported},
		"no class":     {claim("none", "1Gi", corev1.ClaimBound), claim("none", "2Gi", ""), unsupported},
		"other class":  {claim("stays", "1Gi", corev1.ClaimBound), claim("grows", "2Gi", ""), unsupported},
		"static class": {claim("", "1Gi", corev1.ClaimBound), claim("", "2Gi", ""), unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.want
			if want != "" {
				want = `persistentvolumeclaims "c" is forbidden: ` + want
			}
			requireRefusal(t, want, call(t, p, writeOf(claims, c.updated, c.old)))
		})
	}
}
