// Package plugins has the admission plugins of kube-apiserver, one file each, under the names that
// its flags --enable-admission-plugins and --disable-admission-plugins use. A plugin reads stored
// objects as they are at the time of the request; none has state of its own.
package plugins

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/admission/policy"
	"example.com/fakeapi/fake/internal/admission/webhook"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Dependencies is what plugins use.
type Dependencies struct {
	Objects Objects
	// Authorizer decides about the permissions that plugins ask for; nil allows everything.
	Authorizer authz.Authorizer
	// GenerateName returns base with a random suffix, as for the generateName of an object.
	GenerateName func(base string) string
	// Now returns the time of the server.
	Now func() time.Time
	// Dynamic is used by the plugins for webhooks and policies.
	Dynamic admission.Dynamic
}

// Objects reads stored objects in their storage versions. The caller may change them.
type Objects interface {
	// Record returns the stored record of an object, nil if there is none. Its fields are those
	// that the resource can be selected by.
	Record(res schema.GroupVersionResource, namespace, name string) *memstore.Record
	// Get returns an object, or NotFound. The namespace of a cluster-scoped resource is "".
	Get(res schema.GroupVersionResource, namespace, name string) (runtime.Object, error)
	// Records returns the stored records in a namespace, or in all namespaces for "", in the order
	// of their keys.
	Records(res schema.GroupVersionResource, namespace string) iter.Seq[*memstore.Record]
	// Prefix returns the prefix of the keys of Records.
	Prefix(res schema.GroupVersionResource, namespace string) string
	// Decode returns the object of a record.
	Decode(res schema.GroupVersionResource, rec *memstore.Record) (runtime.Object, error)
	// Count returns the number of Records.
	Count(res schema.GroupVersionResource, namespace string) int
	// ResourceOf returns the served resource of a kind, or a meta.NoKindMatchError.
	ResourceOf(kind schema.GroupVersionKind) (*resource.Resource, error)
	// List returns the objects of Records.
	List(res schema.GroupVersionResource, namespace string) ([]runtime.Object, error)
}

// plugin is a row of the table of plugins.
type plugin struct {
	name string
	// isDefault reports whether the plugin is enabled by default.
	isDefault bool
	make      func(Dependencies) admission.Interface
}

// table returns the plugins in the order of kube-apiserver. Reviewers are called before
// ResourceQuota, after webhooks.
func table() []plugin {
	return []plugin{
		{"NamespaceLifecycle", true, newNamespaceLifecycle},
		{"NamespaceExists", false, newNamespaceExists},
		{"LimitPodHardAntiAffinityTopology", false, newLimitPodHardAntiAffinityTopology},
		{"LimitRanger", true, newLimitRanger},
		{"ServiceAccount", false, newServiceAccount},
		{"NodeRestriction", false, newNodeRestriction},
		{"TaintNodesByCondition", true, newTaintNodesByCondition},
		{"AlwaysPullImages", false, newAlwaysPullImages},
		{"PodSecurity", true, newPodSecurity},
		{"PodNodeSelector", false, newPodNodeSelector},
		{"Priority", true, newPriority},
		{"DefaultTolerationSeconds", true, newDefaultTolerationSeconds},
		{"ExtendedResourceToleration", false, newExtendedResourceToleration},
		{"DefaultStorageClass", true, newDefaultStorageClass},
		{"StorageObjectInUseProtection", true, newStorageObjectInUseProtection},
		{"OwnerReferencesPermissionEnforcement", false, newOwnerReferencesPermission},
		{"PersistentVolumeClaimResize", true, newPersistentVolumeClaimResize},
		{"RuntimeClass", true, newRuntimeClass},
		{"CertificateApproval", true, newCertificateApproval},
		{"CertificateSigning", true, newCertificateSigning},
		{"ClusterTrustBundleAttest", true, newClusterTrustBundleAttest},
		{"CertificateSubjectRestriction", true, newCertificateSubjectRestriction},
		{"DefaultIngressClass", true, newDefaultIngressClass},
		{"DenyServiceExternalIPs", false, newDenyServiceExternalIPs},
		{"PodTopologyLabels", true, newPodTopologyLabels},
		{"NodeDeclaredFeatureValidator", true, newNodeDeclaredFeatures},
		{"PodResizeValidator", true, newPodResizeValidator},
		{"MutatingAdmissionPolicy", true, func(d Dependencies) admission.Interface { return policy.NewMutating(d.Dynamic) }},
		{"MutatingAdmissionWebhook", true, func(d Dependencies) admission.Interface { return webhook.NewMutating(d.Dynamic) }},
		{"ValidatingAdmissionPolicy", true, func(d Dependencies) admission.Interface { return policy.NewValidating(d.Dynamic) }},
		{"ValidatingAdmissionWebhook", true, func(d Dependencies) admission.Interface { return webhook.NewValidating(d.Dynamic) }},
		{"ResourceQuota", true, newResourceQuota},
	}
}

// New returns the chain of the plugins with names, which Enabled has returned, and of reviewers.
func New(names []string, reviewers []*admission.Reviewer, d Dependencies) admission.Chain {
	var chain, last admission.Chain
	for _, p := range table() {
		switch {
		case !slices.Contains(names, p.name):
		case p.name == "ResourceQuota":
			last = append(last, p.make(d))
		default:
			chain = append(chain, p.make(d))
		}
	}
	for _, r := range reviewers {
		chain = append(chain, r)
	}
	return append(chain, last...)
}

// Enabled returns the names of the plugins that are enabled by default, and of those in enable, but
// without those in disable. A name that is unknown or in both is an error.
func Enabled(enable, disable []string) (names []string, err error) {
	all := table()
	for _, name := range slices.Concat(enable, disable) {
		if !slices.ContainsFunc(all, func(p plugin) bool { return p.name == name }) {
			return nil, fmt.Errorf("admission plugin %q is unknown, only these are known: %s", name, strings.Join(Names(), ", "))
		}
	}
	for _, name := range enable {
		if slices.Contains(disable, name) {
			return nil, fmt.Errorf("admission plugin %q is both enabled and disabled", name)
		}
	}
	for _, p := range all {
		if (p.isDefault || slices.Contains(enable, p.name)) && !slices.Contains(disable, p.name) {
			names = append(names, p.name)
		}
	}
	return names, nil
}

// Names returns the names of all plugins, in the order of their calls.
func Names() []string {
	var names []string
	for _, p := range table() {
		names = append(names, p.name)
	}
	return names
}
