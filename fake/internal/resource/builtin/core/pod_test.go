package core

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// requireYAML compares an object with a YAML document.
func requireYAML[T any](t testing.TB, want string, obj *T) {
	t.Helper()
	expected, err := yaml.Marshal(validatetest.Parse[T](t, want))
	require.NoError(t, err)
	actual, err := yaml.Marshal(obj)
	require.NoError(t, err)
	require.Equal(t, string(expected), string(actual))
}

func TestSetPodDefaults(t *testing.T) {
	pod := validatetest.Parse[corev1.Pod](t, `
metadata: {annotations: {pod.alpha.kubernetes.io/init-containers: x, keep: x}}
spec:
  hostNetwork: true
  serviceAccount: robot
  initContainers:
  - {name: i, image: 'i:1', ports: [{containerPort: 1}], resources: {limits: {cpu: 2}}}
  containers:
  - name: c
    image: c
    ports: [{containerPort: 80}, {containerPort: 53, hostPort: 54, protocol: UDP}]
    env:
    - {name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: B, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}
    resources: {requests: {cpu: 100500u}, limits: {cpu: 1, memory: 1024Mi}}
    livenessProbe: {httpGet: {port: 1}}
    readinessProbe: {grpc: {port: 2}, periodSeconds: 7}
    lifecycle: {preStop: {httpGet: {port: 3}}}
status: {podIP: 10.0.0.1}
`)
	setPodDefaults(pod)
	requireYAML(t, `
metadata: {annotations: {keep: x}}
spec:
  hostNetwork: true
  serviceAccount: robot
  serviceAccountName: robot
  restartPolicy: Always
  dnsPolicy: ClusterFirst
  schedulerName: default-scheduler
  terminationGracePeriodSeconds: 30
  enableServiceLinks: true
  securityContext: {}
  initContainers:
  - name: i
    image: i:1
    imagePullPolicy: IfNotPresent
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    ports: [{containerPort: 1, hostPort: 1, protocol: TCP}]
    resources: {requests: {cpu: 2}, limits: {cpu: 2}}
  containers:
  - name: c
    image: c
    imagePullPolicy: Always
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    ports: [{containerPort: 80, hostPort: 80, protocol: TCP}, {containerPort: 53, hostPort: 54, protocol: UDP}]
    env:
    - {name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
    - {name: B, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k, optional: false}}}
    resources: {requests: {cpu: 101m, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}
    livenessProbe: {httpGet: {port: 1, path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}
    readinessProbe: {grpc: {port: 2, service: ''}, timeoutSeconds: 1, periodSeconds: 7, successThreshold: 1, failureThreshold: 3}
    lifecycle: {preStop: {httpGet: {port: 3, path: /, scheme: HTTP}}}
status: {podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}]}
`, pod)
	again := pod.DeepCopy()
	setPodDefaults(again)
	require.Equal(t, pod, again)
}

// A template has the shared defaults only.
func TestSetDefaultsPodTemplateSpec(t *testing.T) {
	template := validatetest.Parse[corev1.PodTemplateSpec](t, `
spec:
  hostNetwork: true
  serviceAccountName: robot
  serviceAccount: other
  resources: {limits: {cpu: 1}}
  containers: [{name: c, image: 'c:1', ports: [{containerPort: 80}], resources: {limits: {cpu: 1}}}]
`)
	SetDefaultsPodTemplateSpec(template)
	requireYAML(t, `
spec:
  hostNetwork: true
  serviceAccountName: robot
  serviceAccount: robot
  restartPolicy: Always
  dnsPolicy: ClusterFirst
  schedulerName: default-scheduler
  terminationGracePeriodSeconds: 30
  securityContext: {}
  resources: {limits: {cpu: 1}}
  containers:
  - name: c
    image: c:1
    imagePullPolicy: IfNotPresent
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    ports: [{containerPort: 80, protocol: TCP}]
    resources: {limits: {cpu: 1}}
`, template)
}

