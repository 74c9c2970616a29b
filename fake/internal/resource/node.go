package resource

func nodeResources() []Resource {
	return []Resource{
		{Group: "node.k8s.io", Version: "v1", Plural: "runtimeclasses", Kind: "RuntimeClass", AllowCreateOnUpdate: true},
	}
}
