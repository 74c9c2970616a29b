// Package resourcek8sio has the built-in types of the group resource.k8s.io.
package resourcek8sio

import (
	resourcev1 "k8s.io/api/resource/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// Resources returns the types of dynamic resource allocation.
func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "deviceclasses", Kind: "DeviceClass",
			AllowUnconditionalUpdate: true, HasGeneration: true, ReturnDeletedObject: true,
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "devicetaintrules", Kind: "DeviceTaintRule",
			Status: true, HasGeneration: true,
			Subresources:     []resource.Subresource{resource.StatusSubresource("metadata")},
			SetDefaults:      resource.Defaults(setDeviceTaintRuleDefaults),
			PrepareForUpdate: resource.OnUpdate(prepareDeviceTaintRuleForUpdate),
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceclaims", Kind: "ResourceClaim", Namespaced: true,
			Status:                   true,
			Subresources:             []resource.Subresource{resourceClaimStatusSubresource()},
			SetDefaults:              resource.Defaults(setResourceClaimDefaults),
			PrepareForCreate:         resource.OnCreate(prepareResourceClaimForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareResourceClaimForUpdate),
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceclaimtemplates", Kind: "ResourceClaimTemplate", Namespaced: true,
			SetDefaults:              resource.Defaults(setResourceClaimTemplateDefaults),
			PrepareForCreate:         resource.OnCreate(prepareResourceClaimTemplateForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareResourceClaimTemplateForUpdate),
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceslices", Kind: "ResourceSlice",
			SetDefaults:              resource.Defaults(setResourceSliceDefaults),
			PrepareForCreate:         resource.OnCreate(prepareResourceSliceForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareResourceSliceForUpdate),
			AllowUnconditionalUpdate: true, HasGeneration: true, ReturnDeletedObject: true,
			FieldErrorFormat: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
			Fields: []resource.Field{
				resource.StringField("spec.driver", func(s *resourcev1.ResourceSlice) string { return s.Spec.Driver }),
				resource.StringField("spec.nodeName", func(s *resourcev1.ResourceSlice) string {
					if s.Spec.NodeName == nil {
						return ""
					}
					return *s.Spec.NodeName
				}),
			},
		},
	}
}
