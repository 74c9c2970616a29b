package resource

func storageResources() []Resource {
	return []Resource{
		{Group: "storage.k8s.io", Version: "v1", Plural: "csidrivers", Kind: "CSIDriver", HasGeneration: true, ReturnDeletedObject: true},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "csinodes", Kind: "CSINode",
			Status: true, ReturnDeletedObject: true,
			Subresources: []Subresource{StatusSubresource("metadata")},
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "csistoragecapacities", Kind: "CSIStorageCapacity", Namespaced: true,
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "storageclasses", Kind: "StorageClass",
			ShortNames:               []string{"sc"},
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "volumeattachments", Kind: "VolumeAttachment",
			Status: true, ReturnDeletedObject: true,
			Subresources: []Subresource{StatusSubresource("metadata")},
		},
		{
			Group: "storage.k8s.io", Version: "v1", Plural: "volumeattributesclasses", Kind: "VolumeAttributesClass",
			ShortNames:               []string{"vac"},
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
	}
}
