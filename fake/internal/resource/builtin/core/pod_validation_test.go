package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// fullPod has most of what pods have, so that its validation passes through most rules.
const fullPod = `
metadata:
  name: p
  namespace: team
  labels: {app: web}
  annotations: {kubectl.kubernetes.io/restartedAt: now, controller.kubernetes.io/pod-deletion-cost: "-5"}
spec:
  serviceAccountName: web
  nodeName: node-1.example
  nodeSelector: {kubernetes.io/os: linux}
  hostname: web
  subdomain: db
  priorityClassName: high
  runtimeClassName: fast
  preemptionPolicy: Never
  activeDeadlineSeconds: 100
  os: {name: linux}
  overhead: {cpu: 10m, memory: 1Mi}
  dnsConfig: {nameservers: [10.0.0.1, "2001:db8::1"], searches: [a.example, _b.c., .], options: [{name: ndots, value: "2"}]}
  hostAliases: [{ip: 10.0.0.2, hostnames: [db.example]}]
  imagePullSecrets: [{name: s}]
  readinessGates: [{conditionType: example.com/Warm}]
  resourceClaims: [{name: gpu, resourceClaimName: claim}, {name: net, resourceClaimTemplateName: template}]
  securityContext:
    runAsUser: 1000
    runAsNonRoot: true
    fsGroup: 0
    supplementalGroups: [1, 2]
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
    appArmorProfile: {type: Localhost, localhostProfile: p}
  tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  - {key: dedicated, value: web, effect: NoSchedule}
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: web}}}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: disk, operator: In, values: [ssd]}, {key: cores, operator: Gt, values: ["4"]}]
          matchFields: [{key: metadata.name, operator: In, values: [node-1]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, namespaces: [team], labelSelector: {matchLabels: {app: web}}}}
  initContainers:
  - {name: init, image: i, resources: {requests: {cpu: 1}}}
  - {name: proxy, image: i, restartPolicy: Always, startupProbe: {tcpSocket: {port: 1}}}
  containers:
  - name: c
    image: registry.example.com/team/web:1.2
    ports: [{name: http, containerPort: 80}]
    env: [{name: A, value: b}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 1, memory: 128Mi}}
    livenessProbe: {httpGet: {port: 80}}
    volumeMounts: [{name: v, mountPath: /v}, {name: token, mountPath: /token}]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
  volumes:
  - {name: v, configMap: {name: m}}
  - name: token
    projected: {sources: [{serviceAccountToken: {path: token, expirationSeconds: 3607}}, {configMap: {name: ca, items: [{key: k, path: ca.crt}]}}]}
`

// defaultedPod returns a pod as it is when it is validated.
func defaultedPod(t testing.TB, text string) *corev1.Pod {
	t.Helper()
	pod := validatetest.Parse[corev1.Pod](t, text)
	setPodDefaults(pod)
	preparePodForCreate(t.Context(), pod)
	return pod
}

// requirePodErrors validates a new pod for each case: format with the part in it.
func requirePodErrors(t *testing.T, format string, cases []validationCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.part[:min(len(c.part), 100)], func(t *testing.T) {
			require.Equal(t, c.want, validatetest.Texts(validatePod(defaultedPod(t, fmt.Sprintf(format, c.part)))))
		})
	}
}

const (
	badName       = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	badLabelValue = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	badSearch     = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
	badSysctl     = `must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`
)

