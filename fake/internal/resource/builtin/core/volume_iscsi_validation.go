package core

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateISCSIVolumeSource validates an iSCSI disk of a pod. The length of the volume's name is
// validated with the volume.
func validateISCSIVolumeSource(source *corev1.ISCSIVolumeSource, p *validate.Path) field.ErrorList {
	const unknownType = "must be valid format starting with iqn, eui, or naa"
	errs := requireValue(source.TargetPortal, p.Child("targetPortal"))
	errs = append(errs, validateISCSITarget(source.IQN, source.Lun, unknownType, p)...)
	if (source.DiscoveryCHAPAuth || source.SessionCHAPAuth) && source.SecretRef == nil {
		errs = append(errs, p.Child("secretRef").Required(""))
	}
	if source.InitiatorName != nil {
		errs = append(errs, validateISCSIName(*source.InitiatorName, unknownType, p.Child("initiatorname"))...)
	}
	return errs
}

// validateISCSIPersistentVolumeSource validates the iSCSI disk of the PersistentVolume with a name.
func validateISCSIPersistentVolumeSource(source *corev1.ISCSIPersistentVolumeSource, volumeName string, p *validate.Path) field.ErrorList {
	errs := requireValue(source.TargetPortal, p.Child("targetPortal"))
	if source.InitiatorName != nil && !isISCSIInterfaceName(volumeName, source.TargetPortal) {
		errs = append(errs, p.Child("targetportal").Invalid(source.TargetPortal, longISCSIInterfaceName))
	}
	errs = append(errs, validateISCSITarget(source.IQN, source.Lun, malformedISCSIName, p)...)
	if (source.DiscoveryCHAPAuth || source.SessionCHAPAuth) && source.SecretRef == nil {
		errs = append(errs, p.Child("secretRef").Required(""))
	}
	if source.SecretRef != nil {
		errs = append(errs, requireValue(source.SecretRef.Name, p.Child("secretRef").Child("name"))...)
	}
	if source.InitiatorName != nil {
		errs = append(errs, validateISCSIName(*source.InitiatorName, malformedISCSIName, p.Child("initiatorname"))...)
	}
	return errs
}

const (
	malformedISCSIName     = "must be valid format"
	longISCSIInterfaceName = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
)

// isISCSIInterfaceName reports whether a volume and a portal have names that are short enough for
// the name of an iSCSI interface. It matters for volumes with the name of an initiator.
func isISCSIInterfaceName(volumeName, targetPortal string) bool {
	return len(volumeName)+len(":")+len(targetPortal) <= 64
}

// validateISCSITarget validates the name of an iSCSI target and the number of its logical unit.
// unknownType is the text for a name that starts with no known type.
func validateISCSITarget(iqn string, lun int32, unknownType string, p *validate.Path) field.ErrorList {
	errs := requireValue(iqn, p.Child("iqn"))
	if iqn != "" {
		errs = validateISCSIName(iqn, unknownType, p.Child("iqn"))
	}
	return append(errs, validateByte(lun, 0, p.Child("lun"))...)
}

// The names of iSCSI nodes, by their types. Text before a name of type iqn is accepted.
var (
	iscsiQualifiedName    = regexp.MustCompile(`iqn\.\d{4}-\d{2}\.[[:alnum:].-]+:[^,;*&$|\s]+$`)
	iscsiExtendedUniqueID = regexp.MustCompile(`^eui.[[:alnum:]]{16}$`)
	iscsiNetworkAddressID = regexp.MustCompile(`^naa.[[:alnum:]]{32}$`)
)

// validateISCSIName validates the name of an iSCSI node.
func validateISCSIName(name, unknownType string, p *validate.Path) field.ErrorList {
	valid := false
	switch {
	case strings.HasPrefix(name, "iqn"):
		valid = iscsiQualifiedName.MatchString(name)
	case strings.HasPrefix(name, "eui"):
		valid = iscsiExtendedUniqueID.MatchString(name)
	case strings.HasPrefix(name, "naa"):
		valid = iscsiNetworkAddressID.MatchString(name)
	default:
		return field.ErrorList{p.Invalid(name, unknownType)}
	}
	if valid {
		return nil
	}
	return field.ErrorList{p.Invalid(name, malformedISCSIName)}
}
