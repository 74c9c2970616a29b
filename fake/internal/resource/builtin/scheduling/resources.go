// Package scheduling has the built-in types of the group scheduling.k8s.io.
package scheduling

import "example.com/fakeapi/fake/internal/resource"

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "scheduling.k8s.io", Version: "v1", Plural: "priorityclasses", Kind: "PriorityClass",
			ShortNames:               []string{"pc"},
			AllowUnconditionalUpdate: true,
			SetDefaults:              resource.Defaults(setPriorityClassDefaults),
			PrepareForCreate:         resource.OnCreate(preparePriorityClassForCreate),
			CheckDelete:              checkPriorityClassDelete,
			Validate:                 resource.Validation(validatePriorityClass),
			ValidateUpdate:           resource.UpdateValidation(validatePriorityClassUpdate),
		},
	}
}
