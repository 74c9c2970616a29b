package builtin

import "example.com/fakeapi/fake/internal/resource"

func policyResources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "policy", Version: "v1", Plural: "poddisruptionbudgets", Kind: "PodDisruptionBudget", Namespaced: true,
			ShortNames: []string{"pdb"}, Status: true,
			HasGeneration: true,
			ValidateName:  validatePathSegmentName,
		},
	}
}
