// Package flowcontrol has the built-in types of the group flowcontrol.apiserver.k8s.io.
package flowcontrol

import "example.com/fakeapi/fake/internal/resource"

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Plural: "flowschemas", Kind: "FlowSchema",
			SetDefaults: resource.Defaults(setFlowSchemaDefaults),
			Status:      true, AllowUnconditionalUpdate: true, HasGeneration: true,
			Subresources: []resource.Subresource{resource.StatusSubresource("metadata")},
		},
		{
			Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Plural: "prioritylevelconfigurations", Kind: "PriorityLevelConfiguration",
			SetDefaults: resource.Defaults(setPriorityLevelConfigurationDefaults),
			Status:      true, AllowUnconditionalUpdate: true, HasGeneration: true,
			Subresources: []resource.Subresource{resource.StatusSubresource("metadata")},
		},
	}
}