func TestSetPodStatusDefaults(t *testing.T) {
	for _, test := range []struct{ status, want string }{
		{`{podIPs: [{ip: a}, {ip: b}]}`, `{podIP: a, podIPs: [{ip: a}, {ip: b}]}`},
		{`{podIP: a, podIPs: [{ip: a}, {ip: b}]}`, `{podIP: a, podIPs: [{ip: a}, {ip: b}]}`},
		{`{podIP: c, podIPs: [{ip: a}, {ip: b}]}`, `{podIP: c, podIPs: [{ip: c}]}`},
		{`{}`, `{}`},
		{`{resources: {limits: {cpu: 1u}, requests: {cpu: 2u}}, allocatedResources: {cpu: 3u}, containerStatuses: [{name: c, allocatedResources: {cpu: 4u}, resources: {limits: {cpu: 5u}, requests: {cpu: 6u}}}]}`,
			`{resources: {limits: {cpu: 1m}, requests: {cpu: 1m}}, allocatedResources: {cpu: 1m}, containerStatuses: [{name: c, allocatedResources: {cpu: 1m}, resources: {limits: {cpu: 1m}, requests: {cpu: 1m}}}]}`},
	} {
		status := validatetest.Parse[corev1.PodStatus](t, test.status)
		setPodStatusDefaults(status)
		requireYAML(t, test.want, status)
	}
}

