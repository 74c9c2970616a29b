package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePodVolumes validates the volumes of a pod. meta is the metadata of the pod, nil for a
// template, and p the path of the spec. It returns the volumes that are valid: containers can mount
// no others.
func validatePodVolumes(spec *corev1.PodSpec, meta *metav1.ObjectMeta, opts PodValidationOptions, p *validate.Path) (valid []corev1.Volume, errs field.ErrorList) {
	var names, claims smallSet[string]
	if meta != nil && meta.Name != "" {
		for i := range spec.Volumes {
			if spec.Volumes[i].Ephemeral != nil {
				claims.add(spec.Volumes[i].Name)
			}
		}
	}
	valid = spec.Volumes
	allValid := true
	for i := range spec.Volumes {
		v, at := &spec.Volumes[i], p.Child("volumes").Index(i)
		named := meta
		if i >= maxLongClaimNames && meta != nil && len(meta.Name) > validation.DNS1123SubdomainMaxLength {
			named = nil
		}
		problems := validateVolumeSource(v, named, opts, at)
		problems = append(problems, requireValue(v.Name, at.Child("name"))...)
		if v.Name != "" {
			problems = append(problems, validate.DNSLabel(v.Name, at.Child("name"))...)
		}
		if names.has(v.Name) {
			problems = append(problems, at.Child("name").Duplicate(v.Name))
		}
		switch {
		case len(problems) > 0 && allValid:
			valid, allValid = valid[:i:i], false
		case len(problems) == 0 && !allValid:
			valid = append(valid, *v)
		}
		if len(problems) == 0 {
			names.add(v.Name)
		}
		errs = append(errs, problems...)
		errs = append(errs, validateClaimOfVolume(v, meta, &claims, at)...)
	}
	return valid, errs
}

// validateClaimOfVolume validates that the claim of a volume is not one that is created for another
// volume of the pod, an ephemeral one. ephemeral has the names of these.
func validateClaimOfVolume(v *corev1.Volume, meta *metav1.ObjectMeta, ephemeral *smallSet[string], p *validate.Path) field.ErrorList {
	if meta == nil || v.PersistentVolumeClaim == nil {
		return nil
	}
	claim := v.PersistentVolumeClaim.ClaimName
	rest, ok := strings.CutPrefix(claim, meta.Name)
	name, isOfPod := strings.CutPrefix(rest, "-")
	if !ok || !isOfPod || !ephemeral.has(name) {
		return nil
	}
	return field.ErrorList{p.Child("persistentVolumeClaim").Child("claimName").Invalid(claim,
		"must not reference a PVC that gets created for an ephemeral volume")}
}

// volumesByName finds volumes by their names.
type volumesByName struct {
	list  []corev1.Volume
	index map[string]int // by name, if there are many
}

// find returns the last volume with a name, nil if there is none.
func (v *volumesByName) find(name string) *corev1.Volume {
	const few = 16
	if len(v.list) <= few {
		for i := len(v.list) - 1; i >= 0; i-- {
			if v.list[i].Name == name {
				return &v.list[i]
			}
		}
		return nil
	}
	if v.index == nil {
		v.index = make(map[string]int, len(v.list))
		for i := range v.list {
			v.index[v.list[i].Name] = i
		}
	}
	if i, ok := v.index[name]; ok {
		return &v.list[i]
	}
	return nil
}