func TestValidatePodScheduling(t *testing.T) {
	requirePodErrors(t, "spec: {containers: [{name: c, image: i}], %s}", []validationCase{
		{`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a b, operator: In, values: [c d]}, {key: a, operator: Exists, values: [b]}]}]}}}`, []string{
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": ` + badName,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "c d": ` + badLabelValue,
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
		}},
		{`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [A, b]}, {key: spec, operator: Exists}]}]}}}`, []string{
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0]: Invalid value: "A": ` + validatetest.BadSubdomain,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[1].operator: Invalid value: "Exists": not a valid selector operator`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[1].key: Invalid value: "spec": not a valid field selector key`,
		}},
		{`affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: In, values: [c d]}]}}]}}`, nil},
		{`affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a b, namespaces: [A], namespaceSelector: {matchLabels: {a: b c}}}]}}`, []string{
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector.matchLabels: Invalid value: "b c": ` + badLabelValue,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid value: "A": ` + validatetest.BadLabel,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "a b": ` + badName,
		}},
		{`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, matchLabelKeys: [a], mismatchLabelKeys: [b]}]}}`, []string{
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
		}},
		{`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, matchLabelKeys: [a, b c], mismatchLabelKeys: [a], labelSelector: {}}]}}`, []string{
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[1]: Invalid value: "b c": ` + badName,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys`,
		}},
		{`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, matchLabelKeys: [x, a], labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: Exists}]}}]}}`, []string{
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][1]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`,
		}},
		{`affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, matchLabelKeys: [x, a], labelSelector: {matchLabels: {a: b}}}]}}`, nil},
		{`topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, minDomains: 0, nodeAffinityPolicy: A, nodeTaintsPolicy: B, matchLabelKeys: [a]}]`, []string{
			`spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero`,
			`spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero`,
			`spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`,
			`spec.topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: "A": supported values: "Honor", "Ignore"`,
			`spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "B": supported values: "Honor", "Ignore"`,
			`spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
		}},
		{`topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b c}}}]`, []string{
			`spec.topologySpreadConstraints[0].labelSelector.matchLabels: Invalid value: "b c": ` + badLabelValue,
		}},
		{`tolerations: [{}, {key: a b, operator: Lt, value: "1"}, {key: a, value: b c}, {key: a, operator: In}]`, []string{
			"spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
			`spec.tolerations[1].key: Invalid value: "a b": ` + badName,
			`spec.tolerations[1].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"`,
			`spec.tolerations[2].operator: Invalid value: "b c": ` + badLabelValue,
			`spec.tolerations[3].operator: Unsupported value: "In": supported values: "Equal", "Exists"`,
		}},
		{`schedulingGates: [{name: a b}]`, []string{
			`spec.schedulingGates[0]: Invalid value: "a b": ` + badName,
		}},
		{`schedulingGates: [{name: a}, {name: b}, {name: a}]`, []string{`spec.schedulingGates[2]: Duplicate value: "a"`}},
		{`schedulingGates: [{name: a}], nodeName: node`, []string{
			`spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared`,
		}},
		{`resourceClaims: [{}, {name: A, resourceClaimName: B, resourceClaimTemplateName: C}, {name: A, resourceClaimName: b}]`, []string{
			`spec.resourceClaims[0].name: Required value`,
			"spec.resourceClaims[0]: Invalid value: {\"Name\":\"\",\"ResourceClaimName\":null,\"ResourceClaimTemplateName\":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
			`spec.resourceClaims[1].name: Invalid value: "A": ` + validatetest.BadLabel,
			"spec.resourceClaims[1]: Invalid value: {\"Name\":\"A\",\"ResourceClaimName\":\"B\",\"ResourceClaimTemplateName\":\"C\"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
			`spec.resourceClaims[1].resourceClaimName: Invalid value: "B": ` + validatetest.BadSubdomain,
			`spec.resourceClaims[1].resourceClaimTemplateName: Invalid value: "C": ` + validatetest.BadSubdomain,
			`spec.resourceClaims[2].name: Duplicate value: "A"`,
		}},
		{`preemptionPolicy: Sometimes`, []string{
			`spec.preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"`,
		}},
		{`preemptionPolicy: ""`, []string{
			`spec.preemptionPolicy: Required value`,
		}},
		{`priorityClassName: A`, []string{
			`spec.priorityClassName: Invalid value: "A": ` + validatetest.BadSubdomain,
		}},
		{`runtimeClassName: A`, []string{
			`spec.runtimeClassName: Invalid value: "A": ` + validatetest.BadSubdomain,
		}},
		{`overhead: {cpu: -1, a: 1}`, []string{
			`spec.overhead.limits[a]: Invalid value: "a": must be a standard resource type or fully qualified`,
			`spec.overhead.limits[a]: Invalid value: "a": must be a standard resource for containers`,
			`spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
		}},
		{`activeDeadlineSeconds: 2147483648`, []string{
			`spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive`,
		}},
		{`serviceAccountName: A_`, []string{
			`spec.serviceAccountName: Invalid value: "A_": ` + validatetest.BadSubdomain,
		}},
		{`terminationGracePeriodSeconds: -1`, nil}, // becomes 1
		{`subdomain: a.b`, []string{
			`spec.subdomain: Invalid value: "a.b": must not contain dots`,
		}},
	})
}

func TestValidatePodSecurity(t *testing.T) {
	requirePodErrors(t, "spec: {containers: [{name: c, image: i}], %s}", []validationCase{
		{`hostPID: true, shareProcessNamespace: true`, []string{
			`spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled`,
		}},
		{`hostPID: true, shareProcessNamespace: false`, nil},
		{`shareProcessNamespace: true`, nil},
		{`securityContext: {supplementalGroupsPolicy: Strict, seLinuxChangePolicy: Recursive}`, nil},
		{`securityContext: {supplementalGroupsPolicy: Merge, seLinuxChangePolicy: MountOption}`, nil},
		{`hostUsers: false, hostNetwork: true, hostIPC: true`, []string{
			"spec.hostNetwork: Forbidden: when `hostUsers` is false",
			"spec.HostIPC: Forbidden: when `hostUsers` is false",
		}},
		{`securityContext: {runAsUser: -1, runAsGroup: -1, fsGroupChangePolicy: A, supplementalGroupsPolicy: B, seLinuxChangePolicy: C, seccompProfile: {type: RuntimeDefault, localhostProfile: a}, appArmorProfile: {}}`, []string{
			`spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.securityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.securityContext.fsGroupChangePolicy: Unsupported value: "A": supported values: "Always", "OnRootMismatch"`,
			`spec.securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost`,
			`spec.securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set`,
			`spec.securityContext.supplementalGroupsPolicy: Unsupported value: "B": supported values: "Merge", "Strict"`,
			`spec.securityContext.seLinuxChangePolicy: Unsupported value: "C": supported values: "MountOption", "Recursive"`,
		}},
		{`securityContext: {sysctls: [{}, {name: A}, {name: a..b}, {name: a-}, {name: -a}, {name: a._b}, {name: a/-b}, {name: "a{"}, {name: ` + strings.Repeat("a", 254) + `}]}`, []string{
			`spec.securityContext.sysctls[0].name: Required value`,
			`spec.securityContext.sysctls[1].name: Invalid value: "A": ` + badSysctl,
			`spec.securityContext.sysctls[2].name: Invalid value: "a..b": ` + badSysctl,
			`spec.securityContext.sysctls[3].name: Invalid value: "a-": ` + badSysctl,
			`spec.securityContext.sysctls[4].name: Invalid value: "-a": ` + badSysctl,
			`spec.securityContext.sysctls[5].name: Invalid value: "a._b": ` + badSysctl,
			`spec.securityContext.sysctls[6].name: Invalid value: "a/-b": ` + badSysctl,
			`spec.securityContext.sysctls[7].name: Invalid value: "a{": ` + badSysctl,
			`spec.securityContext.sysctls[8].name: Invalid value: "` + strings.Repeat("a", 254) + `": ` + badSysctl,
		}},
		{`hostIPC: true, securityContext: {sysctls: [{name: kernel.sem}]}`, []string{
			`spec.securityContext.sysctls[0].name: Invalid value: "kernel.sem": may not be specified when 'hostIPC' is true`,
		}},
		{`os: {}`, []string{
			`spec.os.name: Required value: cannot be empty`,
		}},
		{`os: {name: linux}, securityContext: {windowsOptions: {}}, initContainers: [{name: a, image: i, securityContext: {windowsOptions: {}}}]`, []string{
			`spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
			`spec.initContainers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
		}},
		{`os: {name: windows}, hostUsers: true, hostPID: true, hostIPC: true, shareProcessNamespace: true, securityContext: {fsGroup: 1, fsGroupChangePolicy: Always, sysctls: [{name: a}], runAsGroup: 1, supplementalGroups: [1], supplementalGroupsPolicy: Merge, seLinuxChangePolicy: Recursive, seLinuxOptions: {}, seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}}, resources: {limits: {cpu: 1}}`, []string{
			`spec.resources: Forbidden: may not be set for a windows pod`,
			`spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled`,
			`spec.securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.seccompProfile: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.fsGroupChangePolicy: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.sysctls: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.runAsGroup: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.supplementalGroupsPolicy: Forbidden: cannot be set for a windows pod`,
			`spec.securityContext.seLinuxChangePolicy: Forbidden: cannot be set for a windows pod`,
			`spec.hostUsers: Forbidden: cannot be set for a windows pod`,
			`spec.hostPID: Forbidden: cannot be set for a windows pod`,
			`spec.hostIPC: Forbidden: cannot be set for a windows pod`,
			`spec.shareProcessNamespace: Forbidden: cannot be set for a windows pod`,
		}},
		{`os: {name: windows}, initContainers: [{name: a, image: i, securityContext: {runAsUser: 1, runAsGroup: 1, procMount: Default, allowPrivilegeEscalation: true, readOnlyRootFilesystem: true, capabilities: {}, seLinuxOptions: {}, seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}}}]`, []string{
			`spec.initContainers[0].securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod`,
			`spec.initContainers[0].securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod`,
			`spec.initContainers[0].securityContext.seccompProfile: Forbidden: cannot be set for a windows pod`,
			`spec.initContainers[0].securityContext.capabilities: Forbidden: cannot be set for a windows pod`,
			`spec.initContainers[0].securityContext.readOnlyRootFilesystem: Forbidden: cannot be set for a windows pod`,
			`spec.initContainers[0].securityContext.allowPrivilegeEscalation: Forbidden: cannot be set for a windows pod`,
			`spec.initContainers[0].securityContext.procMount: Forbidden: cannot be set for a windows pod`,
			`spec.initContainers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod`,
			`spec.initContainers[0].securityContext.runAsGroup: Forbidden: cannot be set for a windows pod`,
		}},
		{`securityContext: {windowsOptions: {hostProcess: true}}, initContainers: [{name: a, image: i, securityContext: {windowsOptions: {hostProcess: false}}}]`, []string{
			`spec.initContainers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true`,
			`spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers`,
			`spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers`,
		}},
	})
}

func TestValidatePodDNS(t *testing.T) {
	longSearches := strings.TrimSuffix(strings.Repeat(strings.Repeat("b", 200)+", ", 10), ", ") // 2020 characters with a space before each
	requirePodErrors(t, "spec: {containers: [{name: c, image: i}], %s}", []validationCase{
		{`dnsPolicy: Any`, []string{
			`spec.dnsPolicy: Unsupported value: "Any": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`,
		}},
		{`dnsConfig: {nameservers: [10.0.0.1, 10.0.0.2, 10.0.0.3, 010.0.0.4, "::ffff:1.2.3.4", "fe80::1%a"]}`, []string{
			`spec.dnsConfig.nameservers: Invalid value: ["10.0.0.1","10.0.0.2","10.0.0.3","010.0.0.4","::ffff:1.2.3.4","fe80::1%a"]: must not have more than 3 nameservers`,
			`spec.dnsConfig.nameservers[3]: Invalid value: "010.0.0.4": must not have leading 0s`,
			`spec.dnsConfig.nameservers[4]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address`,
			`spec.dnsConfig.nameservers[5]: Invalid value: "fe80::1%a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
		}},
		{`dnsConfig: {searches: [.., "a_"]}`, []string{
			`spec.dnsConfig.searches[0]: Invalid value: ".": ` + badSearch,
			`spec.dnsConfig.searches[1]: Invalid value: "a_": ` + badSearch,
		}},
		{`dnsConfig: {searches: [` + strings.Repeat("a", 200) + ", " + longSearches + `]}`, []string{"spec.dnsConfig.searches: Invalid value: " +
			`["` + strings.Repeat("a", 200) + `","` + strings.ReplaceAll(longSearches, ", ", `","`) + `"]: must not have more than 2048 characters (including spaces) in the search list`,
		}},
		{`dnsConfig: {searches: [` + strings.Repeat("a", 27) + ", " + longSearches + `]}`, nil},
		{`hostAliases: [{ip: a, hostnames: [A]}]`, []string{
			`spec.hostAliases[0].ip: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
			`spec.hostAliases[0].hostnames[0]: Invalid value: "A": ` + validatetest.BadSubdomain,
		}},
		{`hostnameOverride: A, setHostnameAsFQDN: true, hostNetwork: true`, []string{
			`spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true`,
			`spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true`,
			`spec.hostnameOverride: Invalid value: "A": ` + validatetest.BadSubdomain,
		}},
		{`hostnameOverride: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, []string{
			`spec.hostnameOverride: Too long: may not be more than 64 bytes`,
		}},
		{`hostnameOverride: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, nil},
		{`hostnameOverride: ""`, []string{
			`spec.hostnameOverride: Invalid value: "": ` + validatetest.BadSubdomain,
		}},
	})
}

func TestValidatePodResources(t *testing.T) {
	requirePodErrors(t, "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2}}}], %s}", []validationCase{
		{`resources: {requests: {cpu: 500m}, limits: {cpu: 1}}`, []string{
			`spec.resources.requests[cpu]: Invalid value: "500m": must be greater than or equal to aggregate container requests of 1`,
			`spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1`,
		}},
		{`resources: {limits: {cpu: 2}}`, nil},
		{`initContainers: [{name: a, image: i, resources: {requests: {cpu: 1, hugepages-2Mi: 4Mi}, limits: {hugepages-2Mi: 4Mi}}}], resources: {limits: {cpu: 2}}`, nil},
		{`initContainers: [{name: a, image: i, resources: {requests: {hugepages-2Mi: 4Mi}, limits: {hugepages-2Mi: 4Mi}}}], resources: {limits: {hugepages-2Mi: 2Mi}}`, []string{
			`spec.initContainers[0].resources: Forbidden: HugePages require cpu or memory`,
			`spec.resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container requests of 4Mi`,
			`spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi`,
		}},
		{`os: {name: linux}, resources: {limits: {cpu: 2}}`, nil},
		{`resources: {claims: [{name: a}], limits: {nvidia.com/gpu: 1}}`, []string{
			`spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level`,
			`spec.resources.limits[nvidia.com/gpu]: Unsupported value: "nvidia.com/gpu": supported values: "cpu", "hugepages-", "memory"`,
			`spec.resources.claims[0]: Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty`,
		}},
	})
}

func TestValidatePodAnnotations(t *testing.T) {
	requirePodErrors(t, "metadata: {annotations: {%s}}\nspec: {containers: [{name: c, image: i, securityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}}, {name: d, image: i, securityContext: {appArmorProfile: {type: Localhost, localhostProfile: a}}}], securityContext: {seccompProfile: {type: Unconfined}}}", []validationCase{
		{`kubernetes.io/config.mirror: a`, []string{
			`metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "a": must set spec.nodeName if mirror pod annotation is set`,
		}},
		{`scheduler.alpha.kubernetes.io/tolerations: '{}'`, []string{
			`metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/tolerations": json: cannot unmarshal object into Go value of type []core.Toleration`,
		}},
		{`scheduler.alpha.kubernetes.io/tolerations: '[{"key": "a b", "operator": "Exists"}]'`, []string{
			`metadata.annotations.scheduler.alpha.kubernetes.io/tolerations[0].key: Invalid value: "a b": ` + badName,
		}},
		{`controller.kubernetes.io/pod-deletion-cost: "+1"`, []string{
			`metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer`,
		}},
		{`controller.kubernetes.io/pod-deletion-cost: "01"`, []string{
			`metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "01": must be a 32bit integer`,
		}},
		{`controller.kubernetes.io/pod-deletion-cost: "2147483648"`, []string{
			`metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "2147483648": must be a 32bit integer`,
		}},
		{`controller.kubernetes.io/pod-deletion-cost: ""`, []string{
			`metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "": must be a 32bit integer`,
		}},
		{`controller.kubernetes.io/pod-deletion-cost: "0"`, nil},
		{`seccomp.security.alpha.kubernetes.io/pod: unconfined, container.seccomp.security.alpha.kubernetes.io/c: localhost/a`, nil},
		{`seccomp.security.alpha.kubernetes.io/pod: runtime/default, container.seccomp.security.alpha.kubernetes.io/c: localhost/b, container.seccomp.security.alpha.kubernetes.io/x: localhost/../b`, []string{
			`metadata.annotations.container.seccomp.security.alpha.kubernetes.io/x: Invalid value: "../b": must not contain '..'`,
			`spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match`,
			`spec.containers[0].securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must match`,
		}},
		{`seccomp.security.alpha.kubernetes.io/pod: any`, []string{
			`metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "any": must be a valid seccomp profile`,
			`spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match`,
		}},
		{`container.apparmor.security.beta.kubernetes.io/d: localhost/a`, nil},
		{`container.seccomp.security.alpha.kubernetes.io/c: unconfined`, []string{
			`spec.containers[0].securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match`,
		}},
		{`container.apparmor.security.beta.kubernetes.io/d: localhost/b, container.apparmor.security.beta.kubernetes.io/c: any, container.apparmor.security.beta.kubernetes.io/x: runtime/default`, []string{
			`metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "any": invalid AppArmor profile name: "any"`,
			`metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "x": container not found`,
			`spec.containers[1].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match`,
		}},
		{`container.apparmor.security.beta.kubernetes.io/d: unconfined`, []string{
			`spec.containers[1].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match`,
		}},
	})
}

