package resource

func discoveryResources() []Resource {
	return []Resource{
		{
			Group: "discovery.k8s.io", Version: "v1", Plural: "endpointslices", Kind: "EndpointSlice", Namespaced: true,
			AllowUnconditionalUpdate: true, HasGeneration: true,
		},
	}
}
