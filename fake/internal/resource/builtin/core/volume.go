package core

import corev1 "k8s.io/api/core/v1"

// defaultMode is the mode of the files of a volume, 0644.
const defaultMode = int32(0o644)

// setVolumeDefaults sets the defaults of a volume of a pod. One without a source is an emptyDir.
func setVolumeDefaults(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		return
	}
	if v.Secret != nil {
		setModeDefault(&v.Secret.DefaultMode)
	}
	if v.ConfigMap != nil {
		setModeDefault(&v.ConfigMap.DefaultMode)
	}
	if v.DownwardAPI != nil {
		setModeDefault(&v.DownwardAPI.DefaultMode)
		setDownwardAPIDefaults(v.DownwardAPI.Items)
	}
	if v.Projected != nil {
		setProjectedDefaults(v.Projected)
	}
	setHostPathDefaults(v.HostPath)
	if v.Image != nil && v.Image.PullPolicy == "" {
		v.Image.PullPolicy = defaultPullPolicy(v.Image.Reference)
	}
	if v.ISCSI != nil && v.ISCSI.ISCSIInterface == "" {
		v.ISCSI.ISCSIInterface = defaultISCSIInterface
	}
	if v.RBD != nil {
		setRBDDefaults(&v.RBD.RBDPool, &v.RBD.RadosUser, &v.RBD.Keyring)
	}
	setAzureDiskDefaults(v.AzureDisk)
	if v.ScaleIO != nil {
		setScaleIODefaults(&v.ScaleIO.StorageMode, &v.ScaleIO.FSType)
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		setClaimSpecDefaults(&v.Ephemeral.VolumeClaimTemplate.Spec)
	}
}

func setModeDefault(mode **int32) {
	if *mode == nil {
		*mode = new(defaultMode)
	}
}

func setDownwardAPIDefaults(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		setFieldRefDefaults(items[i].FieldRef)
	}
}

func setProjectedDefaults(p *corev1.ProjectedVolumeSource) {
	setModeDefault(&p.DefaultMode)
	for i := range p.Sources {
		source := &p.Sources[i]
		if source.DownwardAPI != nil {
			setDownwardAPIDefaults(source.DownwardAPI.Items)
		}
		if token := source.ServiceAccountToken; token != nil && token.ExpirationSeconds == nil {
			token.ExpirationSeconds = new(int64(3600))
		}
	}
}

// The defaults of sources that pods and PersistentVolumes have.

const defaultISCSIInterface = "default"

func setHostPathDefaults(h *corev1.HostPathVolumeSource) {
	if h != nil && h.Type == nil {
		h.Type = new(corev1.HostPathUnset)
	}
}

func setRBDDefaults(pool, user, keyring *string) {
	setString(pool, "rbd")
	setString(user, "admin")
	setString(keyring, "/etc/ceph/keyring")
}

func setAzureDiskDefaults(d *corev1.AzureDiskVolumeSource) {
	if d == nil {
		return
	}
	if d.CachingMode == nil {
		d.CachingMode = new(corev1.AzureDataDiskCachingReadWrite)
	}
	if d.FSType == nil {
		d.FSType = new("ext4")
	}
	if d.ReadOnly == nil {
		d.ReadOnly = new(false)
	}
	if d.Kind == nil {
		d.Kind = new(corev1.AzureSharedBlobDisk)
	}
}

func setScaleIODefaults(storageMode, fsType *string) {
	setString(storageMode, "ThinProvisioned")
	setString(fsType, "xfs")
}

// setString sets a text that is empty.
func setString(s *string, value string) {
	if *s == "" {
		*s = value
	}
}
