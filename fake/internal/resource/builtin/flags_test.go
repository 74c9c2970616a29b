package builtin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/resource"
)

// TestResourceFlags compares the flags of all types with the strategies of a real server. It has a
// set of types for each flag.
func TestResourceFlags(t *testing.T) {
	plurals := func(has func(*resource.Resource) bool) map[string]bool {
		set := make(map[string]bool)
		for _, r := range Table().Stored() {
			if has(r) {
				set[r.Plural] = true
			}
		}
		return set
	}
	set := func(names ...string) map[string]bool {
		m := make(map[string]bool)
		for _, name := range names {
			m[name] = true
		}
		return m
	}
	require.Equal(t, set("endpoints", "events", "limitranges", "services", "leases", "runtimeclasses",
		"clusterroles", "clusterrolebindings", "roles", "rolebindings"),
		plurals(func(r *resource.Resource) bool { return r.AllowCreateOnUpdate }))

	require.Equal(t, set("clustertrustbundles", "podcertificaterequests", "poddisruptionbudgets", "csidrivers", "csinodes",
		"csistoragecapacities", "volumeattachments", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
		"mutatingwebhookconfigurations", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
		"validatingwebhookconfigurations", "leases", "runtimeclasses", "devicetaintrules", "storageversionmigrations", "customresourcedefinitions",
		"apiservices"),
		plurals(func(r *resource.Resource) bool { return !r.AllowUnconditionalUpdate }))

	require.Equal(t, set("namespaces", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "resourcequotas",
		"serviceaccounts", "services", "csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses",
		"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"),
		plurals(func(r *resource.Resource) bool { return r.ReturnDeletedObject }))

	require.Equal(t, set("nodes"), plurals(func(r *resource.Resource) bool { return r.StatusOnCreate }))
	for name, want := range map[string]map[string]bool{
		"approval": set("certificatesigningrequests"),
		"finalize": set("namespaces"),
		"proxy":    set("nodes", "pods", "services"),
		"scale":    set("deployments", "replicasets", "replicationcontrollers", "statefulsets"),
		"token":    set("serviceaccounts"),
	} {
		require.Equal(t, want, plurals(func(r *resource.Resource) bool { return r.Subresource(name) != nil }), name)
	}

	require.Equal(t, set("pods", "podtemplates", "replicationcontrollers", "daemonsets", "deployments", "replicasets", "statefulsets",
		"horizontalpodautoscalers", "customresourcedefinitions", "cronjobs", "jobs", "ingressclasses", "ingresses", "networkpolicies", "poddisruptionbudgets",
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations",
		"validatingadmissionpolicies", "validatingadmissionpolicybindings", "validatingwebhookconfigurations",
		"endpointslices", "flowschemas", "prioritylevelconfigurations", "deviceclasses", "devicetaintrules", "resourceslices"),
		plurals(func(r *resource.Resource) bool { return r.HasGeneration }))
}

// The versions of DeviceTaintRules before v1 allow what v1 does not.
func TestDeviceTaintRuleVersions(t *testing.T) {
	for version, deprecation := range map[string]string{
		"v1":       "",
		"v1beta2":  "", // deprecated in v1.39
		"v1alpha3": "resource.k8s.io/v1alpha3 DeviceTaintRule is deprecated in v1.36+, unavailable in v1.39+",
	} {
		r := AllVersions().Lookup("resource.k8s.io", version, "devicetaintrules")
		require.Equal(t, version != "v1", r.AllowUnconditionalUpdate, version)
		require.Equal(t, version != "v1", r.ReturnDeletedObject, version)
		require.Equal(t, deprecation, r.Deprecation, version)
	}
	require.Equal(t, "certificates.k8s.io/v1beta1 ClusterTrustBundle is deprecated in v1.37+, unavailable in v1.40+; use certificates.k8s.io/v1 ClusterTrustBundle",
		AllVersions().Lookup("certificates.k8s.io", "v1beta1", "clustertrustbundles").Deprecation)
}

// A write owns no field that the server resets (kubernetes/kubernetes#137715, #140654).
func TestPodCertificateRequestVersions(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		r := AllVersions().Lookup("certificates.k8s.io", version, "podcertificaterequests")
		require.NotNil(t, r, version)
		require.Equal(t, []string{"status"}, r.ResetFields, version)
		require.Equal(t, []string{"spec", "metadata"}, r.Subresource("status").ResetFields, version)
	}
}

// An update of any resource resets the status, an update of any status the spec, and neither owns
// what it resets (kubernetes/kubernetes#137689).
func TestStatusResetFields(t *testing.T) {
	for _, r := range AllVersions().Stored() {
		if sub := r.Subresource("status"); sub != nil {
			require.Contains(t, r.ResetFields, "status", "%s, %s", r.Plural, r.Version)
			require.Contains(t, sub.ResetFields, "spec", "%s, %s", r.Plural, r.Version)
		}
	}
}