// The default of a runtime has two names in annotations, and a mirror pod has no claims.
func TestValidatePodAnnotationsOfSpecs(t *testing.T) {
	const mismatch = "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match"
	for _, c := range []struct {
		key, value, spec string
		want             []string
	}{
		{corev1.SeccompPodAnnotationKey, "runtime/default", "securityContext: {seccompProfile: {type: RuntimeDefault}}", nil},
		{corev1.SeccompPodAnnotationKey, "docker/default", "securityContext: {seccompProfile: {type: RuntimeDefault}}", nil},
		{corev1.SeccompPodAnnotationKey, "unconfined", "securityContext: {seccompProfile: {type: RuntimeDefault}}", []string{mismatch}},
		{corev1.SeccompPodAnnotationKey, "unconfined", "hostPID: true", nil},
		{"container.apparmor.security.beta.kubernetes.io/c", "localhost/b", "os: {name: windows}, securityContext: {appArmorProfile: {type: Unconfined}}",
			[]string{"spec.securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod"}},
		{corev1.MirrorPodAnnotationKey, "x", "nodeName: x, resourceClaims: [{name: a, resourceClaimName: a}]", []string{"[]: Forbidden: static pods do not support resource claims"}},
	} {
		pod := defaultedPod(t, "spec: {containers: [{name: c, image: i}], "+c.spec+"}")
		pod.Annotations = map[string]string{c.key: c.value}
		require.Equal(t, c.want, validatetest.Texts(validatePod(pod)), c)
	}
}

