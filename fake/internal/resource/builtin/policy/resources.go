// Package policy has the built-in types of the group policy.
package policy

import (
	"example.com/fakeapi/fake/internal/resource"
)

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "policy", Version: "v1", Plural: "poddisruptionbudgets", Kind: "PodDisruptionBudget", Namespaced: true,
			MetadataChecksOnUpdate:       resource.MetadataChecks{NotAsUpdated: true},
			MetadataChecksOnStatusUpdate: resource.MetadataChecks{NotAsUpdated: true},
			ShortNames:                   []string{"pdb"}, Status: true,
			HasGeneration: true, AnyFinalizers: true,
			Canonicalize:         resource.Defaults(canonicalizePodDisruptionBudget),
			ValidateName:         resource.ValidatePathSegmentName,
			Validate:             resource.Validation(validatePodDisruptionBudget),
			ValidateUpdate:       resource.UpdateValidation(validatePodDisruptionBudgetUpdate),
			ValidateStatusUpdate: resource.UpdateValidation(validatePodDisruptionBudgetStatusUpdate),
		},
	}
}
