package resource

func coordinationResources() []Resource {
	return []Resource{
		{
			Group: "coordination.k8s.io", Version: "v1", Plural: "leases", Kind: "Lease", Namespaced: true,
			AllowCreateOnUpdate: true,
		},
	}
}
