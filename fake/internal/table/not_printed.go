package table

import (
	"sync"

	"example.com/fakeapi/fake/internal/codec"
)

// NotPrinted returns fields of built-in types that no Printer reads: those that take long to decode.
// It must not be changed.
func NotPrinted() codec.FieldSet { return notPrinted() }

var notPrinted = sync.OnceValue(func() codec.FieldSet {
	metadata := fieldSet("managedFields", "uid", "resourceVersion", "generation", "selfLink", "generateName")
	container := fieldSet("command", "args", "workingDir", "ports", "envFrom", "env", "resources", "resizePolicy", "volumeMounts",
		"volumeDevices", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "terminationMessagePath",
		"terminationMessagePolicy", "imagePullPolicy", "securityContext")
	pod := fieldSet("volumes", "ephemeralContainers", "affinity", "tolerations", "hostAliases", "securityContext", "dnsConfig",
		"topologySpreadConstraints", "imagePullSecrets", "overhead", "resourceClaims", "restartPolicy", "dnsPolicy",
		"terminationGracePeriodSeconds", "schedulerName", "enableServiceLinks")
	pod["containers"], pod["initContainers"] = container, container
	template := codec.FieldSet{"metadata": metadata, "spec": pod}
	spec := fieldSet()
	for name, below := range pod {
		spec[name] = below
	}
	spec["template"] = template
	spec["jobTemplate"] = codec.FieldSet{"metadata": metadata, "spec": {"template": template}}
	return codec.FieldSet{
		"metadata": metadata, "spec": spec, "template": template,
		"status": {"containerStatuses": containerStatus(), "initContainerStatuses": containerStatus(), "images": nil},
	}
})

func containerStatus() codec.FieldSet {
	return fieldSet("image", "imageID", "containerID", "allocatedResources", "resources", "volumeMounts", "user")
}

// fieldSet returns a set of fields with all below them.
func fieldSet(names ...string) codec.FieldSet {
	set := make(codec.FieldSet, len(names))
	for _, name := range names {
		set[name] = nil
	}
	return set
}
