// Package networking has the built-in types of the group networking.k8s.io.
package networking

import "example.com/fakeapi/fake/internal/resource"

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ingressclasses", Kind: "IngressClass",
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
			AllowUnconditionalUpdate: true, HasGeneration: true,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "servicecidrs", Kind: "ServiceCIDR",
			Status: true,
			// The strategy of a real server declares its reset fields for a version that does not
			// exist.
			Subresources: []resource.Subresource{withoutResetFields(resource.StatusSubresource())}, ResetFields: []string{},
			AllowUnconditionalUpdate: true,
		},
	}
}

func withoutResetFields(s resource.Subresource) resource.Subresource {
	s.ResetFields = nil
	return s
}
