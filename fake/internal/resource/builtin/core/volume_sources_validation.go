package core

import (
	"maps"
	"net"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// The volume sources that pods and PersistentVolumes have in common. Where the two have types of
// their own, both functions are next to each other.

// validateHostPathVolumeSource validates a path of the node.
func validateHostPathVolumeSource(source *corev1.HostPathVolumeSource, p *validate.Path) field.ErrorList {
	if source.Path == "" {
		return field.ErrorList{p.Child("path").Required("")}
	}
	errs := validatePathNoBacksteps(source.Path, p.Child("path"))
	if source.Type == nil {
		return errs
	}
	switch *source.Type {
	case corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
		corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket:
	default:
		errs = append(errs, validate.NotSupported(p.Child("type"), *source.Type, corev1.HostPathUnset,
			corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate,
			corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket))
	}
	return errs
}

// validateGCEPersistentDiskVolumeSource validates a disk of Google Compute Engine.
func validateGCEPersistentDiskVolumeSource(source *corev1.GCEPersistentDiskVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.PDName, p.Child("pdName"))
	return append(errs, validateByte(source.Partition, 1, p.Child("partition"))...)
}

// validateAWSElasticBlockStoreVolumeSource validates a volume of AWS.
func validateAWSElasticBlockStoreVolumeSource(source *corev1.AWSElasticBlockStoreVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.VolumeID, p.Child("volumeID"))
	return append(errs, validateByte(source.Partition, 1, p.Child("partition"))...)
}

// validateNFSVolumeSource validates an export of an NFS server.
func validateNFSVolumeSource(source *corev1.NFSVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.Server, p.Child("server"))
	errs = append(errs, requireValue(source.Path, p.Child("path"))...)
	if !path.IsAbs(source.Path) {
		errs = append(errs, p.Child("path").Invalid(source.Path, "must be an absolute path"))
	}
	return errs
}

// validateFCVolumeSource validates a Fibre Channel volume.
func validateFCVolumeSource(source *corev1.FCVolumeSource, p *validate.Path) (errs field.ErrorList) {
	if len(source.TargetWWNs) == 0 && len(source.WWIDs) == 0 {
		errs = append(errs, p.Child("targetWWNs").Required("must specify either targetWWNs or wwids, but not both"))
	}
	if len(source.TargetWWNs) > 0 && len(source.WWIDs) > 0 {
		errs = append(errs, p.Child("targetWWNs").Invalid(source.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously"))
	}
	switch {
	case len(source.TargetWWNs) == 0:
	case source.Lun == nil:
		errs = append(errs, p.Child("lun").Required("lun is required if targetWWNs is specified"))
	default:
		errs = append(errs, validateByte(*source.Lun, 0, p.Child("lun"))...)
	}
	return errs
}

// validateGlusterfsVolumeSource validates a Glusterfs volume of a pod.
func validateGlusterfsVolumeSource(source *corev1.GlusterfsVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.EndpointsName, p.Child("endpoints"))
	return append(errs, requireValue(source.Path, p.Child("path"))...)
}

// validateGlusterfsPersistentVolumeSource validates the Glusterfs volume of a PersistentVolume.
func validateGlusterfsPersistentVolumeSource(source *corev1.GlusterfsPersistentVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.EndpointsName, p.Child("endpoints"))
	errs = append(errs, requireValue(source.Path, p.Child("path"))...)
	if source.EndpointsNamespace == nil {
		return errs
	}
	namespace, namespacePath := *source.EndpointsNamespace, p.Child("endpointsNamespace")
	if namespace == "" {
		return append(errs, namespacePath.Invalid("", "if the endpointnamespace is set, it must be a valid namespace name"))
	}
	return append(errs, validate.Messages(namespace, apivalidation.ValidateNamespaceName(namespace, false), namespacePath)...)
}

