package resource

func policyResources() []Resource {
	return []Resource{
		{
			Group: "policy", Version: "v1", Plural: "poddisruptionbudgets", Kind: "PodDisruptionBudget", Namespaced: true,
			ShortNames: []string{"pdb"}, Status: true,
			HasGeneration: true,
			ValidateName:  validatePathSegmentName,
		},
	}
}
