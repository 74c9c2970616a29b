// Package discovery has the built-in types of the group discovery.k8s.io.
package discovery

import (
	"example.com/fakeapi/fake/internal/resource"
	declarativediscovery "example.com/fakeapi/fake/internal/resource/declarative/discovery"
)

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "discovery.k8s.io", Version: "v1", Plural: "endpointslices", Kind: "EndpointSlice", Namespaced: true,
			MetadataChecksOnUpdate:   resource.MetadataChecks{AsNew: 1, NotAsUpdated: true},
			AllowUnconditionalUpdate: true, HasGeneration: true,
			SetDefaults:      resource.Defaults(setEndpointSliceDefaults),
			PrepareForCreate: resource.OnCreate(prepareEndpointSliceForCreate),
			PrepareForUpdate: resource.OnUpdate(prepareEndpointSliceForUpdate),
			Validate:         resource.Validation(validateEndpointSlice),
			ValidateUpdate:   resource.UpdateValidation(validateEndpointSliceUpdate),
			WarningsOnCreate: resource.CreateWarnings(endpointSliceWarnings),
			WarningsOnUpdate: resource.UpdateWarnings(endpointSliceWarningsOnUpdate),

			ValidateDeclaratively: resource.DeclarativeValidation(declarativediscovery.Validate_EndpointSlice),
		},
	}
}
