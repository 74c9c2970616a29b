// Package flowcontrol has the built-in types of the group flowcontrol.apiserver.k8s.io.
package flowcontrol

import (
	"example.com/fakeapi/fake/internal/resource"
	declarativeflowcontrol "example.com/fakeapi/fake/internal/resource/declarative/flowcontrol"
)

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Plural: "flowschemas", Kind: "FlowSchema",
			SetDefaults: resource.Defaults(setFlowSchemaDefaults),
			Status:      true, AllowUnconditionalUpdate: true, HasGeneration: true,
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1, NotAsUpdated: true},
			Subresources:           []resource.Subresource{resource.StatusSubresource("metadata")},
			Validate:               resource.Validation(validateFlowSchema),
			ValidateUpdate:         resource.UpdateValidation(validateFlowSchemaUpdate),
			ValidateStatusUpdate:   resource.UpdateValidation(validateFlowSchemaStatusUpdate),
		},
		{
			Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Plural: "prioritylevelconfigurations", Kind: "PriorityLevelConfiguration",
			SetDefaults: resource.Defaults(setPriorityLevelConfigurationDefaults),
			Status:      true, AllowUnconditionalUpdate: true, HasGeneration: true,
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1, NotAsUpdated: true},
			Subresources:           []resource.Subresource{resource.StatusSubresource("metadata")},
			Validate:               resource.Validation(validatePriorityLevelConfiguration),
			ValidateUpdate:         resource.UpdateValidation(validatePriorityLevelConfigurationUpdate),
			ValidateStatusUpdate:   resource.UpdateValidation(validatePriorityLevelConfigurationStatusUpdate),
			ValidateDeclaratively:  resource.DeclarativeValidation(declarativeflowcontrol.Validate_PriorityLevelConfiguration),
		},
	}
}