// validateFlockerVolumeSource validates a Flocker volume.
func validateFlockerVolumeSource(source *corev1.FlockerVolumeSource, p *validate.Path) (errs field.ErrorList) {
	if source.DatasetName == "" && source.DatasetUUID == "" {
		errs = append(errs, p.Required("one of datasetName and datasetUUID is required"))
	}
	if source.DatasetName != "" && source.DatasetUUID != "" {
		errs = append(errs, p.Invalid("resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(source.DatasetName, "/") {
		errs = append(errs, p.Child("datasetName").Invalid(source.DatasetName, "must not contain '/'"))
	}
	return errs
}

// validateRBDVolumeSource validates a block device of Ceph of a pod.
func validateRBDVolumeSource(source *corev1.RBDVolumeSource, p *validate.Path) field.ErrorList {
	return validateRBDImage(source.CephMonitors, source.RBDImage, p)
}

// validateRBDPersistentVolumeSource validates the block device of Ceph of a PersistentVolume.
func validateRBDPersistentVolumeSource(source *corev1.RBDPersistentVolumeSource, p *validate.Path) field.ErrorList {
	return validateRBDImage(source.CephMonitors, source.RBDImage, p)
}

func validateRBDImage(monitors []string, image string, p *validate.Path) field.ErrorList {
	errs := requireElements(monitors, p.Child("monitors"))
	return append(errs, requireValue(image, p.Child("image"))...)
}

// validateCephFSVolumeSource validates a file system of Ceph of a pod.
func validateCephFSVolumeSource(source *corev1.CephFSVolumeSource, p *validate.Path) field.ErrorList {
	return requireElements(source.Monitors, p.Child("monitors"))
}

// validateCephFSPersistentVolumeSource validates the file system of Ceph of a PersistentVolume.
func validateCephFSPersistentVolumeSource(source *corev1.CephFSPersistentVolumeSource, p *validate.Path) field.ErrorList {
	return requireElements(source.Monitors, p.Child("monitors"))
}

// validateCinderVolumeSource validates an OpenStack volume of a pod.
func validateCinderVolumeSource(source *corev1.CinderVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.VolumeID, p.Child("volumeID"))
	if source.SecretRef != nil {
		errs = append(errs, requireValue(source.SecretRef.Name, p.Child("secretRef").Child("name"))...)
	}
	return errs
}

// validateCinderPersistentVolumeSource validates the OpenStack volume of a PersistentVolume.
func validateCinderPersistentVolumeSource(source *corev1.CinderPersistentVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.VolumeID, p.Child("volumeID"))
	if secret := source.SecretRef; secret != nil {
		errs = append(errs, requireNameAndNamespace(secret.Name, secret.Namespace, p.Child("secretRef"))...)
	}
	return errs
}

// maxMalformedPairs is how many causes a list of host:port pairs has at most. A server lists all of
// them, each with the whole list.
const maxMalformedPairs = 16

// validateQuobyteVolumeSource validates a Quobyte volume.
func validateQuobyteVolumeSource(source *corev1.QuobyteVolumeSource, p *validate.Path) (errs field.ErrorList) {
	const registryFormat = "must be a host:port pair or multiple pairs separated by commas"
	switch {
	case source.Registry == "":
		errs = append(errs, p.Child("registry").Required(registryFormat))
	case len(source.Tenant) > 64:
		errs = append(errs, p.Child("tenant").Required("must be a UUID and may not exceed a length of 64 characters"))
	default:
		for rest, more := source.Registry, true; more && len(errs) < maxMalformedPairs; {
			var pair string
			pair, rest, more = strings.Cut(rest, ",")
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, p.Child("registry").Invalid(source.Registry, registryFormat))
			}
		}
	}
	return append(errs, requireValue(source.Volume, p.Child("volume"))...)
}

// validateFlexVolumeSource validates a volume of a pod that a plugin provides.
func validateFlexVolumeSource(source *corev1.FlexVolumeSource, p *validate.Path) field.ErrorList {
	return validateFlexDriver(source.Driver, source.Options, p)
}

