package apiregistration

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/validation"

	"example.com/fakeapi/fake/internal/resource"
)

// prepareForCreate makes a local APIService available.
func prepareForCreate(_ context.Context, s *apiregistrationv1.APIService) {
	if s.Spec.Service == nil {
		helper.SetAPIServiceCondition(s, helper.NewLocalAvailableAPIServiceCondition())
	}
}

// statusSubresource keeps the spec, and the metadata that users set.
func statusSubresource() resource.Subresource {
	sub := resource.StatusSubresource("metadata")
	sub.PrepareForUpdate = resource.OnUpdate(func(_ context.Context, s, old *apiregistrationv1.APIService) {
		s.Spec = old.Spec
		s.Labels, s.Annotations, s.Finalizers, s.OwnerReferences = old.Labels, old.Annotations, old.Finalizers, old.OwnerReferences
	})
	sub.ValidateUpdate = func(ctx context.Context, obj, old runtime.Object, metadata resource.MetadataErrors) field.ErrorList {
		return slices.Concat(metadata.ForAllTypes, validation.ValidateAPIServiceStatusUpdate(ctx, toInternal(obj), toInternal(old)))
	}
	return sub
}

// validate and validateUpdate include the errors of the type's own checks of the metadata.
func validate(ctx context.Context, obj runtime.Object, _ field.ErrorList) field.ErrorList {
	return validation.ValidateAPIService(ctx, toInternal(obj))
}

func validateUpdate(ctx context.Context, obj, old runtime.Object, metadata resource.MetadataErrors) field.ErrorList {
	return slices.Concat(metadata.ForAllTypes, validation.ValidateAPIServiceUpdate(ctx, toInternal(obj), toInternal(old)))
}

// toInternal converts an APIService to the version that the library validates. A missing port is 0.
func toInternal(obj runtime.Object) *apiregistration.APIService {
	internal := &apiregistration.APIService{}
	// The conversion copies fields and has no errors.
	if err := apiregistrationv1.Convert_v1_APIService_To_apiregistration_APIService(obj.(*apiregistrationv1.APIService), internal, nil); err != nil {
		panic(err)
	}
	return internal
}
