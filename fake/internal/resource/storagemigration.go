package resource

func storageMigrationResources() []Resource {
	return []Resource{
		{
			Group: "storagemigration.k8s.io", Version: "v1", Plural: "storageversionmigrations", Kind: "StorageVersionMigration",
			Status:       true,
			Subresources: []Subresource{StatusSubresource("metadata")},
		},
	}
}
