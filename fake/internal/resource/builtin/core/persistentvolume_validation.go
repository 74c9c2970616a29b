package core

import (
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePersistentVolume validates a new volume.
func validatePersistentVolume(pv *corev1.PersistentVolume) field.ErrorList {
	return append(validatePersistentVolumeSpec(pv, false), validateMountOptions(pv)...)
}

// validatePersistentVolumeUpdate validates a volume that replaces old. A server lists the causes
// that it would have for a new volume twice.
func validatePersistentVolumeUpdate(pv, old *corev1.PersistentVolume) field.ErrorList {
	affinity := old.Spec.NodeAffinity
	anyValues := affinity != nil && affinity.Required != nil && hasInvalidLabelValue(affinity.Required.NodeSelectorTerms)
	errs := validatePersistentVolumeSpec(pv, anyValues)
	again := errs
	errs = append(errs, validateMountOptions(pv)...)
	errs = append(errs, again...)
	return append(errs, validatePersistentVolumeChanges(pv, old)...)
}

// validatePersistentVolumeChanges validates that an update changes only what can be changed.
func validatePersistentVolumeChanges(pv, old *corev1.PersistentVolume) (errs field.ErrorList) {
	var root *validate.Path
	source, was := pv.Spec.PersistentVolumeSource, old.Spec.PersistentVolumeSource
	if source.CSI != nil && was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil {
		// The secret can be set once.
		csi := *source.CSI
		csi.ControllerExpandSecretRef = nil
		source.CSI = &csi
	}
	if !equality.Semantic.DeepEqual(source, was) {
		errs = append(errs, root.Child("spec").Child("persistentvolumesource").Forbidden(
			"spec.persistentvolumesource is immutable after creation\n"+changes(was, source)))
	}
	errs = append(errs, validate.Immutable(pv.Spec.VolumeMode, old.Spec.VolumeMode, root.Child("volumeMode"))...)
	if old.Spec.NodeAffinity != nil && !isSameNodeAffinity(pv.Spec.NodeAffinity, old.Spec.NodeAffinity) {
		errs = append(errs, root.Child("nodeAffinity").Invalid(pv.Spec.NodeAffinity, "field is immutable, except for updating from beta label to GA"))
	}
	if old.Spec.VolumeAttributesClassName != nil && pv.Spec.VolumeAttributesClassName == nil {
		errs = append(errs, root.Child("spec").Child("volumeAttributesClassName").Forbidden("update from non-nil value to nil is forbidden"))
	}
	return errs
}

// isSameNodeAffinity reports whether affinity equals old, or has replaced deprecated labels in it.
func isSameNodeAffinity(affinity, old *corev1.VolumeNodeAffinity) bool {
	if affinity == nil || affinity.Required == nil || old.Required == nil ||
		len(affinity.Required.NodeSelectorTerms) != len(old.Required.NodeSelectorTerms) {
		return equality.Semantic.DeepEqual(affinity, old)
	}
	old = old.DeepCopy()
	for i := range old.Required.NodeSelectorTerms {
		term, was := &affinity.Required.NodeSelectorTerms[i], &old.Required.NodeSelectorTerms[i]
		replaceNodeLabels(was.MatchExpressions, term.MatchExpressions)
		replaceNodeLabels(was.MatchFields, term.MatchFields)
	}
	return equality.Semantic.DeepEqual(affinity, old)
}

// replaceNodeLabels replaces deprecated labels in requirements by those that target has in their
// place.
func replaceNodeLabels(requirements, target []corev1.NodeSelectorRequirement) {
	for i := range min(len(requirements), len(target)) {
		if stable, _ := stableNodeLabel(requirements[i].Key); stable != "" && stable == target[i].Key {
			requirements[i].Key = stable
		}
	}
}

// validatePersistentVolumeSpec validates the spec of a volume. anyValues is that of
// ValidateNodeSelector.
func validatePersistentVolumeSpec(pv *corev1.PersistentVolume, anyValues bool) field.ErrorList {
	var root *validate.Path
	p, spec := root.Child("spec"), &pv.Spec
	errs := validateVolumeAccess(spec.AccessModes, p.Child("accessModes"))
	errs = append(errs, validateVolumeCapacity(spec.Capacity, p.Child("capacity"))...)
	switch spec.PersistentVolumeReclaimPolicy {
	case "", corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain:
	default:
		errs = append(errs, validate.NotSupported(p.Child("persistentVolumeReclaimPolicy"), spec.PersistentVolumeReclaimPolicy,
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain))
	}
	if affinity := spec.NodeAffinity; affinity != nil {
		required := p.Child("nodeAffinity").Child("required")
		if affinity.Required == nil {
			errs = append(errs, required.Required("must specify required node constraints"))
		} else {
			errs = append(errs, ValidateNodeSelector(affinity.Required, anyValues, required)...)
		}
	}
	errs = append(errs, validatePersistentVolumeSource(spec, pv.Name, p)...)
	errs = append(errs, validateRecycledHostPath(spec, p)...)
	if spec.StorageClassName != "" {
		errs = append(errs, validate.DNSSubdomain(spec.StorageClassName, p.Child("storageClassName"))...)
	}
	errs = append(errs, validateVolumeMode(spec.VolumeMode, p.Child("volumeMode"))...)
	if spec.VolumeAttributesClassName == nil {
		return errs
	}
	if name := *spec.VolumeAttributesClassName; name == "" {
		errs = append(errs, p.Child("volumeAttributesClassName").Required("an empty string is disallowed"))
	} else {
		errs = append(errs, validate.DNSSubdomain(name, p.Child("volumeAttributesClassName"))...)
	}
	if spec.CSI == nil {
		errs = append(errs, p.Child("csi").Required("has to be specified when using volumeAttributesClassName"))
	}
	return errs
}

// ValidateInlineVolumeSpec validates the volume that a VolumeAttachment has inline.
func ValidateInlineVolumeSpec(spec *corev1.PersistentVolumeSpec, p *validate.Path) (errs field.ErrorList) {
	const notInline = "may not be specified in the context of inline volumes"
	if spec.ClaimRef != nil {
		errs = append(errs, p.Child("claimRef").Forbidden(notInline))
	}
	if len(spec.Capacity) > 0 {
		errs = append(errs, p.Child("capacity").Forbidden(notInline))
	}
	if spec.CSI == nil {
		errs = append(errs, p.Child("csi").Required("has to be specified in the context of inline volumes"))
	}
	errs = append(errs, validateVolumeAccess(spec.AccessModes, p.Child("accessModes"))...)
	if policy := spec.PersistentVolumeReclaimPolicy; policy != "" && policy != corev1.PersistentVolumeReclaimRetain {
		errs = append(errs, p.Child("persistentVolumeReclaimPolicy").Forbidden("may only be Retain in the context of inline volumes"))
	}
	if spec.NodeAffinity != nil {
		errs = append(errs, p.Child("nodeAffinity").Forbidden(notInline))
	}
	withoutAffinity := *spec
	withoutAffinity.NodeAffinity = nil
	errs = append(errs, validatePersistentVolumeSource(&withoutAffinity, "", p)...)
	errs = append(errs, validateRecycledHostPath(spec, p)...)
	if spec.StorageClassName != "" {
		errs = append(errs, p.Child("storageClassName").Forbidden(notInline))
	}
	if spec.VolumeMode != nil && *spec.VolumeMode != corev1.PersistentVolumeFilesystem {
		errs = append(errs, p.Child("volumeMode").Forbidden("may not specify volumeMode other than Filesystem in the context of inline volumes"))
	}
	return errs
}

// validateVolumeAccess validates the access modes of a volume.
func validateVolumeAccess(modes []corev1.PersistentVolumeAccessMode, p *validate.Path) field.ErrorList {
	if len(modes) == 0 {
		return field.ErrorList{p.Required("")}
	}
	return validateVolumeAccessModes(modes, p)
}

// validateVolumeCapacity validates that the capacity of a volume is a size and nothing else.
func validateVolumeCapacity(capacity corev1.ResourceList, p *validate.Path) (errs field.ErrorList) {
	if len(capacity) == 0 {
		errs = append(errs, p.Required(""))
	}
	if _, ok := capacity[corev1.ResourceStorage]; !ok || len(capacity) > 1 {
		errs = append(errs, validate.NotSupported(p, capacity, corev1.ResourceStorage))
	}
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		q, at := capacity[name], p.Key(string(name))
		errs = append(errs, validateBasicQuantity(q, at)...)
		errs = append(errs, validatePositiveQuantity(q, at)...)
	}
	return errs
}

