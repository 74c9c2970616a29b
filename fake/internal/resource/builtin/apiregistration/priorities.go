package apiregistration

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// ManagedLabel is the label of an APIService that the server manages. Those of built-in groups have
// the value ManagedOnStart: they are created when a server starts. Those of custom resources have
// ManagedAlways: they are also created, updated and deleted while it runs.
const (
	ManagedLabel   = "kube-aggregator.kubernetes.io/automanaged"
	ManagedOnStart = "onstart"
	ManagedAlways  = "true"
)

// The priorities of the APIServices of custom resources.
const (
	customGroupPriority   = 1000
	customVersionPriority = 100
)

// ForBuiltin returns the APIService of a built-in group and version. It is nil for those that have
// none, such as apiregistration.k8s.io, which is always the first group.
func ForBuiltin(gv schema.GroupVersion) *apiregistrationv1.APIService {
	group := groupPriorities[gv.Group]
	if group == 0 {
		return nil
	}
	version := versionPriorities[gv]
	switch {
	case version > 0:
	case strings.Contains(gv.Version, "alpha"):
		version = 1
	case strings.Contains(gv.Version, "beta"):
		version = 9
	default:
		version = 15
	}
	return newManaged(gv, ManagedOnStart, group, version)
}

// ForCustom returns the APIService of a group and version of custom resources.
func ForCustom(gv schema.GroupVersion) *apiregistrationv1.APIService {
	return newManaged(gv, ManagedAlways, customGroupPriority, customVersionPriority)
}

func newManaged(gv schema.GroupVersion, managed string, group, version int32) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: gv.Version + "." + gv.Group, Labels: map[string]string{ManagedLabel: managed}},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: gv.Group, Version: gv.Version, GroupPriorityMinimum: group, VersionPriority: version,
		},
	}
}

// groupPriorities are the priorities of the groups of a kube-apiserver. It must not be changed.
var groupPriorities = map[string]int32{
	"":                             18000,
	"apps":                         17800,
	"events.k8s.io":                17750,
	"authentication.k8s.io":        17700,
	"authorization.k8s.io":         17600,
	"autoscaling":                  17500,
	"batch":                        17400,
	"certificates.k8s.io":          17300,
	"networking.k8s.io":            17200,
	"policy":                       17100,
	"rbac.authorization.k8s.io":    17000,
	"storage.k8s.io":               16800,
	"apiextensions.k8s.io":         16700,
	"admissionregistration.k8s.io": 16700,
	"scheduling.k8s.io":            16600,
	"coordination.k8s.io":          16500,
	"node.k8s.io":                  16300,
	"discovery.k8s.io":             16200,
	"resource.k8s.io":              16200,
	"flowcontrol.apiserver.k8s.io": 16100,
	"internal.apiserver.k8s.io":    16000,
	"storagemigration.k8s.io":      15800,
}

// versionPriorities are those that do not follow from the stability of the version. It must not be
// changed.
var versionPriorities = map[schema.GroupVersion]int32{
	{Group: "", Version: "v1"}:                                   1,
	{Group: "autoscaling", Version: "v2"}:                        30,
	{Group: "events.k8s.io", Version: "v1beta1"}:                 5,
	{Group: "admissionregistration.k8s.io", Version: "v1beta1"}:  12,
	{Group: "admissionregistration.k8s.io", Version: "v1alpha1"}: 9,
	{Group: "coordination.k8s.io", Version: "v1beta1"}:           13,
	{Group: "coordination.k8s.io", Version: "v1alpha2"}:          12,
	{Group: "discovery.k8s.io", Version: "v1beta1"}:              12,
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"}:       21,
	{Group: "internal.apiserver.k8s.io", Version: "v1alpha1"}:    9,
	{Group: "resource.k8s.io", Version: "v1"}:                    20,
	{Group: "resource.k8s.io", Version: "v1beta2"}:               15,
}