// validateVolumeSource validates that a volume has one source, and the source. The order of the
// sources and the paths are those of a server. p is the path of the volume.
func validateVolumeSource(v *corev1.Volume, meta *metav1.ObjectMeta, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	one := oneOf{message: moreThanOneVolumeType}
	if v.EmptyDir != nil && one.isFirst(p.Child("emptyDir")) {
		one.add(validateEmptyDirVolumeSource(v.EmptyDir, p.Child("emptyDir")))
	}
	if v.HostPath != nil && one.isFirst(p.Child("hostPath")) {
		one.add(validateHostPathVolumeSource(v.HostPath, p.Child("hostPath")))
	}
	if v.GitRepo != nil && one.isFirst(p.Child("gitRepo")) {
		one.add(validateGitRepoVolumeSource(v.GitRepo, p.Child("gitRepo")))
	}
	if v.GCEPersistentDisk != nil && one.isFirst(p.Child("gcePersistentDisk")) {
		one.add(validateGCEPersistentDiskVolumeSource(v.GCEPersistentDisk, p.Child("persistentDisk")))
	}
	if v.AWSElasticBlockStore != nil && one.isFirst(p.Child("awsElasticBlockStore")) {
		one.add(validateAWSElasticBlockStoreVolumeSource(v.AWSElasticBlockStore, p.Child("awsElasticBlockStore")))
	}
	if v.Secret != nil && one.isFirst(p.Child("secret")) {
		one.add(validateSecretVolumeSource(v.Secret, p.Child("secret")))
	}
	if v.NFS != nil && one.isFirst(p.Child("nfs")) {
		one.add(validateNFSVolumeSource(v.NFS, p.Child("nfs")))
	}
	if v.ISCSI != nil && one.isFirst(p.Child("iscsi")) {
		one.add(validateISCSIVolumeSource(v.ISCSI, p.Child("iscsi")))
	}
	if v.ISCSI != nil && v.ISCSI.InitiatorName != nil && !isISCSIInterfaceName(v.Name, v.ISCSI.TargetPortal) {
		one.add(field.ErrorList{p.Child("name").Invalid(v.Name, longISCSIInterfaceName)})
	}
	if v.Glusterfs != nil && one.isFirst(p.Child("glusterfs")) {
		one.add(validateGlusterfsVolumeSource(v.Glusterfs, p.Child("glusterfs")))
	}
	if v.Flocker != nil && one.isFirst(p.Child("flocker")) {
		one.add(validateFlockerVolumeSource(v.Flocker, p.Child("flocker")))
	}
	if v.PersistentVolumeClaim != nil && one.isFirst(p.Child("persistentVolumeClaim")) {
		one.add(requireValue(v.PersistentVolumeClaim.ClaimName, p.Child("persistentVolumeClaim").Child("claimName")))
	}
	if v.RBD != nil && one.isFirst(p.Child("rbd")) {
		one.add(validateRBDVolumeSource(v.RBD, p.Child("rbd")))
	}
	if v.Cinder != nil && one.isFirst(p.Child("cinder")) {
		one.add(validateCinderVolumeSource(v.Cinder, p.Child("cinder")))
	}
	if v.CephFS != nil && one.isFirst(p.Child("cephFS")) {
		one.add(validateCephFSVolumeSource(v.CephFS, p.Child("cephfs")))
	}
	if v.Quobyte != nil && one.isFirst(p.Child("quobyte")) {
		one.add(validateQuobyteVolumeSource(v.Quobyte, p.Child("quobyte")))
	}
	if v.DownwardAPI != nil && one.isFirst(p.Child("downwarAPI")) {
		one.add(validateDownwardAPIVolumeSource(v.DownwardAPI, p.Child("downwardAPI")))
	}
	if v.FC != nil && one.isFirst(p.Child("fc")) {
		one.add(validateFCVolumeSource(v.FC, p.Child("fc")))
	}
	if v.FlexVolume != nil && one.isFirst(p.Child("flexVolume")) {
		one.add(validateFlexVolumeSource(v.FlexVolume, p.Child("flexVolume")))
	}
	if v.ConfigMap != nil && one.isFirst(p.Child("configMap")) {
		one.add(validateConfigMapVolumeSource(v.ConfigMap, p.Child("configMap")))
	}
	if v.AzureFile != nil && one.isFirst(p.Child("azureFile")) {
		one.add(validateAzureFileVolumeSource(v.AzureFile, p.Child("azureFile")))
	}
	if v.VsphereVolume != nil && one.isFirst(p.Child("vsphereVolume")) {
		one.add(validateVsphereVirtualDiskVolumeSource(v.VsphereVolume, p.Child("vsphereVolume")))
	}
	if v.PhotonPersistentDisk != nil && one.isFirst(p.Child("photonPersistentDisk")) {
		one.add(validatePhotonPersistentDiskVolumeSource(v.PhotonPersistentDisk, p.Child("photonPersistentDisk")))
	}
	if v.PortworxVolume != nil && one.isFirst(p.Child("portworxVolume")) {
		one.add(validatePortworxVolumeSource(v.PortworxVolume, p.Child("portworxVolume")))
	}
	if v.AzureDisk != nil && one.isFirst(p.Child("azureDisk")) {
		one.add(validateAzureDiskVolumeSource(v.AzureDisk, p.Child("azureDisk")))
	}
	if v.StorageOS != nil && one.isFirst(p.Child("storageos")) {
		one.add(validateStorageOSVolumeSource(v.StorageOS, p.Child("storageos")))
	}
	if v.Projected != nil && one.isFirst(p.Child("projected")) {
		one.add(validateProjectedVolumeSource(v.Projected, opts, p.Child("projected")))
	}
	if v.ScaleIO != nil && one.isFirst(p.Child("scaleIO")) {
		one.add(validateScaleIOVolumeSource(v.ScaleIO, p.Child("scaleIO")))
	}
	if v.CSI != nil && one.isFirst(p.Child("csi")) {
		one.add(validateCSIVolumeSource(v.CSI, p.Child("csi")))
	}
	if v.Ephemeral != nil && one.isFirst(p.Child("ephemeral")) {
		one.add(validateEphemeralVolumeSource(v.Ephemeral, p.Child("ephemeral")))
		one.add(validateCreatedClaimName(v, meta, p))
	}
	if v.Image != nil && one.isFirst(p.Child("image")) {
		one.add(validateImageVolumeSource(v.Image, opts, p.Child("image")))
	}
	if one.n == 0 {
		one.add(field.ErrorList{p.Required("must specify a volume type")})
	}
	return one.errs
}

