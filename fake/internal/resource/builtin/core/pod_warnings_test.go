package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestPodWarnings(t *testing.T) {
	for _, test := range []struct {
		name, pod string
		want      []string
	}{
		{"name", "metadata: {name: a.b}", []string{
			"metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"}},
		{"deprecated labels of nodes", `spec: {nodeSelector: {beta.kubernetes.io/os: linux, beta.kubernetes.io/arch: a, disk: ssd},
			topologySpreadConstraints: [{topologyKey: failure-domain.beta.kubernetes.io/zone, labelSelector: {}}],
			affinity: {nodeAffinity: {
				requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}, {matchExpressions: [{key: a}, {key: beta.kubernetes.io/instance-type}]}]},
				preferredDuringSchedulingIgnoredDuringExecution: [{preference: {matchExpressions: [{key: failure-domain.beta.kubernetes.io/region, values: [a, -b]}]}}]}}}`, []string{
			`spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead`,
			`spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[1].key: beta.kubernetes.io/instance-type is deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key: failure-domain.beta.kubernetes.io/region is deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[1]: -b is invalid, ` + badLabelValue,
			`spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead`}},
		{"no selectors", `spec: {topologySpreadConstraints: [{topologyKey: a}], affinity: {
			podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}, {labelSelector: {}}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]},
			podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}}}`, []string{
			"spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
			"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod",
			"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod",
			"spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod",
			"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod"}},
		{"annotations", `metadata: {annotations: {scheduler.alpha.kubernetes.io/critical-pod: "", security.alpha.kubernetes.io/sysctls: a=b, security.alpha.kubernetes.io/unsafe-sysctls: a=b}}`, []string{
			`metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead`,
			`metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use the "sysctls" field instead`,
			`metadata.annotations[security.alpha.kubernetes.io/unsafe-sysctls]: non-functional in v1.11+; use the "sysctls" field instead`}},
		{"seccomp annotations", `{metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: a, container.seccomp.security.alpha.kubernetes.io/a: a, container.seccomp.security.alpha.kubernetes.io/b: a, container.seccomp.security.alpha.kubernetes.io/x: a}},
			spec: {initContainers: [{name: a}], containers: [{name: b, securityContext: {seccompProfile: {type: Unconfined}}}]}}`, []string{
			`metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead`,
			`metadata.annotations[container.seccomp.security.alpha.kubernetes.io/a]: non-functional in v1.27+; use the "seccompProfile" field instead`}},
		{"profiles in annotations, in the order of the containers", `{metadata: {annotations: {container.seccomp.security.alpha.kubernetes.io/a: a, container.seccomp.security.alpha.kubernetes.io/b: b}},
			spec: {initContainers: [{name: a, resources: {limits: {memory: 100m}}}], containers: [{name: b}]}}`, []string{
			`metadata.annotations[container.seccomp.security.alpha.kubernetes.io/a]: non-functional in v1.27+; use the "seccompProfile" field instead`,
			`spec.initContainers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer`,
			`metadata.annotations[container.seccomp.security.alpha.kubernetes.io/b]: non-functional in v1.27+; use the "seccompProfile" field instead`}},
		{"lists", `spec: {hostAliases: [{ip: 10.0.0.1}, {ip: 10.0.0.2}, {ip: 10.0.0.1}], imagePullSecrets: [{name: a}, {name: ""}, {name: a}, {name: ""}]}`, []string{
			`spec.hostAliases[2].ip: duplicate ip "10.0.0.1"`,
			`spec.imagePullSecrets[2].name: duplicate name "a"`,
			`spec.imagePullSecrets[3].name: duplicate name ""`,
			`spec.imagePullSecrets[1].name: invalid empty name ""`,
			`spec.imagePullSecrets[3].name: invalid empty name ""`}},
		{"values", `spec: {terminationGracePeriodSeconds: -1, overhead: {memory: 100m, ephemeral-storage: 1500m, cpu: 10m}}`, []string{
			`spec.overhead[memory]: fractional byte value "100m" is invalid, must be an integer`,
			`spec.overhead[ephemeral-storage]: fractional byte value "1500m" is invalid, must be an integer`,
			"spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"}},
		{"addresses", `spec: {dnsConfig: {nameservers: [10.0.0.1, "2001:db8:0::1", 010.0.0.1]}, hostAliases: [{ip: "::ffff:10.0.0.1"}]}`, []string{
			`spec.dnsConfig.nameservers[1]: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")`,
			`spec.dnsConfig.nameservers[2]: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"`,
			`spec.hostAliases[0].ip: non-standard IP address "::ffff:10.0.0.1" is invalid: use "10.0.0.1"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := validatetest.Parse[corev1.Pod](t, test.pod)
			if pod.Name == "" {
				pod.Name = "p"
			}
			require.Equal(t, test.want, podWarnings(pod))
		})
	}
}

func TestPodTemplateWarnings(t *testing.T) {
	const annotation = "container.apparmor.security.beta.kubernetes.io/"
	template := validatetest.Parse[corev1.PodTemplate](t, `{template: {metadata: {name: a.b, annotations: {`+annotation+`a: unconfined, `+annotation+`b: unconfined}},
		spec: {containers: [{name: a}, {name: b, securityContext: {appArmorProfile: {type: Unconfined}}}], nodeSelector: {beta.kubernetes.io/os: linux}, terminationGracePeriodSeconds: -1}}}`)
	want := []string{
		`template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
		`template.metadata.annotations[` + annotation + `a]: deprecated since v1.30; use the "appArmorProfile" field instead`,
		`template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
	}
	require.Equal(t, want, podTemplateWarnings(template))
	var root *validate.Path
	require.Equal(t, want, PodTemplateWarnings(&template.Template, root.Child("template")))

	old := template.DeepCopy()
	require.Empty(t, podTemplateUpdateWarnings(template, old), "unchanged")
	template.Generation = 2
	require.Equal(t, want, podTemplateUpdateWarnings(template, old))

	template.Template.Spec.SecurityContext = &corev1.PodSecurityContext{AppArmorProfile: &corev1.AppArmorProfile{}}
	require.Len(t, podTemplateWarnings(template), 2, "a profile for the pod")
}

func TestPodStatusWarnings(t *testing.T) {
	status := validatetest.Parse[corev1.PodStatus](t, `{podIPs: [{ip: 10.0.0.1}, {ip: "2001:DB8::1"}], hostIPs: [{ip: 010.0.0.1}]}`)
	require.Equal(t, []string{
		`status.podIPs[1].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`,
		`status.hostIPs[0].ip: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"`,
	}, podStatusWarnings(status))
}
