// Package autoscaling has the built-in types of the group autoscaling.
package autoscaling

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"example.com/fakeapi/fake/internal/resource"
	declarativeautoscaling "example.com/fakeapi/fake/internal/resource/declarative/autoscaling"
)

// Resources returns the HorizontalPodAutoscalers in both versions. They are stored in
// v2, which can represent everything.
func Resources() []resource.Resource {
	hpa := resource.Resource{
		Group: "autoscaling", Plural: "horizontalpodautoscalers", Kind: "HorizontalPodAutoscaler", Namespaced: true,
		ShortNames: []string{"hpa"}, Categories: []string{"all"}, Status: true,
		StorageVersion:           autoscalingv2.SchemeGroupVersion,
		AllowUnconditionalUpdate: true, HasGeneration: true,
		SetDefaults:          resource.Defaults(setHorizontalPodAutoscalerDefaults),
		Validate:             resource.Validation(validateHorizontalPodAutoscaler),
		ValidateUpdate:       resource.UpdateValidation(validateHorizontalPodAutoscalerUpdate),
		ValidateStatusUpdate: resource.UpdateValidation(validateHorizontalPodAutoscalerStatusUpdate),
		ValidateDeclaratively: resource.DeclarativeValidationWithOptions(declarativeautoscaling.Validate_HorizontalPodAutoscaler,
			map[string]bool{"HPAScaleToZero": true}),
	}
	v2, v1 := hpa, hpa
	v2.Version = "v2"
	v1.Version = "v1"
	v1.SetDefaults = resource.Defaults(setHorizontalPodAutoscalerV1Defaults)
	v1.ToStorage, v1.FromStorage = convertHPAToV2, convertHPAToV1
	return []resource.Resource{v2, v1}
}