// validateFlexPersistentVolumeSource validates the volume of a PersistentVolume that a plugin
// provides.
func validateFlexPersistentVolumeSource(source *corev1.FlexPersistentVolumeSource, p *validate.Path) field.ErrorList {
	return validateFlexDriver(source.Driver, source.Options, p)
}

func validateFlexDriver(driver string, options map[string]string, p *validate.Path) field.ErrorList {
	errs := requireValue(driver, p.Child("driver"))
	reserved := false
	for key := range options {
		reserved = reserved || isReservedOption(key)
	}
	if !reserved {
		return errs
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if isReservedOption(key) {
			errs = append(errs, p.Child("options").Key(key).Invalid(key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

// isReservedOption reports whether an option of a plugin is in a namespace of Kubernetes.
func isReservedOption(key string) bool {
	namespace, _, _ := strings.Cut(key, "/")
	return isInDomain(namespace, "kubernetes.io") || isInDomain(namespace, "k8s.io")
}

// isInDomain reports whether name is domain or a subdomain of it, in any case.
func isInDomain(name, domain string) bool {
	name = strings.ToLower(name)
	parent, found := strings.CutSuffix(name, domain)
	return found && (parent == "" || strings.HasSuffix(parent, "."))
}

// validateAzureFileVolumeSource validates an Azure file share of a pod.
func validateAzureFileVolumeSource(source *corev1.AzureFileVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.SecretName, p.Child("secretName"))
	return append(errs, requireValue(source.ShareName, p.Child("shareName"))...)
}

// validateAzureFilePersistentVolumeSource validates the Azure file share of a PersistentVolume.
func validateAzureFilePersistentVolumeSource(source *corev1.AzureFilePersistentVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.SecretName, p.Child("secretName"))
	errs = append(errs, requireValue(source.ShareName, p.Child("shareName"))...)
	if source.SecretNamespace != nil {
		errs = append(errs, requireValue(*source.SecretNamespace, p.Child("secretNamespace"))...)
	}
	return errs
}

// validateAzureDiskVolumeSource validates an Azure disk. The form of its URI depends on its kind.
func validateAzureDiskVolumeSource(source *corev1.AzureDiskVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.DiskName, p.Child("diskName"))
	errs = append(errs, requireValue(source.DataDiskURI, p.Child("diskURI"))...)
	if source.CachingMode != nil {
		switch *source.CachingMode {
		case corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite:
		default:
			errs = append(errs, validate.NotSupported(p.Child("cachingMode"), *source.CachingMode,
				corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite))
		}
	}
	if source.Kind == nil {
		return errs
	}
	prefix, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	switch *source.Kind {
	case corev1.AzureDedicatedBlobDisk, corev1.AzureSharedBlobDisk:
	case corev1.AzureManagedDisk:
		prefix, form = "/subscriptions/", "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	default:
		errs = append(errs, validate.NotSupported(p.Child("kind"), *source.Kind,
			corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk))
	}
	if !strings.HasPrefix(source.DataDiskURI, prefix) {
		errs = append(errs, validate.NotSupported(p.Child("diskURI"), source.DataDiskURI, form))
	}
	return errs
}

// validateVsphereVirtualDiskVolumeSource validates a vSphere volume.
func validateVsphereVirtualDiskVolumeSource(source *corev1.VsphereVirtualDiskVolumeSource, p *validate.Path) field.ErrorList {
	return requireValue(source.VolumePath, p.Child("volumePath"))
}

// validatePhotonPersistentDiskVolumeSource validates a Photon disk.
func validatePhotonPersistentDiskVolumeSource(source *corev1.PhotonPersistentDiskVolumeSource, p *validate.Path) field.ErrorList {
	return requireValue(source.PdID, p.Child("pdID"))
}

// validatePortworxVolumeSource validates a Portworx volume.
func validatePortworxVolumeSource(source *corev1.PortworxVolumeSource, p *validate.Path) field.ErrorList {
	return requireValue(source.VolumeID, p.Child("volumeID"))
}

// validateScaleIOVolumeSource validates a ScaleIO volume of a pod.
func validateScaleIOVolumeSource(source *corev1.ScaleIOVolumeSource, p *validate.Path) field.ErrorList {
	return validateScaleIOVolume(source.Gateway, source.System, source.VolumeName, p)
}

// validateScaleIOPersistentVolumeSource validates the ScaleIO volume of a PersistentVolume.
func validateScaleIOPersistentVolumeSource(source *corev1.ScaleIOPersistentVolumeSource, p *validate.Path) field.ErrorList {
	return validateScaleIOVolume(source.Gateway, source.System, source.VolumeName, p)
}

func validateScaleIOVolume(gateway, system, volumeName string, p *validate.Path) field.ErrorList {
	errs := requireValue(gateway, p.Child("gateway"))
	errs = append(errs, requireValue(system, p.Child("system"))...)
	return append(errs, requireValue(volumeName, p.Child("volumeName"))...)
}

// validateStorageOSVolumeSource validates a StorageOS volume of a pod.
func validateStorageOSVolumeSource(source *corev1.StorageOSVolumeSource, p *validate.Path) field.ErrorList {
	errs := validateStorageOSVolume(source.VolumeName, source.VolumeNamespace, p)
	if source.SecretRef != nil {
		errs = append(errs, requireValue(source.SecretRef.Name, p.Child("secretRef").Child("name"))...)
	}
	return errs
}

// validateStorageOSPersistentVolumeSource validates the StorageOS volume of a PersistentVolume.
func validateStorageOSPersistentVolumeSource(source *corev1.StorageOSPersistentVolumeSource, p *validate.Path) field.ErrorList {
	errs := validateStorageOSVolume(source.VolumeName, source.VolumeNamespace, p)
	if secret := source.SecretRef; secret != nil {
		errs = append(errs, requireNameAndNamespace(secret.Name, secret.Namespace, p.Child("secretRef"))...)
	}
	return errs
}

func validateStorageOSVolume(name, namespace string, p *validate.Path) field.ErrorList {
	errs := requireValue(name, p.Child("volumeName"))
	if name != "" {
		errs = validate.DNSLabel(name, p.Child("volumeName"))
	}
	if namespace != "" {
		errs = append(errs, validate.DNSLabel(namespace, p.Child("volumeNamespace"))...)
	}
	return errs
}

// ValidateCSIDriverName validates the name of a CSI driver.
func ValidateCSIDriverName(name string, p *validate.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{p.Required("")}
	}
	var errs field.ErrorList
	if len(name) > 63 {
		errs = append(errs, p.TooLong(63))
	}
	return append(errs, validate.Messages(name, validation.IsDNS1123Subdomain(strings.ToLower(name)), p)...)
}

// requireNameAndNamespace validates that a reference has both.
func requireNameAndNamespace(name, namespace string, p *validate.Path) field.ErrorList {
	errs := requireValue(name, p.Child("name"))
	return append(errs, requireValue(namespace, p.Child("namespace"))...)
}

// requireValue validates that a text is not empty.
func requireValue(value string, p *validate.Path) field.ErrorList {
	if value != "" {
		return nil
	}
	return field.ErrorList{p.Required("")}
}

// requireElements validates that a list is not empty.
func requireElements(list []string, p *validate.Path) field.ErrorList {
	if len(list) > 0 {
		return nil
	}
	return field.ErrorList{p.Required("")}
}

// validateByte validates that a number is in the range from 0 to 255. min is the lowest number in
// the text of the error.
func validateByte(n int32, min int, p *validate.Path) field.ErrorList {
	if 0 <= n && n <= 255 {
		return nil
	}
	return field.ErrorList{p.Invalid(n, validation.InclusiveRangeError(min, 255))}
}
