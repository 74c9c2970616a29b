package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePersistentVolumeSource validates that a volume has one source, and validates it. p is the
// path of the spec.
func validatePersistentVolumeSource(spec *corev1.PersistentVolumeSpec, volumeName string, p *validate.Path) field.ErrorList {
	one := oneOf{message: moreThanOneVolumeType}
	if s := spec.HostPath; s != nil && one.isFirst(p.Child("hostPath")) {
		one.add(validateHostPathVolumeSource(s, p.Child("hostPath")))
	}
	if s := spec.GCEPersistentDisk; s != nil && one.isFirst(p.Child("gcePersistentDisk")) {
		one.add(validateGCEPersistentDiskVolumeSource(s, p.Child("persistentDisk")))
	}
	if s := spec.AWSElasticBlockStore; s != nil && one.isFirst(p.Child("awsElasticBlockStore")) {
		one.add(validateAWSElasticBlockStoreVolumeSource(s, p.Child("awsElasticBlockStore")))
	}
	if s := spec.Glusterfs; s != nil && one.isFirst(p.Child("glusterfs")) {
		one.add(validateGlusterfsPersistentVolumeSource(s, p.Child("glusterfs")))
	}
	if s := spec.Flocker; s != nil && one.isFirst(p.Child("flocker")) {
		one.add(validateFlockerVolumeSource(s, p.Child("flocker")))
	}
	if s := spec.NFS; s != nil && one.isFirst(p.Child("nfs")) {
		one.add(validateNFSVolumeSource(s, p.Child("nfs")))
	}
	if s := spec.RBD; s != nil && one.isFirst(p.Child("rbd")) {
		one.add(validateRBDPersistentVolumeSource(s, p.Child("rbd")))
	}
	if s := spec.Quobyte; s != nil && one.isFirst(p.Child("quobyte")) {
		one.add(validateQuobyteVolumeSource(s, p.Child("quobyte")))
	}
	if s := spec.CephFS; s != nil && one.isFirst(p.Child("cephFS")) {
		one.add(validateCephFSPersistentVolumeSource(s, p.Child("cephfs")))
	}
	if s := spec.ISCSI; s != nil && one.isFirst(p.Child("iscsi")) {
		one.add(validateISCSIPersistentVolumeSource(s, volumeName, p.Child("iscsi")))
	}
	if s := spec.Cinder; s != nil && one.isFirst(p.Child("cinder")) {
		one.add(validateCinderPersistentVolumeSource(s, p.Child("cinder")))
	}
	if s := spec.FC; s != nil && one.isFirst(p.Child("fc")) {
		one.add(validateFCVolumeSource(s, p.Child("fc")))
	}
	if s := spec.FlexVolume; s != nil {
		one.n++ // also after another source
		one.add(validateFlexPersistentVolumeSource(s, p.Child("flexVolume")))
	}
	if s := spec.AzureFile; s != nil && one.isFirst(p.Child("azureFile")) {
		one.add(validateAzureFilePersistentVolumeSource(s, p.Child("azureFile")))
	}
	if s := spec.VsphereVolume; s != nil && one.isFirst(p.Child("vsphereVolume")) {
		one.add(validateVsphereVirtualDiskVolumeSource(s, p.Child("vsphereVolume")))
	}
	if s := spec.PhotonPersistentDisk; s != nil && one.isFirst(p.Child("photonPersistentDisk")) {
		one.add(validatePhotonPersistentDiskVolumeSource(s, p.Child("photonPersistentDisk")))
	}
	if s := spec.PortworxVolume; s != nil && one.isFirst(p.Child("portworxVolume")) {
		one.add(validatePortworxVolumeSource(s, p.Child("portworxVolume")))
	}
	if s := spec.AzureDisk; s != nil && one.isFirst(p.Child("azureDisk")) {
		one.add(validateAzureDiskVolumeSource(s, p.Child("azureDisk")))
	}
	if s := spec.ScaleIO; s != nil && one.isFirst(p.Child("scaleIO")) {
		one.add(validateScaleIOPersistentVolumeSource(s, p.Child("scaleIO")))
	}
	if s := spec.Local; s != nil && one.isFirst(p.Child("local")) {
		one.add(validateLocalVolumeSource(s, p.Child("local")))
		if spec.NodeAffinity == nil {
			one.add(field.ErrorList{p.Child("nodeAffinity").Required("Local volume requires node affinity")})
		}
	}
	if s := spec.StorageOS; s != nil && one.isFirst(p.Child("storageos")) {
		one.add(validateStorageOSPersistentVolumeSource(s, p.Child("storageos")))
	}
	if s := spec.CSI; s != nil && one.isFirst(p.Child("csi")) {
		one.add(validateCSIPersistentVolumeSource(s, p.Child("csi")))
	}
	if one.n == 0 {
		one.add(field.ErrorList{p.Required("must specify a volume type")})
	}
	return one.errs
}

// validateLocalVolumeSource validates a device or directory of a node.
func validateLocalVolumeSource(source *corev1.LocalVolumeSource, p *validate.Path) field.ErrorList {
	if source.Path == "" {
		return field.ErrorList{p.Child("path").Required("")}
	}
	return validatePathNoBacksteps(source.Path, p.Child("path"))
}

// validateCSIPersistentVolumeSource validates a volume of a CSI driver. The secret for staging it
// is not validated.
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
