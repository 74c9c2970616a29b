package managed

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/fakeapi/fake/internal/resource"
)

// path is a field named from the top of an object, for instance metadata, labels.
type path []string

// resets are the fields that a write at the resource or subresource cannot
// change, because the server sets them back, and hence must not own (SA-32). They
// are what the strategies of the real server declare, type by type.
func resets(res *resource.Resource, subresource string) []path {
	group, plural := res.Store.Group, res.Store.Resource
	switch {
	case !res.Status, group == "networking.k8s.io" && plural == "servicecidrs":
		// The real strategy of servicecidrs names a version that does not exist.
		return nil
	case subresource == "status":
		return statusResets(schema.GroupResource{Group: group, Resource: plural})
	case group == "certificates.k8s.io" && plural == "certificatesigningrequests":
		return []path{{"spec"}, {"status"}}
	}
	return []path{{"status"}}
}

// statusResets are the resets of a type's status subresource. Some types keep
// all metadata from it, the others at most some.
func statusResets(gr schema.GroupResource) []path {
	spec := path{"spec"}
	switch gr.String() {
	case "pods":
		return []path{spec, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}}
	case "deployments.apps":
		return []path{spec, {"metadata", "labels"}}
	case "certificatesigningrequests.certificates.k8s.io":
		return []path{spec, {"status", "conditions"}}
	case "csinodes.storage.k8s.io",
		"devicetaintrules.resource.k8s.io",
		"flowschemas.flowcontrol.apiserver.k8s.io",
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
		"resourceclaims.resource.k8s.io",
		"validatingadmissionpolicies.admissionregistration.k8s.io",
		"volumeattachments.storage.k8s.io":
		return []path{spec, {"metadata"}}
	}
	return []path{spec}
}

// filters are the resets as the library wants them, the same in every version.
func filters(paths []path, versions []schema.GroupVersion) map[fieldpath.APIVersion]fieldpath.Filter {
	if len(paths) == 0 {
		return nil
	}
	exclude := fieldpath.NewSet()
	for _, p := range paths {
		var parts fieldpath.Path
		for _, name := range p {
			parts = append(parts, fieldpath.PathElement{FieldName: &name})
		}
		exclude.Insert(parts)
	}
	byVersion := make(map[fieldpath.APIVersion]fieldpath.Filter, len(versions))
	for _, gv := range versions {
		byVersion[fieldpath.APIVersion(gv.String())] = fieldpath.NewExcludeSetFilter(exclude)
	}
	return byVersion
}