// validateRecycledHostPath validates that the root directory of a node is not emptied for reuse.
func validateRecycledHostPath(spec *corev1.PersistentVolumeSpec, p *validate.Path) field.ErrorList {
	if spec.HostPath == nil || path.Clean(spec.HostPath.Path) != "/" ||
		spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRecycle {
		return nil
	}
	return field.ErrorList{p.Child("persistentVolumeReclaimPolicy").Forbidden("may not be 'recycle' for a hostPath mount of '/'")}
}

// validateMountOptions validates that only volumes that can be mounted with options have the
// annotation for them.
func validateMountOptions(pv *corev1.PersistentVolume) field.ErrorList {
	if _, ok := pv.Annotations[corev1.MountOptionAnnotation]; !ok {
		return nil
	}
	s := &pv.Spec.PersistentVolumeSource
	if s.GCEPersistentDisk != nil || s.AWSElasticBlockStore != nil || s.Glusterfs != nil || s.NFS != nil || s.RBD != nil ||
		s.Quobyte != nil || s.ISCSI != nil || s.Cinder != nil || s.CephFS != nil || s.AzureFile != nil ||
		s.VsphereVolume != nil || s.AzureDisk != nil || s.PhotonPersistentDisk != nil {
		return nil
	}
	var root *validate.Path
	return field.ErrorList{root.Child("metadata").Child("annotations").Child(corev1.MountOptionAnnotation).Forbidden(
		"may not specify mount options for this volume type")}
}
