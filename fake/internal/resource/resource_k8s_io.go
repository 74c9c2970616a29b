package resource

import resourcev1 "k8s.io/api/resource/v1"

// resourceK8sIOResources are the types of resource.k8s.io, by which pods get devices.
func resourceK8sIOResources() []Resource {
	return []Resource{
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "deviceclasses", Kind: "DeviceClass",
			AllowUnconditionalUpdate: true, HasGeneration: true, ReturnDeletedObject: true,
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "devicetaintrules", Kind: "DeviceTaintRule",
			Status: true, HasGeneration: true,
			Subresources: []Subresource{StatusSubresource("metadata")},
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceclaims", Kind: "ResourceClaim", Namespaced: true,
			Status:                   true,
			Subresources:             []Subresource{StatusSubresource("metadata")},
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceclaimtemplates", Kind: "ResourceClaimTemplate", Namespaced: true,
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceslices", Kind: "ResourceSlice",
			AllowUnconditionalUpdate: true, HasGeneration: true, ReturnDeletedObject: true,
			FieldErrorFormat: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
			Fields: []Field{
				StringField("spec.driver", func(s *resourcev1.ResourceSlice) string { return s.Spec.Driver }),
				StringField("spec.nodeName", func(s *resourcev1.ResourceSlice) string {
					if s.Spec.NodeName == nil {
						return ""
					}
					return *s.Spec.NodeName
				}),
			},
		},
	}
}
