package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource"
)

// SetDefaultsPersistentVolumeClaim sets the defaults of a claim, and of a template of claims.
func SetDefaultsPersistentVolumeClaim(pvc *corev1.PersistentVolumeClaim) {
	if pvc.Status.Phase == "" {
		pvc.Status.Phase = corev1.ClaimPending
	}
	setClaimSpecDefaults(&pvc.Spec)
	setResourceListDefaults(pvc.Status.Capacity)
	setResourceListDefaults(pvc.Status.AllocatedResources)
}

func setClaimSpecDefaults(spec *corev1.PersistentVolumeClaimSpec) {
	if spec.VolumeMode == nil {
		spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
	}
	setResourceListDefaults(spec.Resources.Limits)
	setResourceListDefaults(spec.Resources.Requests)
}

// completeDataSources makes the sources of a stored claim agree.
func completeDataSources(pvc *corev1.PersistentVolumeClaim) { normalizeDataSources(&pvc.Spec, true) }

func preparePersistentVolumeClaimForCreate(_ context.Context, pvc *corev1.PersistentVolumeClaim) {
	pvc.Status.Phase = corev1.ClaimPending
	dropDisabledClaimFields(&pvc.Spec, nil)
	normalizeDataSources(&pvc.Spec, false)
}

func preparePersistentVolumeClaimForUpdate(_ context.Context, pvc, old *corev1.PersistentVolumeClaim) {
	dropDisabledClaimFields(&pvc.Spec, &old.Spec)
	normalizeDataSources(&pvc.Spec, old.Spec.DataSource != nil || old.Spec.DataSourceRef != nil)
}

// persistentVolumeClaimStatusSubresource drops the field of the feature gate CSIVolumeHealth, which
// is off, unless the old claim has it.
func persistentVolumeClaimStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource()
	s.PrepareForUpdate = resource.OnUpdate(func(_ context.Context, pvc, old *corev1.PersistentVolumeClaim) {
		pvc.Spec = old.Spec
		if old.Status.HealthStatus == nil {
			pvc.Status.HealthStatus = nil
		}
	})
	return s
}

// dropDisabledClaimFields removes a source in another namespace: CrossNamespaceVolumeDataSource is
// off. old is nil for a new object.
func dropDisabledClaimFields(spec, old *corev1.PersistentVolumeClaimSpec) {
	if ref := spec.DataSourceRef; ref != nil && ref.Namespace != nil && *ref.Namespace != "" &&
		(old == nil || old.DataSourceRef == nil) {
		spec.DataSourceRef = nil
	}
}

// normalizeDataSources makes dataSource and dataSourceRef agree (KEP-1495). A dataSource alone, of
// a claim that had none before, has to be a claim or a snapshot; any other is ignored.
func normalizeDataSources(spec *corev1.PersistentVolumeClaimSpec, hadSource bool) {
	source, ref := spec.DataSource, spec.DataSourceRef
	switch {
	case source != nil && ref == nil && !hadSource && !isClaimOrSnapshot(source):
		spec.DataSource = nil
	case source != nil && ref == nil:
		spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: copyString(source.APIGroup), Kind: source.Kind, Name: source.Name}
	case source == nil && ref != nil && (ref.Namespace == nil || *ref.Namespace == ""):
		spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: copyString(ref.APIGroup), Kind: ref.Kind, Name: ref.Name}
	}
}

func isClaimOrSnapshot(source *corev1.TypedLocalObjectReference) bool {
	group := ptr.Deref(source.APIGroup, "")
	return source.Kind == "PersistentVolumeClaim" && group == "" ||
		source.Kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io"
}

func copyString(s *string) *string {
	if s == nil {
		return nil
	}
	return new(*s)
}
