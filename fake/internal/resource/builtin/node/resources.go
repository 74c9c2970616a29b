// Package node has the built-in types of the group node.k8s.io.
package node

import (
	"example.com/fakeapi/fake/internal/resource"
	declarativenode "example.com/fakeapi/fake/internal/resource/declarative/node"
)

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "node.k8s.io", Version: "v1", Plural: "runtimeclasses", Kind: "RuntimeClass",
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1},
			AllowCreateOnUpdate:    true, AnyFinalizers: true,
			Validate:              resource.Validation(validateRuntimeClass),
			ValidateUpdate:        resource.UpdateValidation(validateRuntimeClassUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativenode.Validate_RuntimeClass),
			WarningsOnCreate:      resource.CreateWarnings(runtimeClassWarnings),
			WarningsOnUpdate:      resource.UpdateWarnings(runtimeClassUpdateWarnings),
		},
	}
}
