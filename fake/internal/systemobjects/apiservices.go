package systemobjects

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
			objects = append(objects, s)
		}
	}
	return objects
}