func TestSetPodLevelResourceDefaults(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{"none", `containers: [{name: c, resources: {limits: {cpu: 1}}}]`, ``},
		{"empty", `{resources: {}, containers: [{name: c, resources: {limits: {cpu: 1}}}]}`, `{}`},
		{"requests and limits of other resources", `{resources: {requests: {cpu: 1}}, containers: [{name: c, resources: {limits: {memory: 1Gi}}}]}`,
			`{requests: {cpu: 1, memory: 1Gi}, limits: {memory: 1Gi}}`},
		{"requests of containers first", `
resources: {limits: {cpu: 4, memory: 2Gi}}
initContainers: [{name: i, restartPolicy: Always, resources: {requests: {cpu: 500m}}}]
containers: [{name: c, resources: {requests: {cpu: 1, example.com/x: 1}}}]`,
			`{limits: {cpu: 4, memory: 2Gi}, requests: {cpu: 1500m, memory: 2Gi}}`},
		{"huge pages of containers", `
resources: {limits: {cpu: 1}}
containers: [{name: c, resources: {limits: {hugepages-2Mi: 4Mi}}}, {name: d, resources: {limits: {hugepages-2Mi: 2Mi}}}]`,
			`{limits: {cpu: 1, hugepages-2Mi: 6Mi}, requests: {cpu: 1, hugepages-2Mi: 6Mi}}`},
		{"limits that all containers have", `
resources: {requests: {cpu: 1}}
initContainers: [{name: i, resources: {limits: {cpu: 1, memory: 1Gi}}}]
containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}, {name: d, resources: {limits: {cpu: 1}}}]`,
			`{requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2}}`},
		{"a request above the limits of containers", `
resources: {requests: {cpu: 3}}
containers: [{name: c, resources: {limits: {cpu: 1}}}]`,
			`{requests: {cpu: 3}, limits: {cpu: 3}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: *validatetest.Parse[corev1.PodSpec](t, test.spec)}
			setPodDefaults(pod)
			setPodLevelResourceDefaults(&pod.Spec)
			if test.want == "" {
				require.Nil(t, pod.Spec.Resources)
			} else {
				requireYAML(t, test.want, pod.Spec.Resources)
			}
			before := pod.DeepCopy()
			setPodLevelResourceDefaults(&pod.Spec)
			require.Equal(t, before, pod)
		})
	}
}

// An update cannot remove the resources of the pod as a whole. It gets defaults for what it
// changes, but a pod without them stays as it is, unless it is resized.
func TestKeepPodLevelResources(t *testing.T) {
	const containers = `containers: [{name: c, image: i, resources: {requests: {memory: 1Gi}}}]`
	for _, test := range []struct{ old, sent, updated, resized string }{
		{`null`, `null`, `null`, `null`},
		{`{requests: {cpu: 1}}`, `null`, `{requests: {cpu: 1}}`, `{requests: {cpu: 1, memory: 1Gi}}`},
		{`{requests: {cpu: 1}}`, `{requests: {cpu: 1000m}}`, `{requests: {cpu: 1}}`, `{requests: {cpu: 1, memory: 1Gi}}`},
		{`{requests: {cpu: 1, memory: 1Gi}}`, `{requests: {cpu: 1}}`, `{requests: {cpu: 1, memory: 1Gi}}`, `{requests: {cpu: 1, memory: 1Gi}}`},
		{`null`, `{requests: {cpu: 1}}`, `{requests: {cpu: 1, memory: 1Gi}}`, `{requests: {cpu: 1, memory: 1Gi}}`},
	} {
		for _, way := range []struct {
			prepare func(context.Context, *corev1.Pod, *corev1.Pod)
			want    string
		}{{preparePodForUpdate, test.updated}, {preparePodResizeForUpdate, test.resized}} {
			old := validatetest.Parse[corev1.Pod](t, `{spec: {resources: `+test.old+`, `+containers+`}}`)
			pod := validatetest.Parse[corev1.Pod](t, `{spec: {resources: `+test.sent+`, `+containers+`}}`)
			way.prepare(t.Context(), pod, old)
			want := validatetest.Parse[corev1.PodSpec](t, `{resources: `+way.want+`}`).Resources
			assert.True(t, equality.Semantic.DeepEqual(want, pod.Spec.Resources), "from %s to %s: %v, not %v", test.old, test.sent, pod.Spec.Resources, want)
		}
	}
}

// A resize of containers gives the pod as a whole the limits that all of them have now.
func TestPreparePodResizeSetsLimits(t *testing.T) {
	const pod = `{spec: {resources: {requests: {cpu: 2}}, containers: [{name: c, resources: {%s}}]}}`
	old := validatetest.Parse[corev1.Pod](t, fmt.Sprintf(pod, "requests: {cpu: 1}"))
	resized := validatetest.Parse[corev1.Pod](t, fmt.Sprintf(pod, "requests: {cpu: 1}, limits: {cpu: 3}"))
	preparePodResizeForUpdate(t.Context(), resized, old)
	requireYAML(t, `{requests: {cpu: 2}, limits: {cpu: 3}}`, resized.Spec.Resources)
}

// The fields of features that are off are removed, unless the object has them already.
func TestDropDisabledPodStatusFields(t *testing.T) {
	const reported = `{volumeHealth: [{}], nodeAllocatableResourceClaimStatuses: [{}], containerStatuses: [{name: c, volumeMounts: [{name: v, volumeStatus: {image: {imageRef: i}}}]}]}`
	status := validatetest.Parse[corev1.PodStatus](t, reported)
	dropDisabledPodStatusFields(status, validatetest.Parse[corev1.PodStatus](t, reported))
	require.Equal(t, validatetest.Parse[corev1.PodStatus](t, reported), status)
	dropDisabledPodStatusFields(status, &corev1.PodStatus{})
	require.Equal(t, validatetest.Parse[corev1.PodStatus](t, `{containerStatuses: [{name: c, volumeMounts: [{name: v}]}]}`), status)
}

func TestQOSClass(t *testing.T) {
	for spec, want := range map[string]corev1.PodQOSClass{
		`containers: [{name: c}]`: corev1.PodQOSBestEffort,
		`containers: [{name: c, resources: {limits: {cpu: 1, memory: 1}}}]`:                                       corev1.PodQOSGuaranteed,
		`containers: [{name: c, resources: {limits: {cpu: 1, memory: 1}}}, {name: d}]`:                            corev1.PodQOSBurstable,
		`containers: [{name: c, resources: {requests: {cpu: 0}}}]`:                                                corev1.PodQOSBestEffort,
		`{resources: {}, containers: [{name: c, resources: {limits: {cpu: 1, memory: 1}}}]}`:                      corev1.PodQOSGuaranteed,
		`{resources: {requests: {}, limits: {}}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}`:       corev1.PodQOSBurstable,
		`{resources: {limits: {cpu: 1, memory: 1}}, containers: [{name: c, resources: {requests: {cpu: 500m}}}]}`: corev1.PodQOSBurstable,
	} {
		pod := &corev1.Pod{Spec: *validatetest.Parse[corev1.PodSpec](t, spec)}
		setPodDefaults(pod)
		setPodLevelResourceDefaults(&pod.Spec)
		assert.Equal(t, want, qosClass(pod), spec)
	}
}

func TestPreparePodForCreate(t *testing.T) {
	pod := validatetest.Parse[corev1.Pod](t, `
metadata:
  labels: {rev: a, app: b}
  annotations:
    container.apparmor.security.beta.kubernetes.io/c: runtime/default
    container.apparmor.security.beta.kubernetes.io/d: localhost/profile
    container.apparmor.security.beta.kubernetes.io/e: other
spec:
  schedulingGates: [{name: wait}]
  evictionResponders: [{name: r}]
  containers: [{name: c}, {name: d}, {name: e}]
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: k, labelSelector: {}, matchLabelKeys: [rev, none], mismatchLabelKeys: [app]}
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, podAffinityTerm: {topologyKey: k, matchLabelKeys: [rev]}}
status: {phase: Running, qosClass: Guaranteed, message: x}
`)
	pod.CreationTimestamp = metav1.NewTime(time.Unix(5, 0))
	preparePodForCreate(t.Context(), pod)
	require.Equal(t, corev1.PodStatus{
		Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort,
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulingGated",
			Message: "Scheduling is blocked due to non-empty scheduling gates", LastTransitionTime: pod.CreationTimestamp,
		}},
	}, pod.Status)
	require.Empty(t, pod.Spec.EvictionResponders)
	terms := pod.Spec.Affinity.PodAntiAffinity
	require.Equal(t, []metav1.LabelSelectorRequirement{
		{Key: "rev", Operator: metav1.LabelSelectorOpIn, Values: []string{"a"}},
		{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"b"}},
	}, terms.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions)
	require.Nil(t, terms.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector)
	require.Equal(t, corev1.AppArmorProfileTypeRuntimeDefault, pod.Spec.Containers[0].SecurityContext.AppArmorProfile.Type)
	require.Equal(t, "profile", *pod.Spec.Containers[1].SecurityContext.AppArmorProfile.LocalhostProfile)
	require.Nil(t, pod.Spec.Containers[2].SecurityContext)
}

func TestPreparePodForCreateComputesQOSClass(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
	}}}}}
	preparePodForCreate(t.Context(), pod)
	require.Equal(t, corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBurstable}, pod.Status)
}

// The fields of features that are off are removed, unless the object has them already. Those of a
// claim are removed when the claim is created.
func TestDropDisabledPodSpecFields(t *testing.T) {
	const disabled = `
