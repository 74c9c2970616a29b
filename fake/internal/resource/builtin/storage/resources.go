// Package storage has the built-in types of the group storage.k8s.io.
package storage

import (
	"example.com/fakeapi/fake/internal/resource"
	declarativestorage "example.com/fakeapi/fake/internal/resource/declarative/storage"
)

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "csidrivers", Kind: "CSIDriver",
			SetDefaults:         resource.Defaults(setCSIDriverDefaults),
			ReturnDeletedObject: true,
			PrepareForUpdate:    resource.OnUpdate(prepareCSIDriverForUpdate),
			Validate:            resource.Validation(validateCSIDriver),
			ValidateUpdate:      resource.UpdateValidation(validateCSIDriverUpdate),
			WarningsOnCreate:    resource.CreateWarnings(csiDriverWarnings),
			WarningsOnUpdate:    resource.UpdateWarnings(csiDriverUpdateWarnings),
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "csinodes", Kind: "CSINode",
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1, NotAsUpdated: true},
			Status:                 true, ReturnDeletedObject: true,
			Subresources:   []resource.Subresource{csiNodeStatusSubresource()},
			Validate:       resource.Validation(validateCSINode),
			ValidateUpdate: resource.UpdateValidation(validateCSINodeUpdate),
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "csistoragecapacities", Kind: "CSIStorageCapacity", Namespaced: true,
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1},
			Validate:               resource.Validation(validateCSIStorageCapacity),
			ValidateUpdate:         resource.UpdateValidation(validateCSIStorageCapacityUpdate),
			WarningsOnCreate:       resource.CreateWarnings(csiStorageCapacityWarnings),
			WarningsOnUpdate:       resource.UpdateWarnings(csiStorageCapacityUpdateWarnings),
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "storageclasses", Kind: "StorageClass",
			MetadataChecksOnUpdate:   resource.MetadataChecks{AsNew: 1},
			ShortNames:               []string{"sc"},
			SetDefaults:              resource.Defaults(setStorageClassDefaults),
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
			Validate:              resource.Validation(validateStorageClass),
			ValidateUpdate:        resource.UpdateValidation(validateStorageClassUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativestorage.Validate_StorageClass),
			WarningsOnCreate:      resource.CreateWarnings(storageClassWarnings),
			WarningsOnUpdate:      resource.UpdateWarnings(storageClassUpdateWarnings),
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "volumeattachments", Kind: "VolumeAttachment",
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1, NotAsUpdated: true},
			Status:                 true, ReturnDeletedObject: true,
			Subresources:          []resource.Subresource{resource.StatusSubresource("metadata")},
			Validate:              resource.Validation(validateNewVolumeAttachment),
			ValidateUpdate:        resource.UpdateValidation(validateVolumeAttachmentUpdate),
			ValidateStatusUpdate:  resource.UpdateValidation(validateVolumeAttachmentUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativestorage.Validate_VolumeAttachment),
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "volumeattributesclasses", Kind: "VolumeAttributesClass",
			MetadataChecksOnUpdate:   resource.MetadataChecks{AsNew: 1},
			ShortNames:               []string{"vac"},
			ProtectionFinalizer:      "kubernetes.io/vac-protection",
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
			Validate:       resource.Validation(validateVolumeAttributesClass),
			ValidateUpdate: resource.UpdateValidation(validateVolumeAttributesClassUpdate),
		},
	}
}
