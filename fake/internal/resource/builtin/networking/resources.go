// Package networking has the built-in types of the group networking.k8s.io.
package networking

import (
	"example.com/fakeapi/fake/internal/resource"
	declarativenetworking "example.com/fakeapi/fake/internal/resource/declarative/networking"
)

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ingressclasses", Kind: "IngressClass",
			MetadataChecksOnUpdate:   resource.MetadataChecks{AsNew: 1},
			SetDefaults:              resource.Defaults(setIngressClassDefaults),
			AllowUnconditionalUpdate: true, HasGeneration: true,
			Validate:              resource.Validation(validateIngressClass),
			ValidateUpdate:        resource.UpdateValidation(validateIngressClassUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativenetworking.Validate_IngressClass),
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ingresses", Kind: "Ingress", Namespaced: true,
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1},
			ShortNames:             []string{"ing"}, Status: true,
			AllowUnconditionalUpdate: true, HasGeneration: true,
			Validate:             resource.Validation(validateIngress),
			ValidateUpdate:       resource.UpdateValidation(validateIngressUpdate),
			ValidateStatusUpdate: resource.UpdateValidation(validateIngressStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(ingressWarnings),
			Subresources:         []resource.Subresource{ingressStatusSubresource()},
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ipaddresses", Kind: "IPAddress",
			MetadataChecksOnUpdate:   resource.MetadataChecks{AsNew: 1},
			ShortNames:               []string{"ip"},
			AllowUnconditionalUpdate: true,
			ValidateName:             validateIPAddressName, GenerateNameWithoutSuffix: true,
			Validate:              resource.Validation(validateIPAddress),
			ValidateUpdate:        resource.UpdateValidation(validateIPAddressUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativenetworking.Validate_IPAddress),
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "networkpolicies", Kind: "NetworkPolicy", Namespaced: true,
			ShortNames:               []string{"netpol"},
			SetDefaults:              resource.Defaults(setNetworkPolicyDefaults),
			AllowUnconditionalUpdate: true, HasGeneration: true, GenerationCountsEmpty: true,
			Validate:              resource.Validation(validateNetworkPolicy),
			ValidateUpdate:        resource.UpdateValidation(validateNetworkPolicyUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativenetworking.Validate_NetworkPolicy),
			WarningsOnCreate:      resource.CreateWarnings(networkPolicyWarnings),
			WarningsOnUpdate:      resource.UpdateWarnings(networkPolicyUpdateWarnings),
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "servicecidrs", Kind: "ServiceCIDR",
			Status: true, Subresources: []resource.Subresource{resource.StatusSubresource("metadata")},
			Validate:                 resource.Validation(validateServiceCIDR),
			ValidateUpdate:           resource.UpdateValidation(validateServiceCIDRUpdate),
			AllowUnconditionalUpdate: true,
		},
	}
}
