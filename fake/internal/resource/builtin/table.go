package builtin

import (
	"slices"
	"sync"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/admissionregistration"
	"example.com/fakeapi/fake/internal/resource/builtin/apiextensions"
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

// Table returns the table of the built-in types. It is made on first use and shared by all servers
// of the process.
func Table() *resource.Table { return table() }

var table = sync.OnceValue(func() *resource.Table { return resource.NewTable(resources()) })

// resources returns the built-in types in discovery order: groups by the priority that a
// kube-apiserver gives them, versions by preference, resources by name.
func resources() []resource.Resource {
	return slices.Concat(
		core.Resources(),
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
		flowcontrol.Resources(),
		resourcek8sio.Resources(),
		storagemigration.Resources(),
	)
}
