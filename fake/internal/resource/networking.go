package resource

func networkingRows() []Resource {
	return []Resource{
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ingressclasses", Kind: "IngressClass",
			UnconditionalUpdate: true, Generation: true,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ingresses", Kind: "Ingress", Namespaced: true,
			ShortNames: []string{"ing"}, Status: true,
			UnconditionalUpdate: true, Generation: true,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "ipaddresses", Kind: "IPAddress",
			ShortNames:          []string{"ip"},
			UnconditionalUpdate: true,
			ValidateName:        ipName,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "networkpolicies", Kind: "NetworkPolicy", Namespaced: true,
			ShortNames:          []string{"netpol"},
			UnconditionalUpdate: true, Generation: true,
		},
		{
			Group: "networking.k8s.io", Version: "v1", Plural: "servicecidrs", Kind: "ServiceCIDR",
			Status: true,
			// The real strategy declares its resets for a version that does not exist.
			Subresources: []Subresource{withoutResets(status())}, Resets: []string{},
			UnconditionalUpdate: true,
		},
	}
}
