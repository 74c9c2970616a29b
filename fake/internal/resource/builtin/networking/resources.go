// Package networking has the built-in types of the group networking.k8s.io.
package networking

import "example.com/fakeapi/fake/internal/resource"

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ingressclasses", Kind: "IngressClass",
			SetDefaults:              resource.Defaults(setIngressClassDefaults),
			AllowUnconditionalUpdate: true, HasGeneration: true,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ingresses", Kind: "Ingress", Namespaced: true,
			ShortNames: []string{"ing"}, Status: true,
			AllowUnconditionalUpdate: true, HasGeneration: true,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ipaddresses", Kind: "IPAddress",
			ShortNames:               []string{"ip"},
			AllowUnconditionalUpdate: true,
			ValidateName:             validateIPAddressName,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "networkpolicies", Kind: "NetworkPolicy", Namespaced: true,
			ShortNames:               []string{"netpol"},
			SetDefaults:              resource.Defaults(setNetworkPolicyDefaults),
			AllowUnconditionalUpdate: true, HasGeneration: true,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "servicecidrs", Kind: "ServiceCIDR",
			Subresources:             []resource.Subresource{serviceCIDRStatusSubresource()},
			AllowUnconditionalUpdate: true,
		},
	}
}
