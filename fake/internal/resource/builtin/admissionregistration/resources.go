// Package admissionregistration has the built-in types of the group admissionregistration.k8s.io.
package admissionregistration

import (
	"example.com/fakeapi/fake/internal/resource"
	declarativeadmission "example.com/fakeapi/fake/internal/resource/declarative/admissionregistration"
)

// Resources returns the webhook configurations and admission policies.
func Resources() []resource.Resource {
	all := []resource.Resource{
		{
			Plural: "mutatingadmissionpolicies", Kind: "MutatingAdmissionPolicy",
			SetDefaults:    resource.Defaults(setMutatingAdmissionPolicyDefaults),
			Validate:       resource.Validation(validateMutatingAdmissionPolicy),
			ValidateUpdate: resource.UpdateValidation(validateMutatingAdmissionPolicyUpdate),
		},
		{
			Plural: "mutatingadmissionpolicybindings", Kind: "MutatingAdmissionPolicyBinding",
			SetDefaults:    resource.Defaults(setMutatingAdmissionPolicyBindingDefaults),
			Validate:       resource.Validation(validateMutatingAdmissionPolicyBinding),
			ValidateUpdate: resource.UpdateValidation(validateMutatingAdmissionPolicyBindingUpdate),
		},
		{
			Plural: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration",
			SetDefaults:           resource.Defaults(setMutatingWebhookConfigurationDefaults),
			GenerationCountsEmpty: true,
			Validate:              resource.Validation(validateMutatingWebhookConfiguration),
			ValidateUpdate:        resource.UpdateValidation(validateMutatingWebhookConfigurationUpdate),
			WarningsOnCreate:      resource.CreateWarnings(mutatingWebhookWarnings),
			WarningsOnUpdate:      resource.UpdateWarnings(mutatingWebhookUpdateWarnings),
		},
		{
			Plural: "validatingadmissionpolicies", Kind: "ValidatingAdmissionPolicy", Status: true,
			Subresources:         []resource.Subresource{resource.StatusSubresource("metadata")},
			SetDefaults:          resource.Defaults(setValidatingAdmissionPolicyDefaults),
			Validate:             resource.Validation(validateValidatingAdmissionPolicy),
			ValidateUpdate:       resource.UpdateValidation(validateValidatingAdmissionPolicyUpdate),
			ValidateStatusUpdate: resource.UpdateValidation(validateValidatingAdmissionPolicyStatus),
		},
		{
			Plural: "validatingadmissionpolicybindings", Kind: "ValidatingAdmissionPolicyBinding",
			SetDefaults:           resource.Defaults(setValidatingAdmissionPolicyBindingDefaults),
			Validate:              resource.Validation(validateValidatingAdmissionPolicyBinding),
			ValidateUpdate:        resource.UpdateValidation(validateValidatingAdmissionPolicyBindingUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativeadmission.Validate_ValidatingAdmissionPolicyBinding),
		},
		{
			Plural: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration",
			SetDefaults:           resource.Defaults(setValidatingWebhookConfigurationDefaults),
			GenerationCountsEmpty: true,
			Validate:              resource.Validation(validateValidatingWebhookConfiguration),
			ValidateUpdate:        resource.UpdateValidation(validateValidatingWebhookConfigurationUpdate),
			WarningsOnCreate:      resource.CreateWarnings(validatingWebhookWarnings),
			WarningsOnUpdate:      resource.UpdateWarnings(validatingWebhookUpdateWarnings),
		},
	}
	for i := range all {
		r := &all[i]
		r.Group, r.Version = "admissionregistration.k8s.io", "v1"
		r.Categories = []string{"api-extensions"}
		r.HasGeneration, r.AnyFinalizers = true, true
		r.MetadataChecksOnUpdate = resource.MetadataChecks{AsNew: 1, NotAsUpdated: true}
		r.MetadataChecksOnStatusUpdate = resource.MetadataChecks{NotAsUpdated: true}
		if r.WarningsOnUpdate == nil {
			r.WarningsOnUpdate = staticNameUpdateWarnings
		}
		for j := range r.Subresources {
			r.Subresources[j].WarningsOnUpdate = staticNameUpdateWarnings
		}
	}
	return all
}
