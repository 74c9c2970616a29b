// Package storage has the built-in types of the group storage.k8s.io.
package storage

import "example.com/fakeapi/fake/internal/resource"

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "csidrivers", Kind: "CSIDriver",
			SetDefaults:   resource.Defaults(setCSIDriverDefaults),
			HasGeneration: true, ReturnDeletedObject: true,
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "csinodes", Kind: "CSINode",
			Status: true, ReturnDeletedObject: true,
			Subresources: []resource.Subresource{csiNodeStatusSubresource()},
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "csistoragecapacities", Kind: "CSIStorageCapacity", Namespaced: true,
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "storageclasses", Kind: "StorageClass",
			ShortNames:               []string{"sc"},
			SetDefaults:              resource.Defaults(setStorageClassDefaults),
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "volumeattachments", Kind: "VolumeAttachment",
			Status: true, ReturnDeletedObject: true,
			Subresources: []resource.Subresource{resource.StatusSubresource("metadata")},
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "volumeattributesclasses", Kind: "VolumeAttributesClass",
			ShortNames:               []string{"vac"},
			ProtectionFinalizer:      "kubernetes.io/vac-protection",
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
	}
}
