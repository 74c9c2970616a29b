// Package admissionregistration has the built-in types of the group admissionregistration.k8s.io.
package admissionregistration

import "example.com/fakeapi/fake/internal/resource"

// Resources returns the webhook configurations and admission policies.
func Resources() []resource.Resource {
	all := []resource.Resource{
		{Plural: "mutatingadmissionpolicies", Kind: "MutatingAdmissionPolicy", SetDefaults: resource.Defaults(setMutatingAdmissionPolicyDefaults)},
		{Plural: "mutatingadmissionpolicybindings", Kind: "MutatingAdmissionPolicyBinding", SetDefaults: resource.Defaults(setMutatingAdmissionPolicyBindingDefaults)},
		{Plural: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration", SetDefaults: resource.Defaults(setMutatingWebhookConfigurationDefaults)},
		{
			Plural: "validatingadmissionpolicies", Kind: "ValidatingAdmissionPolicy", SetDefaults: resource.Defaults(setValidatingAdmissionPolicyDefaults),
			Status: true, Subresources: []resource.Subresource{resource.StatusSubresource("metadata")},
		},
		{Plural: "validatingadmissionpolicybindings", Kind: "ValidatingAdmissionPolicyBinding", SetDefaults: resource.Defaults(setValidatingAdmissionPolicyBindingDefaults)},
		{Plural: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration", SetDefaults: resource.Defaults(setValidatingWebhookConfigurationDefaults)},
	}
	for i := range all {
		r := &all[i]
		r.Group, r.Version = "admissionregistration.k8s.io", "v1"
		r.Categories = []string{"api-extensions"}
		r.HasGeneration, r.AnyFinalizers = true, true
	}
	return all
}
