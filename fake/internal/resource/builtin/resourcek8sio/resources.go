// Package resourcek8sio has the built-in types of the group resource.k8s.io.
package resourcek8sio

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource"
	declarativeresource "example.com/fakeapi/fake/internal/resource/declarative/resource"
)

// Resources returns the types of dynamic resource allocation.
func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "deviceclasses", Kind: "DeviceClass",
			AllowUnconditionalUpdate: true, HasGeneration: true, ReturnDeletedObject: true,
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1},
			ValidateName:           resource.ValidatePathSegmentName, // the validation of tags has that of the type
			Validate:               resource.Validation(validateDeviceClass),
			ValidateUpdate:         resource.UpdateValidation(validateDeviceClassUpdate),
			ValidateDeclaratively:  resource.DeclarativeValidation(declarativeresource.Validate_DeviceClass),
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "devicetaintrules", Kind: "DeviceTaintRule",
			HashedVersion: "v1beta2",
			Status:        true, HasGeneration: true,
			Subresources:          []resource.Subresource{resource.StatusSubresource("metadata")},
			SetDefaults:           resource.Defaults(setDeviceTaintRuleDefaults),
			PrepareForUpdate:      resource.OnUpdate(prepareDeviceTaintRuleForUpdate),
			Validate:              resource.Validation(validateDeviceTaintRule),
			ValidateUpdate:        resource.UpdateValidation(validateDeviceTaintRuleUpdate),
			ValidateStatusUpdate:  resource.UpdateValidation(validateDeviceTaintRuleStatusUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativeresource.Validate_DeviceTaintRule),
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceclaims", Kind: "ResourceClaim", Namespaced: true,
			Status:                   true,
			MetadataChecksOnUpdate:   resource.MetadataChecks{AsNew: 1},
			Subresources:             []resource.Subresource{resourceClaimStatusSubresource()},
			SetDefaults:              resource.Defaults(setResourceClaimDefaults),
			PrepareForCreate:         resource.OnCreate(prepareResourceClaimForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareResourceClaimForUpdate),
			Validate:                 validateNewResourceClaim,
			ValidateStatusUpdate:     resource.UpdateValidationWithContext(validateResourceClaimStatus),
			ValidateDeclaratively:    resource.DeclarativeValidation(declarativeresource.Validate_ResourceClaim),
			ReadsNamespace:           true,
			ChecksAccess:             true,
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceclaimtemplates", Kind: "ResourceClaimTemplate", Namespaced: true,
			SetDefaults:              resource.Defaults(setResourceClaimTemplateDefaults),
			PrepareForCreate:         resource.OnCreate(prepareResourceClaimTemplateForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareResourceClaimTemplateForUpdate),
			Validate:                 validateNewResourceClaimTemplate,
			ValidateUpdate:           resource.UpdateValidation(validateResourceClaimTemplateUpdate),
			ValidateDeclaratively:    resource.DeclarativeValidation(declarativeresource.Validate_ResourceClaimTemplate),
			ReadsNamespace:           true,
			AllowUnconditionalUpdate: true, ReturnDeletedObject: true,
		},
		{
			Group: "resource.k8s.io", Version: "v1", Plural: "resourceslices", Kind: "ResourceSlice",
			SetDefaults:              resource.Defaults(setResourceSliceDefaults),
			PrepareForCreate:         resource.OnCreate(prepareResourceSliceForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareResourceSliceForUpdate),
			Validate:                 resource.Validation(validateResourceSlice),
			ValidateUpdate:           resource.UpdateValidation(validateResourceSliceUpdate),
			ValidateDeclaratively:    validateSliceTags,
			WarningsOnCreate:         resource.CreateWarnings(resourceSliceWarnings),
			WarningsOnUpdate:         resource.UpdateWarnings(resourceSliceUpdateWarnings),
			AllowUnconditionalUpdate: true, HasGeneration: true, ReturnDeletedObject: true,
			FieldErrorFormat: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
			Fields: []resource.Field{
				resource.StringField("spec.driver", func(s *resourcev1.ResourceSlice) string { return s.Spec.Driver }),
				resource.StringField("spec.nodeName", func(s *resourcev1.ResourceSlice) string { return ptr.Deref(s.Spec.NodeName, "") }),
				resource.StringField("spec.pool.name", func(s *resourcev1.ResourceSlice) string { return s.Spec.Pool.Name }),
			},
		},
	}
}
