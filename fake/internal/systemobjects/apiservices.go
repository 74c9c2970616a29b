package systemobjects

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/resource/builtin/apiregistration"
)

// apiServices returns the APIServices of the groups and versions that are served by default.
func apiServices() (objects []runtime.Object) {
	for _, g := range builtin.Table().Groups() {
		for _, version := range g.Versions {
			s := apiregistration.ForBuiltin(schema.GroupVersion{Group: g.Name, Version: version})
			if s == nil {
				continue
			}
			available := helper.NewLocalAvailableAPIServiceCondition()
			available.LastTransitionTime = placeholderTime
			helper.SetAPIServiceCondition(s, available)
			at := placeholderTime
			s.ManagedFields = []metav1.ManagedFieldsEntry{{
				Manager: "kube-apiserver", Operation: metav1.ManagedFieldsOperationUpdate,
				APIVersion: apiregistrationv1.SchemeGroupVersion.String(), Time: &at,
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(apiServiceFields),
			}}
			objects = append(objects, s)
		}
	}
	return objects
}

// apiServiceFields are the fields of an APIService that the server owns after it has created it. The
// status is reset by a create, and not owned.
const apiServiceFields = `{"f:metadata":{"f:labels":{".":{},"f:kube-aggregator.kubernetes.io/automanaged":{}}},` +
	`"f:spec":{"f:group":{},"f:groupPriorityMinimum":{},"f:version":{},"f:versionPriority":{}}}`