func TestValidPodsAreNotAllocatedFor(t *testing.T) {
	for _, text := range []string{benchmarkPod, fullPod} {
		old := defaultedPod(t, text)
		require.Empty(t, validatetest.Texts(validatePod(old)))
		require.Zero(t, validatetest.AllocsPerRun(100, func() { validatePod(old) }), "create")

		metadata := old.DeepCopy()
		metadata.Labels["a"], metadata.ResourceVersion = "b", "2"
		image := old.DeepCopy()
		image.Spec.Containers[0].Image = "registry.example.com/team/web:2"
		tolerations := old.DeepCopy()
		tolerations.Spec.Tolerations = append(tolerations.Spec.Tolerations, corev1.Toleration{Key: "k", Operator: corev1.TolerationOpExists})
		for name, pod := range map[string]*corev1.Pod{"metadata": metadata, "image": image, "tolerations": tolerations} {
			require.Empty(t, validatetest.Texts(validatePodUpdate(pod, old)), name)
			require.Zero(t, validatetest.AllocsPerRun(100, func() { validatePodUpdate(pod, old) }), name)
		}

		template, before := &corev1.PodTemplate{}, &corev1.PodTemplate{}
		template.Template.Labels, template.Template.Spec = image.Labels, image.Spec
		before.Template.Labels, before.Template.Spec = old.Labels, old.Spec
		require.Empty(t, validatetest.Texts(validatePodTemplate(template)))
		require.Zero(t, validatetest.AllocsPerRun(100, func() { validatePodTemplate(template) }), "template")
		require.Zero(t, validatetest.AllocsPerRun(100, func() { validatePodTemplateUpdate(template, before) }), "template update")
		require.Zero(t, validatetest.AllocsPerRun(100, func() { podWarnings(old); podTemplateWarnings(template) }), "warnings")
	}
}

