// Package admissionregistration has the built-in types of the group admissionregistration.k8s.io.
package admissionregistration

import "example.com/fakeapi/fake/internal/resource"

// Resources returns the webhook configurations and admission policies.
func Resources() []resource.Resource {
	all := []resource.Resource{
		{Plural: "mutatingadmissionpolicies", Kind: "MutatingAdmissionPolicy"},
		{Plural: "mutatingadmissionpolicybindings", Kind: "MutatingAdmissionPolicyBinding"},
		{Plural: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"},
		{Plural: "validatingadmissionpolicies", Kind: "ValidatingAdmissionPolicy", Status: true, Subresources: []resource.Subresource{resource.StatusSubresource("metadata")}},
		{Plural: "validatingadmissionpolicybindings", Kind: "ValidatingAdmissionPolicyBinding"},
		{Plural: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"},
	}
	for i := range all {
		r := &all[i]
		r.Group, r.Version = "admissionregistration.k8s.io", "v1"
		r.Categories = []string{"api-extensions"}
		r.HasGeneration = true
	}
	return all
}
