package builtin

import (
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/admissionregistration"
	"example.com/fakeapi/fake/internal/resource/builtin/apiextensions"
	"example.com/fakeapi/fake/internal/resource/builtin/apiregistration"
	"example.com/fakeapi/fake/internal/resource/builtin/apps"
	"example.com/fakeapi/fake/internal/resource/builtin/authentication"
	"example.com/fakeapi/fake/internal/resource/builtin/authorization"
	"example.com/fakeapi/fake/internal/resource/builtin/autoscaling"
	"example.com/fakeapi/fake/internal/resource/builtin/batch"
	"example.com/fakeapi/fake/internal/resource/builtin/certificates"
	"example.com/fakeapi/fake/internal/resource/builtin/coordination"
	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/builtin/discovery"
	"example.com/fakeapi/fake/internal/resource/builtin/events"
	"example.com/fakeapi/fake/internal/resource/builtin/flowcontrol"
	"example.com/fakeapi/fake/internal/resource/builtin/networking"
	"example.com/fakeapi/fake/internal/resource/builtin/node"
	"example.com/fakeapi/fake/internal/resource/builtin/policy"
	"example.com/fakeapi/fake/internal/resource/builtin/rbac"
	"example.com/fakeapi/fake/internal/resource/builtin/resourcek8sio"
	"example.com/fakeapi/fake/internal/resource/builtin/scheduling"
	"example.com/fakeapi/fake/internal/resource/builtin/storage"
	"example.com/fakeapi/fake/internal/resource/builtin/storagemigration"
)

// Table returns the table of the built-in types that kube-apiserver serves by default. It is made
// on first use and shared by all servers of the process.
func Table() *resource.Table { return table() }

var table = sync.OnceValue(func() *resource.Table { return AllVersions().WithServed(servesByDefault) })

// AllVersions returns the table of the built-in types in all versions that can be served.
func AllVersions() *resource.Table { return allVersions() }

var allVersions = sync.OnceValue(func() *resource.Table { return resource.NewTable(withOtherVersions(resources())) })

func servesByDefault(gvr schema.GroupVersionResource) bool { return !isOtherVersion(gvr) }

// TableWithoutValidation returns Table without the validation of the types and their warnings. It
// keeps the rules of metadata, and all of CustomResourceDefinitions and APIServices.
func TableWithoutValidation() *resource.Table { return tableWithoutValidation() }

var tableWithoutValidation = sync.OnceValue(func() *resource.Table { return allWithoutValidation().WithServed(servesByDefault) })

// allWithoutValidation is allVersions without validation.
var allWithoutValidation = sync.OnceValue(func() *resource.Table {
	all := withOtherVersions(resources())
	for i := range all {
		if all[i].Group != apiextensionsv1.GroupName && all[i].Group != apiregistrationv1.GroupName {
			removeValidation(&all[i])
		}
	}
	return resource.NewTable(all)
})

func removeValidation(r *resource.Resource) {
	r.Validate, r.ValidateUpdate, r.ValidateStatusUpdate, r.ValidateDeclaratively = nil, nil, nil, nil
	r.WarningsOnCreate, r.WarningsOnUpdate = nil, nil
	r.AnyFinalizers = true
	for i := range r.Subresources {
		r.Subresources[i].ValidateUpdate, r.Subresources[i].WarningsOnUpdate = nil, nil
	}
}

// resources returns the built-in types in discovery order: groups by the priority that a
// kube-apiserver gives them, versions by preference, resources by name.
func resources() []resource.Resource {
	return slices.Concat(
		core.Resources(),
		apiregistration.Resources(),
		apps.Resources(),
		events.Resources(),
		authentication.Resources(),
		authorization.Resources(),
		autoscaling.Resources(),
		batch.Resources(),
		certificates.Resources(),
		networking.Resources(),
		policy.Resources(),
		rbac.Resources(),
		storage.Resources(),
		admissionregistration.Resources(),
		apiextensions.Resources(),
		scheduling.Resources(),
		coordination.Resources(),
		node.Resources(),
		discovery.Resources(),
		resourcek8sio.Resources(),
		flowcontrol.Resources(),
		storagemigration.Resources(),
	)
}