// maxLongClaimNames is for how many volumes of a pod whose name is too long the names of created
// claims are validated. They have the name of the pod. A server does so for all volumes.
const maxLongClaimNames = 16

// validateCreatedClaimName validates the name of the claim that is created for an ephemeral volume.
// It has the names of the pod and of the volume, which are validated elsewhere.
func validateCreatedClaimName(v *corev1.Volume, meta *metav1.ObjectMeta, p *validate.Path) (errs field.ErrorList) {
	if meta == nil || meta.Name == "" || v.Name == "" {
		return nil
	}
	name := meta.Name + "-" + v.Name
	for _, message := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, p.Child("name").Invalid(v.Name, fmt.Sprintf("PVC name %q: %v", name, message)))
	}
	return errs
}

func validateEmptyDirVolumeSource(source *corev1.EmptyDirVolumeSource, p *validate.Path) field.ErrorList {
	if source.SizeLimit == nil || source.SizeLimit.Sign() >= 0 {
		return nil
	}
	return field.ErrorList{p.Child("sizeLimit").Forbidden("SizeLimit field must be a valid resource quantity")}
}

func validateGitRepoVolumeSource(source *corev1.GitRepoVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.Repository, p.Child("repository"))
	return append(errs, validateLocalDescendingPath(source.Directory, p.Child("directory"))...)
}

func validateSecretVolumeSource(source *corev1.SecretVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.SecretName, p.Child("secretName"))
	errs = append(errs, validateFileMode(source.DefaultMode, p.Child("defaultMode"))...)
	return append(errs, validateKeysToPaths(source.Items, p.Child("items"))...)
}

func validateConfigMapVolumeSource(source *corev1.ConfigMapVolumeSource, p *validate.Path) field.ErrorList {
	errs := requireValue(source.Name, p.Child("name"))
	errs = append(errs, validateFileMode(source.DefaultMode, p.Child("defaultMode"))...)
	return append(errs, validateKeysToPaths(source.Items, p.Child("items"))...)
}

func validateDownwardAPIVolumeSource(source *corev1.DownwardAPIVolumeSource, p *validate.Path) field.ErrorList {
	errs := validateFileMode(source.DefaultMode, p.Child("defaultMode"))
	for i := range source.Items {
		errs = append(errs, validateDownwardAPIVolumeFile(&source.Items[i], p)...)
	}
	return errs
}

// validateKeysToPaths validates the files for the keys of a ConfigMap or a Secret.
func validateKeysToPaths(items []corev1.KeyToPath, p *validate.Path) (errs field.ErrorList) {
	for i := range items {
		errs = append(errs, validateKeyToPath(&items[i], p.Index(i))...)
	}
	return errs
}

func validateKeyToPath(item *corev1.KeyToPath, p *validate.Path) field.ErrorList {
	errs := requireValue(item.Key, p.Child("key"))
	errs = append(errs, requireValue(item.Path, p.Child("path"))...)
	errs = append(errs, validateLocalNonReservedPath(item.Path, p.Child("path"))...)
	return append(errs, validateFileMode(item.Mode, p.Child("mode"))...)
}

