// Package coordination has the built-in types of the group coordination.k8s.io.
package coordination

import "example.com/fakeapi/fake/internal/resource"

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "coordination.k8s.io", Version: "v1", Plural: "leases", Kind: "Lease", Namespaced: true,
			AllowCreateOnUpdate: true, AnyFinalizers: true,
			PrepareForCreate: resource.OnCreate(prepareLeaseForCreate),
			PrepareForUpdate: resource.OnUpdate(prepareLeaseForUpdate),
			Validate:         resource.Validation(validateLease),
			ValidateUpdate:   resource.UpdateValidation(validateLeaseUpdate),
		},
	}
}