func TestValidStatusesAreNotAllocatedFor(t *testing.T) {
	old := defaultedPod(t, fullPod)
	pod := old.DeepCopy()
	pod.Status.PodIP, pod.Status.PodIPs = "10.1.2.3", []corev1.PodIP{{IP: "10.1.2.3"}}
	pod.Status.HostIP, pod.Status.HostIPs = "10.1.0.1", []corev1.HostIP{{IP: "10.1.0.1"}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady}, {Type: "example.com/Warm"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	require.Empty(t, validatetest.Texts(validatePodStatusUpdate(t.Context(), pod, old)))
	require.Zero(t, validatetest.AllocsPerRun(100, func() { validatePodStatusUpdate(t.Context(), pod, old) }))
}

func BenchmarkValidatePod(b *testing.B) {
	old := defaultedPod(b, fullPod)
	pod := old.DeepCopy()
	pod.Spec.Containers[0].Image = "registry.example.com/team/web:2"
	b.Run("create", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			validatePod(old)
		}
	})
	b.Run("update", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			validatePodUpdate(pod, old)
		}
	})
}

// The time and the memory for the validation of a pod are linear in its size.
func TestLongListsOfPods(t *testing.T) {
	const n = 20_000
	pod := simplePod(t, "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}, securityContext: {}, dnsConfig: {}")
	term := &pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	constraint := corev1.TopologySpreadConstraint{LabelSelector: term.LabelSelector}
	spec, status := &pod.Spec, &pod.Status
	for i := range n {
		name := fmt.Sprint("v", i)
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: name})
		spec.SchedulingGates = append(spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
		spec.ReadinessGates = append(spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(name)})
		spec.ResourceClaims = append(spec.ResourceClaims, corev1.PodResourceClaim{Name: name})
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
		spec.HostAliases = append(spec.HostAliases, corev1.HostAlias{IP: name})
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{TopologyKey: name})
		spec.SecurityContext.Sysctls = append(spec.SecurityContext.Sysctls, corev1.Sysctl{Name: name})
		spec.DNSConfig.Nameservers = append(spec.DNSConfig.Nameservers, name)
		spec.Containers = append(spec.Containers, corev1.Container{Name: name, Image: "i"})
		spec.EphemeralContainers = append(spec.EphemeralContainers, corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name}})
		term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: name, Operator: "Exists"})
		term.MatchLabelKeys, term.MismatchLabelKeys = append(term.MatchLabelKeys, name), append(term.MismatchLabelKeys, name)
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(name)})
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, AllocatedResourcesStatus: []corev1.ResourceStatus{{Name: "claim:a"}},
		})
		status.ResourceClaimStatuses = append(status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: name})
		status.PodIPs, status.HostIPs = append(status.PodIPs, corev1.PodIP{IP: name}), append(status.HostIPs, corev1.HostIP{IP: name})
	}
	constraint.MatchLabelKeys = term.MatchLabelKeys
	spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, constraint)
	old := pod.DeepCopy()
	for i := range n {
		status := &old.Status.ContainerStatuses[i]
		status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	}
	old.Spec.NodeSelector = map[string]string{"a": "b"}
	old.Spec.RestartPolicy = corev1.RestartPolicyNever

	size := 0
	for _, errs := range []field.ErrorList{
		validatePod(pod), validatePodUpdate(pod, old), validatePodStatusUpdate(t.Context(), pod, old),
		validatePodEphemeralContainersUpdate(pod, old), validatePodResizeUpdate(pod, old),
	} {
		require.Greater(t, len(errs), n)
		for _, err := range errs {
			size += len(err.Detail)
		}
	}
	for _, text := range podWarnings(pod) {
		size += len(text)
	}
	require.Less(t, size, 200<<20)
}

