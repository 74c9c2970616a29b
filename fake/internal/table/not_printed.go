package table

import (
	"regexp"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.com/fakeapi/fake/internal/codec"
)

// notPrinted has fields of built-in types that no Printer reads.
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

// notPrintedCustom returns the fields of a custom resource that columns do not read: managedFields,
// if each path is known to lead to something else.
func notPrintedCustom(columns []apiextensionsv1.CustomResourceColumnDefinition) codec.FieldSet {
	for _, column := range columns {
		if !customPath.MatchString(column.JSONPath) || strings.Contains(column.JSONPath, "managedFields") {
			return codec.FieldSet{}
		}
	}
	return codec.FieldSet{"metadata": fieldSet("managedFields")}
}

// customPath matches the path of the spec, the status, a field of the metadata, or of what is
// below.
var customPath = regexp.MustCompile(`^\.(spec|status|metadata\.[a-zA-Z]+)\b[^{}]*$`)
