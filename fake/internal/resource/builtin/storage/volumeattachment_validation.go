package storage

import (
	"math"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateNewVolumeAttachment validates a new attachment. Tags of its type validate the attacher.
// Only of a new one the name of the volume is validated.
func validateNewVolumeAttachment(a *storagev1.VolumeAttachment) field.ErrorList {
	var root *validate.Path
	errs := validateVolumeAttachment(a)
	if name := a.Spec.Source.PersistentVolumeName; name != nil {
		errs = append(errs, validate.DNSSubdomain(*name, root.Child("spec").Child("source").Child("persistentVolumeName"))...)
	}
	return errs
}

// validateVolumeAttachmentUpdate validates an attachment or its status that replaces old. Tags of
// the type let no update change the spec.
func validateVolumeAttachmentUpdate(a, _ *storagev1.VolumeAttachment) field.ErrorList {
	return validateVolumeAttachment(a)
}

func validateVolumeAttachment(a *storagev1.VolumeAttachment) field.ErrorList {
	var root *validate.Path
	errs := validateAttachmentSource(&a.Spec.Source, root.Child("spec").Child("source"))
	errs = append(errs, validate.DNSSubdomain(a.Spec.NodeName, root.Child("spec").Child("nodeName"))...)
	return append(errs, validateVolumeAttachmentStatus(&a.Status, root.Child("status"))...)
}

// validateAttachmentSource validates that a volume is either named or inline.
func validateAttachmentSource(source *storagev1.VolumeAttachmentSource, p *validate.Path) field.ErrorList {
	const exactlyOne = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch name, inline := source.PersistentVolumeName, source.InlineVolumeSpec; {
	case name == nil && inline == nil:
		return field.ErrorList{p.Required(exactlyOne)}
	case name != nil && inline != nil:
		return field.ErrorList{p.Forbidden(exactlyOne)}
	case inline != nil:
		return core.ValidateInlineVolumeSpec(inline, p.Child("inlineVolumeSpec"))
	case *name == "":
		return field.ErrorList{p.Child("persistentVolumeName").Required("must specify non empty persistentVolumeName")}
	}
	return nil
}

const (
	maxAttachmentMetadataSize = 256 << 10
	maxVolumeErrorMessageSize = 1024
)

// validateVolumeAttachmentStatus validates the size of the metadata, and the errors.
func validateVolumeAttachmentStatus(status *storagev1.VolumeAttachmentStatus, p *validate.Path) (errs field.ErrorList) {
	size := 0
	for key, value := range status.AttachmentMetadata {
		size += len(key) + len(value)
	}
	if size > maxAttachmentMetadataSize {
		errs = append(errs, p.Child("attachmentMetadata").TooLong(maxAttachmentMetadataSize))
	}
	errs = append(errs, validateVolumeError(status.AttachError, p.Child("attachError"))...)
	return append(errs, validateVolumeError(status.DetachError, p.Child("detachError"))...)
}

// validateVolumeError validates an error, which may be nil.
func validateVolumeError(e *storagev1.VolumeError, p *validate.Path) (errs field.ErrorList) {
	if e == nil {
		return nil
	}
	if len(e.Message) > maxVolumeErrorMessageSize {
		errs = append(errs, p.Child("message").TooLong(maxVolumeErrorMessageSize))
	}
	if e.ErrorCode != nil && *e.ErrorCode < 0 {
		errs = append(errs, p.Child("errorCode").Invalid(*e.ErrorCode, validation.InclusiveRangeError(0, math.MaxInt32)))
	}
	return errs
}
