package kubeapiserver

import (
	"slices"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// defaultServiceClusterIPRange is that of kube-apiserver.
const defaultServiceClusterIPRange = "10.0.0.0/24"

// clusterIPRanges returns the ranges of --service-cluster-ip-range.
func (s *serviceFlags) clusterIPRanges() []string {
	if s.clusterIPRange == "" {
		return []string{defaultServiceClusterIPRange}
	}
	return strings.Split(s.clusterIPRange, ",")
}

func (f *Flags) serviceOptions(directory) ([]fakeapi.Option, error) {
	return []fakeapi.Option{
		fakeapi.WithServiceClusterIPRange(f.services.clusterIPRanges()...),
		fakeapi.WithServiceNodePortRange(f.services.nodePortRange.String()),
	}, nil
}

// apiOptions returns the APIs that are enabled and disabled.
func (f *Flags) apiOptions(directory) ([]fakeapi.Option, error) {
	config := map[string]string{}
	for key, value := range f.features.runtimeConfig {
		switch {
		case key == "api/legacy":
		case key == "v1" || strings.HasPrefix(key, "v1/") || key == "api/v1" || strings.HasPrefix(key, "api/v1/"):
			config["/v1"] = value
		default:
			config[key] = value
		}
	}
	if len(config) == 0 {
		return nil, nil
	}
	return []fakeapi.Option{fakeapi.WithRuntimeConfig(config)}, nil
}

// serviceAccountPlugin is enabled by default, as in a cluster, and disabled by envtest.
const serviceAccountPlugin = "ServiceAccount"

// admissionPlugins returns the admission plugins of kube-apiserver v1.37.
func admissionPlugins() []string {
	return []string{
		"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction",
		"ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultStorageClass", "DefaultTolerationSeconds", "DenyServiceExternalIPs",
		"EventRateLimit", "ExtendedResourceToleration", "ImagePolicyWebhook", "JobValidation", "LimitPodHardAntiAffinityTopology",
		"LimitRanger", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NamespaceAutoProvision", "NamespaceExists",
		"NamespaceLifecycle", "NodeDeclaredFeatureValidator", "NodeRestriction", "OwnerReferencesPermissionEnforcement",
		"PersistentVolumeClaimResize", "PodGroupProtection", "PodGroupWorkloadExists", "PodNodeSelector", "PodResizeValidator",
		"PodSecurity", "PodTolerationRestriction", "PodTopologyLabels", "Priority", "ResourceQuota", "RuntimeClass",
		serviceAccountPlugin, "StorageObjectInUseProtection", "TaintNodesByCondition", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
	}
}

// options returns the plugins that are enabled and disabled, and the names of those that flags
// enable and that do not exist here.
func (a *admissionFlags) options() (opts []fakeapi.Option, missing []string) {
	isSupported := func(name string) bool { return slices.Contains(fakeapi.AdmissionPlugins(), name) }
	var enabled, disabled []string
	for _, name := range a.enabled {
		if isSupported(name) {
			enabled = append(enabled, name)
		} else {
			missing = append(missing, name)
		}
	}
	for _, name := range a.disabled {
		if isSupported(name) {
			disabled = append(disabled, name)
		}
	}
	if !slices.Contains(a.disabled, serviceAccountPlugin) {
		enabled = append(enabled, serviceAccountPlugin)
	}
	return []fakeapi.Option{fakeapi.WithAdmissionPlugins(enabled...), fakeapi.WithoutAdmissionPlugins(disabled...)}, missing
}
