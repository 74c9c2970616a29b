package builtin

import (
	"slices"
	"sync"

	"example.com/fakeapi/fake/internal/resource"
)

// Table returns the table of the built-in types. It is made on first use and shared by all servers
// of the process.
func Table() *resource.Table { return table() }

var table = sync.OnceValue(func() *resource.Table { return resource.NewTable(resources()) })

// resources returns the built-in types in discovery order: groups by the priority that a
// kube-apiserver gives them, versions by preference, resources by name.
func resources() []resource.Resource {
	return slices.Concat(
		coreResources(),
		appsResources(),
		eventsResources(),
		authenticationResources(),
		authorizationResources(),
		autoscalingResources(),
		batchResources(),
		certificatesResources(),
		networkingResources(),
		policyResources(),
		rbacResources(),
		storageResources(),
		admissionRegistrationResources(),
		apiExtensionsResources(),
		schedulingResources(),
		coordinationResources(),
		nodeResources(),
		discoveryResources(),
		flowControlResources(),
		resourceK8sIOResources(),
		storageMigrationResources(),
	)
}