func TestValidatePodEnums(t *testing.T) {
	requirePodErrors(t, "spec: {containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}], %s}", []validationCase{
		{"restartPolicy: Sometimes, dnsPolicy: Any, preemptionPolicy: Maybe", []string{
			`spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`,
			`spec.dnsPolicy: Unsupported value: "Any": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`,
			`spec.preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"`}},
		{"dnsPolicy: None", []string{"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"}},
		{"dnsPolicy: None, dnsConfig: {options: [{}]}", []string{
			"spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"}},
		{"dnsConfig: {nameservers: [10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4], options: [{}]}", []string{
			`spec.dnsConfig.nameservers: Invalid value: ["10.0.0.1","10.0.0.2","10.0.0.3","10.0.0.4"]: must not have more than 3 nameservers`,
			"spec.dnsConfig.options[0]: Required value: must not be empty"}},
		{"hostNetwork: true, initContainers: [{name: a, image: i, ports: [{containerPort: 80, hostPort: 80}]}]", nil},
		{"affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: {topologyKey: a}}]}}", []string{
			"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100"}},
		{"tolerations: [{key: a, operator: Exists, value: b}, {key: a, tolerationSeconds: 1}, {key: a, effect: Never}]", []string{
			"spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
			"spec.tolerations[1].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
			`spec.tolerations[2].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`}},
	})
}

