// Package storagemigration has the built-in types of the group storagemigration.k8s.io.
package storagemigration

import "example.com/fakeapi/fake/internal/resource"

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "storagemigration.k8s.io", Version: "v1", Plural: "storageversionmigrations", Kind: "StorageVersionMigration",
			HashedVersion: "v1beta1",
			Status:        true, MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1},
			Subresources:         []resource.Subresource{resource.StatusSubresource("metadata")},
			Validate:             resource.Validation(validateMigration),
			ValidateUpdate:       resource.UpdateValidation(validateMigrationUpdate),
			ValidateStatusUpdate: resource.UpdateValidation(validateMigrationStatusUpdate),
		},
	}
}