schedulingGroup: {podGroupName: g}
evictionResponders: [{name: r}]
volumes:
- {name: a, emptyDir: {mode: 448}}
- {name: b, secret: {defaultUser: 1, items: [{key: k, path: p, user: 1}]}}
- {name: c, configMap: {name: m, defaultUser: 1}}
- {name: d, downwardAPI: {defaultUser: 1, items: [{path: p, user: 1}]}}
- name: e
  projected:
    defaultUser: 1
    sources:
    - {serviceAccountToken: {path: p, user: 1}}
    - {clusterTrustBundle: {path: p, user: 1}}
    - {podCertificate: {user: 1}}
    - {downwardAPI: {items: [{path: p, user: 1}]}}
    - {secret: {items: [{key: k, path: p, user: 1}]}}
    - {configMap: {items: [{key: k, path: p, user: 1}]}}
- {name: f, ephemeral: {volumeClaimTemplate: {spec: {dataSourceRef: {kind: K, name: x, namespace: other}}}}}
containers:
- name: c
  volumeMounts: [{name: a, mountPath: /a, bindMountOptions: [noexec]}]
  lifecycle: {stopSignal: SIGUSR1, preStop: {httpGet: {port: 1, protocol: HTTP2}}}
  livenessProbe: {httpGet: {port: 1, protocol: HTTP2}}
  startupProbe: {grpc: {port: 1, mode: TLS}}
`
	created := validatetest.Parse[corev1.PodSpec](t, disabled)
	dropDisabledPodSpecFields(created, nil)
	requireYAML(t, `
volumes:
- {name: a, emptyDir: {}}
- {name: b, secret: {items: [{key: k, path: p}]}}
- {name: c, configMap: {name: m}}
- {name: d, downwardAPI: {items: [{path: p}]}}
- name: e
  projected:
    sources:
    - {serviceAccountToken: {path: p}}
    - {clusterTrustBundle: {path: p}}
    - {podCertificate: {}}
    - {downwardAPI: {items: [{path: p}]}}
    - {secret: {items: [{key: k, path: p}]}}
    - {configMap: {items: [{key: k, path: p}]}}
- {name: f, ephemeral: {volumeClaimTemplate: {spec: {dataSourceRef: {kind: K, name: x, namespace: other}}}}}
containers:
- name: c
  volumeMounts: [{name: a, mountPath: /a}]
  lifecycle: {preStop: {httpGet: {port: 1}}}
  livenessProbe: {httpGet: {port: 1}}
  startupProbe: {grpc: {port: 1}}
`, created)
	updated, old := validatetest.Parse[corev1.PodSpec](t, disabled), validatetest.Parse[corev1.PodSpec](t, disabled)
	dropDisabledPodSpecFields(updated, old)
	require.Equal(t, old, updated)
}