// Templates do not have the defaults of pods.
func TestValidateHostPorts(t *testing.T) {
	spec := validatetest.Parse[corev1.PodSpec](t, "{hostNetwork: true, containers: [{ports: [{containerPort: 80}, {containerPort: 81, hostPort: 80}]}]}")
	var root *validate.Path
	const second = "[0].ports[1].hostPort: Invalid value: 80: must match `containerPort` when `hostNetwork` is true"
	require.Equal(t, []string{"containers" + second}, validatetest.Texts(validateHostPorts(spec, PodValidationOptions{}, root.Child("containers"))))
	require.Equal(t, []string{
		"containers[0].ports[0].hostPort: Invalid value: 0: must match `containerPort` when `hostNetwork` is true",
		"containers" + second,
	}, validatetest.Texts(validateHostPorts(spec, PodValidationOptions{isPod: true}, root.Child("containers"))))
}

// Only old pods have groups, and tolerations that compare.
func TestValidateFieldsOfOldPods(t *testing.T) {
	for text, want := range map[string][]string{
		"schedulingGroup: {podGroupName: a}":                nil,
		"tolerations: [{key: a, operator: Gt, value: '1'}]": nil,
		"tolerations: [{key: a, operator: Lt, value: '9223372036854775808'}]": { // in the spec, and as what an update adds
			`spec.tolerations[0].value: Invalid value: "9223372036854775808": strconv.ParseInt: parsing "9223372036854775808": value out of range`,
			`spec.tolerations[0].value: Invalid value: "9223372036854775808": strconv.ParseInt: parsing "9223372036854775808": value out of range`},
		"schedulingGroup: {}":                {"spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`"},
		"schedulingGroup: {podGroupName: A}": {`spec.schedulingGroup.podGroupName: Invalid value: "A": ` + validatetest.BadSubdomain},
	} {
		old := simplePod(t, "")
		fields := validatetest.Parse[corev1.PodSpec](t, "{"+text+"}")
		old.Spec.SchedulingGroup, old.Spec.Tolerations = fields.SchedulingGroup, fields.Tolerations
		require.Equal(t, want, validatetest.Texts(validatePodUpdate(old.DeepCopy(), old)), text)
	}
}
