package fakeapi_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

func newClaim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: resourceList("storage", "1Gi")},
		},
	}
}

func newVolume(name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:    resourceList("storage", "1Gi"),
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: name},
			},
		},
	}
}

// A claim that is deleted stays while a scheduled pod uses it, and a volume while it is bound.
func TestStorageObjectInUseProtection(t *testing.T) {
	podWith := func(name, node, claim string) *corev1.Pod {
		pod := newPod(name, func(p *corev1.Pod) { p.Spec.NodeName = node })
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
		return pod
	}
	withControllers(t, func(p *controllersTest) {
		claims, pods := p.client.CoreV1().PersistentVolumeClaims("default"), p.client.CoreV1().Pods("default")
		exists := func(name string) bool {
			synctest.Wait()
			_, err := claims.Get(p.Context(), name, metav1.GetOptions{})
			if err != nil {
				require.True(p, apierrors.IsNotFound(err), "%v", err)
			}
			return err == nil
		}
		for _, name := range []string{"unused", "unscheduled", "used"} {
			claim, err := claims.Create(p.Context(), newClaim(name), metav1.CreateOptions{})
			require.NoError(p, err)
			require.Equal(p, []string{"kubernetes.io/pvc-protection"}, claim.Finalizers)
		}
		for name, node := range map[string]string{"unscheduled": "", "used": "n"} {
			_, err := pods.Create(p.Context(), podWith(name, node, name), metav1.CreateOptions{})
			require.NoError(p, err)
		}
		for name, stays := range map[string]bool{"unused": false, "unscheduled": false, "used": true} {
			require.NoError(p, claims.Delete(p.Context(), name, metav1.DeleteOptions{}))
			require.Equal(p, stays, exists(name), name)
		}
		require.NoError(p, pods.Delete(p.Context(), "used", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
		require.False(p, exists("used"))

		volumes := p.client.CoreV1().PersistentVolumes()
		volume, err := volumes.Create(p.Context(), newVolume("v"), metav1.CreateOptions{})
		require.NoError(p, err)
		volume.Status.Phase = corev1.VolumeBound
		volume, err = volumes.UpdateStatus(p.Context(), volume, metav1.UpdateOptions{})
		require.NoError(p, err)
		require.NoError(p, volumes.Delete(p.Context(), "v", metav1.DeleteOptions{}))
		synctest.Wait()
		volume, err = volumes.Get(p.Context(), volume.Name, metav1.GetOptions{})
		require.NoError(p, err)
		volume.Status.Phase = corev1.VolumeReleased
		_, err = volumes.UpdateStatus(p.Context(), volume, metav1.UpdateOptions{})
		require.NoError(p, err)
		synctest.Wait()
		_, err = volumes.Get(p.Context(), volume.Name, metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
	})
}

// A VolumeAttributesClass that is deleted stays while a claim or a volume has it.
func TestVolumeAttributesClassProtection(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		classes, claims := p.client.StorageV1().VolumeAttributesClasses(), p.client.CoreV1().PersistentVolumeClaims("default")
		exists := func(name string) bool {
			synctest.Wait()
			_, err := classes.Get(p.Context(), name, metav1.GetOptions{})
			if err != nil {
				require.True(p, apierrors.IsNotFound(err), "%v", err)
			}
			return err == nil
		}
		for _, name := range []string{"unused", "claimed", "bound"} {
			class, err := classes.Create(p.Context(), &storagev1.VolumeAttributesClass{
				ObjectMeta: metav1.ObjectMeta{Name: name}, DriverName: "csi.example.com", Parameters: map[string]string{"tier": name},
			}, metav1.CreateOptions{})
			require.NoError(p, err)
			require.Equal(p, []string{"kubernetes.io/vac-protection"}, class.Finalizers)
		}
		claim := newClaim("c")
		claim.Spec.VolumeAttributesClassName = new("claimed")
		claim, err := claims.Create(p.Context(), claim, metav1.CreateOptions{})
		require.NoError(p, err)
		volume := newVolume("v")
		volume.Spec.VolumeAttributesClassName = new("bound")
		_, err = p.client.CoreV1().PersistentVolumes().Create(p.Context(), volume, metav1.CreateOptions{})
		require.NoError(p, err)
		for name, stays := range map[string]bool{"unused": false, "claimed": true, "bound": true} {
			require.NoError(p, classes.Delete(p.Context(), name, metav1.DeleteOptions{}))
			require.Equal(p, stays, exists(name), name)
		}
		claim.Status.Phase = corev1.ClaimBound
		claim, err = claims.UpdateStatus(p.Context(), claim, metav1.UpdateOptions{})
		require.NoError(p, err)
		claim.Spec.VolumeAttributesClassName = new("other")
		_, err = claims.Update(p.Context(), claim, metav1.UpdateOptions{})
		require.NoError(p, err)
		require.False(p, exists("claimed"))
		require.NoError(p, p.client.CoreV1().PersistentVolumes().Delete(p.Context(), "v", metav1.DeleteOptions{}))
		require.False(p, exists("bound"))
	})
}

// Without controllers a deleted claim stays, as in envtest.
func TestStorageObjectInUseProtectionWithoutControllers(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		claims := p.client.CoreV1().PersistentVolumeClaims("default")
		_, err := claims.Create(p.Context(), newClaim("c"), metav1.CreateOptions{})
		require.NoError(p, err)
		require.NoError(p, claims.Delete(p.Context(), "c", metav1.DeleteOptions{}))
		claim, err := claims.Get(p.Context(), "c", metav1.GetOptions{})
		require.NoError(p, err)
		require.NotNil(p, claim.DeletionTimestamp)
		require.NoError(p, p.srv.RunControllers(p.Context()))
		_, err = claims.Get(p.Context(), "c", metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
	}, fakeapi.WithoutControllers())
}