// validateDownwardAPIVolumeFile validates the file for a field of the pod. p is the path of the
// volume's source.
func validateDownwardAPIVolumeFile(file *corev1.DownwardAPIVolumeFile, p *validate.Path) field.ErrorList {
	errs := requireValue(file.Path, p.Child("path"))
	errs = append(errs, validateLocalNonReservedPath(file.Path, p.Child("path"))...)
	switch {
	case file.FieldRef != nil:
		errs = append(errs, validateFieldRef(file.FieldRef, refOfVolume, p.Child("fieldRef"))...)
		if file.ResourceFieldRef != nil {
			errs = append(errs, p.Invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case file.ResourceFieldRef != nil:
		errs = append(errs, validateResourceFieldRef(file.ResourceFieldRef, refOfVolume, p.Child("resourceFieldRef"))...)
	default:
		errs = append(errs, p.Required("one of fieldRef and resourceFieldRef is required"))
	}
	return append(errs, validateFileMode(file.Mode, p.Child("mode"))...)
}

// validateFileMode validates the permissions of a file, which may be nil.
func validateFileMode(mode *int32, p *validate.Path) field.ErrorList {
	if mode == nil || 0 <= *mode && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{p.Invalid(*mode, "must be a number between 0 and 0777 (octal), both inclusive")}
}

// validateCSIVolumeSource validates an inline volume of a CSI driver.
func validateCSIVolumeSource(source *corev1.CSIVolumeSource, p *validate.Path) field.ErrorList {
	errs := ValidateCSIDriverName(source.Driver, p.Child("driver"))
	switch ref := source.NodePublishSecretRef; {
	case ref == nil:
	case ref.Name == "":
		errs = append(errs, p.Child("nodePublishSecretRef").Child("name").Required(""))
	default:
		errs = append(errs, validate.DNSSubdomain(ref.Name, p.Child("name"))...)
	}
	return errs
}

// validateImageVolumeSource validates an image that is mounted as a volume (KEP-4639).
func validateImageVolumeSource(source *corev1.ImageVolumeSource, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if !opts.anyImageReference {
		errs = requireValue(source.Reference, p.Child("reference"))
	}
	return append(errs, validatePullPolicy(source.PullPolicy, p.Child("pullPolicy"))...)
}

// validateEphemeralVolumeSource validates the template of a claim.
func validateEphemeralVolumeSource(source *corev1.EphemeralVolumeSource, p *validate.Path) field.ErrorList {
	template := source.VolumeClaimTemplate
	if template == nil {
		return field.ErrorList{p.Child("volumeClaimTemplate").Required("")}
	}
	errs := ValidateClaimTemplateMeta(&template.ObjectMeta, p.Child("volumeClaimTemplate").Child("metadata"))
	return append(errs, ValidatePersistentVolumeClaimSpec(&template.Spec, p.Child("volumeClaimTemplate").Child("spec"))...)
}

// ValidateClaimTemplateMeta validates the metadata of a claim that is created: labels and
// annotations, and nothing else.
func ValidateClaimTemplateMeta(meta *metav1.ObjectMeta, p *validate.Path) field.ErrorList {
	errs := validate.Annotations(meta.Annotations, p.Child("annotations"))
	errs = append(errs, validate.Labels(meta.Labels, p.Child("labels"))...)
	for _, f := range [...]struct {
		name  string
		isSet bool
	}{
		{"name", meta.Name != ""},
		{"generateName", meta.GenerateName != ""},
		{"namespace", meta.Namespace != ""},
		{"selfLink", meta.SelfLink != ""}, //lint:ignore SA1019 it is refused
		{"uID", meta.UID != ""},           // as a server spells it
		{"resourceVersion", meta.ResourceVersion != ""},
		{"generation", meta.Generation != 0},
		{"creationTimestamp", !meta.CreationTimestamp.IsZero()},
		{"deletionTimestamp", meta.DeletionTimestamp != nil},
		{"deletionGracePeriodSeconds", meta.DeletionGracePeriodSeconds != nil},
		{"ownerReferences", meta.OwnerReferences != nil},
		{"finalizers", meta.Finalizers != nil},
		{"managedFields", meta.ManagedFields != nil},
	} {
		if f.isSet {
			errs = append(errs, p.Child(f.name).Forbidden("cannot be set"))
		}
	}
	return errs
}
