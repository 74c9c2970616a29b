// Package apiregistration has the built-in types of the group apiregistration.k8s.io, which on a
// real server the aggregator serves.
package apiregistration

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"

	"example.com/fakeapi/fake/internal/resource"
)

// Resources returns the resource of APIServices.
func Resources() []resource.Resource {
	return []resource.Resource{{
		Group: apiregistrationv1.GroupName, Version: "v1", Plural: "apiservices", Kind: "APIService",
		Categories: []string{"api-extensions"}, Status: true,
		Subresources: []resource.Subresource{statusSubresource()},
		Scheme:       newScheme(), InternalPackage: "apiregistration",
		// The name of the APIService of the core group is "v1.".
		ValidateName:     func(name string, _ bool) []string { return content.IsPathSegmentName(name) },
		SetDefaults:      resource.Defaults(apiregistrationv1.SetObjectDefaults_APIService),
		PrepareForCreate: resource.OnCreate(prepareForCreate),
		Validate:         validate,
		ValidateUpdate:   validateUpdate,
	}}
}

// newScheme returns the scheme of apiregistration.k8s.io, which on a real server is apart from the
// scheme of the other types, too.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(apiregistrationv1.SchemeGroupVersion, &apiregistrationv1.APIService{}, &apiregistrationv1.APIServiceList{})
	s.AddKnownTypes(apiregistrationv1beta1.SchemeGroupVersion, &apiregistrationv1beta1.APIService{}, &apiregistrationv1beta1.APIServiceList{})
	for _, version := range []schema.GroupVersion{apiregistrationv1.SchemeGroupVersion, apiregistrationv1beta1.SchemeGroupVersion, metav1.Unversioned} {
		metav1.AddToGroupVersion(s, version)
	}
	return s
}
