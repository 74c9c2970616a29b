package resource

func flowControlResources() []Resource {
	return []Resource{
		{
			Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Plural: "flowschemas", Kind: "FlowSchema",
			Status: true, AllowUnconditionalUpdate: true, HasGeneration: true,
			Subresources: []Subresource{StatusSubresource("metadata")},
		},
		{
			Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Plural: "prioritylevelconfigurations", Kind: "PriorityLevelConfiguration",
			Status: true, AllowUnconditionalUpdate: true, HasGeneration: true,
			Subresources: []Subresource{StatusSubresource("metadata")},
		},
	}
}
