package plugins

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// podVolumeDriver returns the CSI driver of a volume of a pod, "" if it has none.
func podVolumeDriver(v *corev1.VolumeSource) string {
	if v.CSI != nil {
		return v.CSI.Driver
	}
	return migratedDriver(reflect.ValueOf(v).Elem())
}

// persistentVolumeDriver is podVolumeDriver for a PersistentVolume.
func persistentVolumeDriver(v *corev1.PersistentVolumeSource) string {
	if v.CSI != nil {
		return v.CSI.Driver
	}
	return migratedDriver(reflect.ValueOf(v).Elem())
}

// migratedDriver returns the CSI driver that has replaced the volume plugin of Kubernetes for a
// source, whose fields have the same names in pods and in PersistentVolumes.
func migratedDriver(source reflect.Value) string {
	for _, one := range [...]struct{ field, driver string }{
		{"AWSElasticBlockStore", "ebs.csi.aws.com"},
		{"AzureDisk", "disk.csi.azure.com"},
		{"AzureFile", "file.csi.azure.com"},
		{"Cinder", "cinder.csi.openstack.org"},
		{"GCEPersistentDisk", "pd.csi.storage.gke.io"},
		{"PortworxVolume", "pxd.portworx.com"},
		{"VsphereVolume", "csi.vsphere.vmware.com"},
	} {
		if !source.FieldByName(one.field).IsNil() {
			return one.driver
		}
	}
	return ""
}
