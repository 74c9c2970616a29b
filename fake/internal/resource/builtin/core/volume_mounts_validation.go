package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateVolumeMounts validates the volumes in the file system of a container.
func validateVolumeMounts(volumes *volumesByName, c *corev1.Container, p *validate.Path) (errs field.ErrorList) {
	if len(c.VolumeMounts) == 0 {
		return nil
	}
	// Volumes that occur twice are devices at the last of their paths.
	var paths, devices, devicePaths smallSet[string]
	for i := len(c.VolumeDevices) - 1; i >= 0; i-- {
		if devices.add(c.VolumeDevices[i].Name) {
			devicePaths.add(c.VolumeDevices[i].DevicePath)
		}
	}
	for i := range c.VolumeMounts {
		m, at := &c.VolumeMounts[i], p.Index(i)
		errs = append(errs, requireValue(m.Name, at.Child("name"))...)
		if volumes.find(m.Name) == nil {
			errs = append(errs, at.Child("name").NotFound(m.Name))
		}
		errs = append(errs, requireValue(m.MountPath, at.Child("mountPath"))...)
		if !paths.add(m.MountPath) {
			errs = append(errs, at.Child("mountPath").Invalid(m.MountPath, "must be unique"))
		}
		if devices.has(m.Name) {
			errs = append(errs, at.Child("name").Invalid(m.Name, "must not already exist in volumeDevices"))
		}
		if devicePaths.has(m.MountPath) {
			errs = append(errs, at.Child("mountPath").Invalid(m.MountPath, "must not already exist as a path in volumeDevices"))
		}
		errs = append(errs, validateSubPath(m, at, p)...)
		if m.MountPropagation != nil {
			errs = append(errs, validateMountPropagation(*m.MountPropagation, c.SecurityContext, p.Child("mountPropagation"))...)
		}
		if m.RecursiveReadOnly != nil {
			errs = append(errs, validateRecursiveReadOnly(m, p.Child("recursiveReadOnly"))...)
		}
	}
	return errs
}

// validateSubPath validates the part of a volume that is mounted. The paths of most errors are
// those of the list, without the index of the mount.
func validateSubPath(m *corev1.VolumeMount, p, list *validate.Path) (errs field.ErrorList) {
	if m.SubPath != "" {
		errs = validateLocalDescendingPath(m.SubPath, list.Child("subPath"))
	}
	if m.SubPathExpr == "" {
		return errs
	}
	if m.SubPath != "" {
		errs = append(errs, p.Child("subPathExpr").Invalid(m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
	}
	return append(errs, validateLocalDescendingPath(m.SubPathExpr, list.Child("subPathExpr"))...)
}

func validateMountPropagation(mode corev1.MountPropagationMode, sc *corev1.SecurityContext, p *validate.Path) field.ErrorList {
	switch mode {
	case corev1.MountPropagationHostToContainer, corev1.MountPropagationNone:
		return nil
	case corev1.MountPropagationBidirectional:
		if sc != nil && sc.Privileged != nil && *sc.Privileged {
			return nil
		}
		return field.ErrorList{p.Forbidden("Bidirectional mount propagation is available only to privileged containers")}
	}
	return field.ErrorList{validate.NotSupported(p, mode,
		corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)}
}

// validateRecursiveReadOnly validates whether mounts below a mount are read-only, too.
func validateRecursiveReadOnly(m *corev1.VolumeMount, p *validate.Path) (errs field.ErrorList) {
	switch *m.RecursiveReadOnly {
	case corev1.RecursiveReadOnlyDisabled:
	case corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible:
		if !m.ReadOnly {
			errs = append(errs, p.Forbidden("may only be specified when readOnly is true"))
		}
		if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
			errs = append(errs, p.Forbidden("may only be specified when mountPropagation is None or not specified"))
		}
	default:
		errs = append(errs, validate.NotSupported(p, *m.RecursiveReadOnly,
			corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible))
	}
	return errs
}

// validateVolumeDevices validates the volumes that are block devices of a container.
func validateVolumeDevices(volumes *volumesByName, c *corev1.Container, p *validate.Path) (errs field.ErrorList) {
	if len(c.VolumeDevices) == 0 {
		return nil
	}
	var names, paths, mounts, mountPaths smallSet[string]
	for i := len(c.VolumeMounts) - 1; i >= 0; i-- {
		if mounts.add(c.VolumeMounts[i].Name) {
			mountPaths.add(c.VolumeMounts[i].MountPath)
		}
	}
	for i := range c.VolumeDevices {
		d, at := &c.VolumeDevices[i], p.Index(i)
		name, path := at.Child("name"), at.Child("devicePath")
		errs = append(errs, requireValue(d.Name, name)...)
		if d.Name != "" && !names.add(d.Name) {
			errs = append(errs, name.Invalid(d.Name, "must be unique"))
		}
		switch v := volumes.find(d.Name); {
		case v == nil:
			errs = append(errs, name.NotFound(d.Name))
		case v.PersistentVolumeClaim == nil && v.Ephemeral == nil:
			errs = append(errs, name.Invalid(d.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		errs = append(errs, requireValue(d.DevicePath, path)...)
		if paths.has(d.DevicePath) {
			errs = append(errs, path.Invalid(d.DevicePath, "must be unique"))
		}
		if len(validatePathNoBacksteps(d.DevicePath, path)) > 0 {
			errs = append(errs, path.Invalid(d.DevicePath, "can not contain backsteps ('..')"))
		} else {
			paths.add(d.DevicePath)
		}
		if mounts.has(d.Name) {
			errs = append(errs, name.Invalid(d.Name, "must not already exist in volumeMounts"))
		}
		if mountPaths.has(d.DevicePath) {
			errs = append(errs, path.Invalid(d.DevicePath, "must not already exist as a path in volumeMounts"))
		}
	}
	return errs
}
