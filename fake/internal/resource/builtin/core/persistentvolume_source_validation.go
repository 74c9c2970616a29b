package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// volumeSourceErrors are the errors of the sources of a volume, which has one source.
type volumeSourceErrors struct {
	// path is the path of the volume.
	path  *validate.Path
	found bool
	errs  field.ErrorList
}

// isFirst reports whether the volume has no source before the one of a type. A further one is an
// error, and is not validated.
func (e *volumeSourceErrors) isFirst(name string) bool {
	if e.found {
		e.errs = append(e.errs, e.path.Child(name).Forbidden("may not specify more than 1 volume type"))
		return false
	}
	e.found = true
	return true
}

func (e *volumeSourceErrors) add(errs field.ErrorList) { e.errs = append(e.errs, errs...) }

// validatePersistentVolumeSource validates that a volume has one source, and validates it. p is the
// path of the spec.
func validatePersistentVolumeSource(spec *corev1.PersistentVolumeSpec, volumeName string, p *validate.Path) field.ErrorList {
	e := &volumeSourceErrors{path: p}
	if s := spec.HostPath; s != nil && e.isFirst("hostPath") {
		e.add(validateHostPathVolumeSource(s, p.Child("hostPath")))
	}
	if s := spec.GCEPersistentDisk; s != nil && e.isFirst("gcePersistentDisk") {
		e.add(validateGCEPersistentDiskVolumeSource(s, p.Child("persistentDisk")))
	}
	if s := spec.AWSElasticBlockStore; s != nil && e.isFirst("awsElasticBlockStore") {
		e.add(validateAWSElasticBlockStoreVolumeSource(s, p.Child("awsElasticBlockStore")))
	}
	if s := spec.Glusterfs; s != nil && e.isFirst("glusterfs") {
		e.add(validateGlusterfsPersistentVolumeSource(s, p.Child("glusterfs")))
	}
	if s := spec.Flocker; s != nil && e.isFirst("flocker") {
		e.add(validateFlockerVolumeSource(s, p.Child("flocker")))
	}
	if s := spec.NFS; s != nil && e.isFirst("nfs") {
		e.add(validateNFSVolumeSource(s, p.Child("nfs")))
	}
	if s := spec.RBD; s != nil && e.isFirst("rbd") {
		e.add(validateRBDPersistentVolumeSource(s, p.Child("rbd")))
	}
	if s := spec.Quobyte; s != nil && e.isFirst("quobyte") {
		e.add(validateQuobyteVolumeSource(s, p.Child("quobyte")))
	}
	if s := spec.CephFS; s != nil && e.isFirst("cephFS") {
		e.add(validateCephFSPersistentVolumeSource(s, p.Child("cephfs")))
	}
	if s := spec.ISCSI; s != nil && e.isFirst("iscsi") {
		e.add(validateISCSIPersistentVolumeSource(s, volumeName, p.Child("iscsi")))
	}
	if s := spec.Cinder; s != nil && e.isFirst("cinder") {
		e.add(validateCinderPersistentVolumeSource(s, p.Child("cinder")))
	}
	if s := spec.FC; s != nil && e.isFirst("fc") {
		e.add(validateFCVolumeSource(s, p.Child("fc")))
	}
	if s := spec.FlexVolume; s != nil {
		e.found = true // also after another source
		e.add(validateFlexPersistentVolumeSource(s, p.Child("flexVolume")))
	}
	if s := spec.AzureFile; s != nil && e.isFirst("azureFile") {
		e.add(validateAzureFilePersistentVolumeSource(s, p.Child("azureFile")))
	}
	if s := spec.VsphereVolume; s != nil && e.isFirst("vsphereVolume") {
		e.add(validateVsphereVirtualDiskVolumeSource(s, p.Child("vsphereVolume")))
	}
	if s := spec.PhotonPersistentDisk; s != nil && e.isFirst("photonPersistentDisk") {
		e.add(validatePhotonPersistentDiskVolumeSource(s, p.Child("photonPersistentDisk")))
	}
	if s := spec.PortworxVolume; s != nil && e.isFirst("portworxVolume") {
		e.add(validatePortworxVolumeSource(s, p.Child("portworxVolume")))
	}
	if s := spec.AzureDisk; s != nil && e.isFirst("azureDisk") {
		e.add(validateAzureDiskVolumeSource(s, p.Child("azureDisk")))
	}
	if s := spec.ScaleIO; s != nil && e.isFirst("scaleIO") {
		e.add(validateScaleIOPersistentVolumeSource(s, p.Child("scaleIO")))
	}
	if s := spec.Local; s != nil && e.isFirst("local") {
		e.add(validateLocalVolumeSource(s, p.Child("local")))
		if spec.NodeAffinity == nil {
			e.add(field.ErrorList{p.Child("nodeAffinity").Required("Local volume requires node affinity")})
		}
	}
	if s := spec.StorageOS; s != nil && e.isFirst("storageos") {
		e.add(validateStorageOSPersistentVolumeSource(s, p.Child("storageos")))
	}
	if s := spec.CSI; s != nil && e.isFirst("csi") {
		e.add(validateCSIPersistentVolumeSource(s, p.Child("csi")))
	}
	if !e.found {
		e.add(field.ErrorList{p.Required("must specify a volume type")})
	}
	return e.errs
}

// validateLocalVolumeSource validates a device or directory of a node.
func validateLocalVolumeSource(source *corev1.LocalVolumeSource, p *validate.Path) field.ErrorList {
	if source.Path == "" {
		return field.ErrorList{p.Child("path").Required("")}
	}
	return validatePathNoBacksteps(source.Path, p.Child("path"))
}

// validateCSIPersistentVolumeSource validates a volume of a CSI driver. The secret for staging it is
// not validated.
func validateCSIPersistentVolumeSource(source *corev1.CSIPersistentVolumeSource, p *validate.Path) field.ErrorList {
	errs := ValidateCSIDriverName(source.Driver, p.Child("driver"))
	errs = append(errs, requireValue(source.VolumeHandle, p.Child("volumeHandle"))...)
	errs = append(errs, validateSecretReference(source.ControllerPublishSecretRef, p.Child("controllerPublishSecretRef"))...)
	errs = append(errs, validateSecretReference(source.ControllerExpandSecretRef, p.Child("controllerExpandSecretRef"))...)
	errs = append(errs, validateSecretReference(source.NodePublishSecretRef, p.Child("nodePublishSecretRef"))...)
	return append(errs, validateSecretReference(source.NodeExpandSecretRef, p.Child("nodeExpandSecretRef"))...)
}

// validateSecretReference validates a reference to a secret, which may be nil.
func validateSecretReference(secret *corev1.SecretReference, p *validate.Path) (errs field.ErrorList) {
	if secret == nil {
		return nil
	}
	if secret.Name == "" {
		errs = append(errs, p.Child("name").Required(""))
	} else {
		errs = append(errs, validate.DNSSubdomain(secret.Name, p.Child("name"))...)
	}
	if secret.Namespace == "" {
		return append(errs, p.Child("namespace").Required(""))
	}
	return append(errs, validate.DNSLabel(secret.Namespace, p.Child("namespace"))...)
}
