package plugins

import corev1 "k8s.io/api/core/v1"

// The CSI drivers that have replaced the volume plugins of Kubernetes.
const (
	awsDriver       = "ebs.csi.aws.com"
	azureDiskDriver = "disk.csi.azure.com"
	azureFileDriver = "file.csi.azure.com"
	cinderDriver    = "cinder.csi.openstack.org"
	gceDriver       = "pd.csi.storage.gke.io"
	portworxDriver  = "pxd.portworx.com"
	vsphereDriver   = "csi.vsphere.vmware.com"
)

// podVolumeDriver returns the CSI driver of a volume of a pod, "" if it has none.
func podVolumeDriver(v *corev1.VolumeSource) string {
	switch {
	case v.CSI != nil:
		return v.CSI.Driver
	case v.AWSElasticBlockStore != nil:
		return awsDriver
	case v.AzureDisk != nil:
		return azureDiskDriver
	case v.AzureFile != nil:
		return azureFileDriver
	case v.Cinder != nil:
		return cinderDriver
	case v.GCEPersistentDisk != nil:
		return gceDriver
	case v.PortworxVolume != nil:
		return portworxDriver
	case v.VsphereVolume != nil:
		return vsphereDriver
	}
	return ""
}

// persistentVolumeDriver is podVolumeDriver for a PersistentVolume.
func persistentVolumeDriver(v *corev1.PersistentVolumeSource) string {
	switch {
	case v.CSI != nil:
		return v.CSI.Driver
	case v.AWSElasticBlockStore != nil:
		return awsDriver
	case v.AzureDisk != nil:
		return azureDiskDriver
	case v.AzureFile != nil:
		return azureFileDriver
	case v.Cinder != nil:
		return cinderDriver
	case v.GCEPersistentDisk != nil:
		return gceDriver
	case v.PortworxVolume != nil:
		return portworxDriver
	case v.VsphereVolume != nil:
		return vsphereDriver
	}
	return ""
}
