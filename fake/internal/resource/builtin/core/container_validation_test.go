package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// validateContainersAndVolumes validates a pod with the functions for containers and volumes, in
// their order.
func validateContainersAndVolumes(pod *corev1.Pod, opts containerOptions) field.ErrorList {
	var root *validate.Path
	p, options := root.Child("spec"), PodValidationOptions{containerOptions: opts}
	valid, errs := validatePodVolumes(&pod.Spec, &pod.ObjectMeta, options, p)
	errs = append(errs, validatePodContainers(&pod.Spec, valid, options, p)...)
	errs = append(errs, validateFileKeyRefVolumes(&pod.Spec, p)...)
	errs = append(errs, validateTokensOfPod(&pod.Spec, p)...)
	return append(errs, validateImagesOfPod(&pod.Spec, p)...)
}

// validationCase is a part of a pod with the errors that it has.
type validationCase struct {
	part string
	want []string
}

// requireErrors validates a pod for each case: format with the part in it.
func requireErrors(t *testing.T, format string, cases []validationCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.part[:min(len(c.part), 100)], func(t *testing.T) {
			pod := validatetest.Parse[corev1.Pod](t, fmt.Sprintf(format, c.part))
			setPodDefaults(pod)
			require.Equal(t, c.want, validatetest.Texts(validateContainersAndVolumes(pod, containerOptions{})))
		})
	}
}

func TestValidateContainers(t *testing.T) {
	requireErrors(t, "spec: {%s}", []validationCase{
		{`containers: [{name: a, image: i}, {name: b, image: "any Text"}]`, nil},
		{`containers: []`, []string{"spec.containers: Required value"}},
		{`containers: [{image: " i"}, {name: A_}]`, []string{
			"spec.containers[0].name: Required value",
			`spec.containers[1].name: Invalid value: "A_": ` + validatetest.BadLabel,
			"spec.containers[1].image: Required value",
			`spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace`,
		}},
		{`containers: [{name: a, image: i}, {name: a, image: i}]`, []string{`spec.containers[1].name: Duplicate value: "a"`}},
		{`containers: [{name: a, image: i, imagePullPolicy: Seldom, terminationMessagePolicy: Log}]`, []string{
			`spec.containers[0].terminationMessagePolicy: Unsupported value: "Log": supported values: "File", "FallbackToLogsOnError"`,
			`spec.containers[0].imagePullPolicy: Unsupported value: "Seldom": supported values: "Always", "IfNotPresent", "Never"`,
		}},
		{`containers: [{name: a, image: i}], initContainers: [{name: a, image: "i "}, {name: b, image: i}, {name: b, image: i}]`, []string{
			`spec.initContainers[0].name: Duplicate value: "a"`,
			`spec.initContainers[2].name: Duplicate value: "b"`,
			`spec.initContainers[0].image: Invalid value: "i ": must not have leading or trailing whitespace`,
		}},
		{`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, lifecycle: {}, livenessProbe: {}, readinessProbe: {}, startupProbe: {}}]`, []string{
			"spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always",
			"spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
			"spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
			"spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
		}},
		{`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, restartPolicy: Always, lifecycle: {preStop: {sleep: {seconds: 30}}}, livenessProbe: {tcpSocket: {port: 1}}}]`, nil},
		{`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, restartPolicy: Always, readinessProbe: {}}]`, []string{
			"spec.initContainers[0].readinessProbe: Required value: must specify a handler type",
		}},
	})
}

func TestValidateEphemeralContainers(t *testing.T) {
	const ephemeral = "cannot be set for an Ephemeral Container"
	requireErrors(t, `spec: {containers: [{name: a, image: i}], initContainers: [{name: b, image: i}], volumes: [{name: v}], ephemeralContainers: [%s]}`, []validationCase{
		{`{name: c, image: i, targetContainerName: b, stdin: true, tty: true, command: [sh], resources: {}, volumeMounts: [{name: v, mountPath: /v}]}`, nil},
		{`{name: a, image: " i", targetContainerName: c}, {name: d, image: i}, {name: d}`, []string{
			`spec.ephemeralContainers[0].image: Invalid value: " i": must not have leading or trailing whitespace`,
			`spec.ephemeralContainers[0].name: Duplicate value: "a"`,
			`spec.ephemeralContainers[0].targetContainerName: Not found: "c"`,
			"spec.ephemeralContainers[2].image: Required value",
			`spec.ephemeralContainers[2].name: Duplicate value: "d"`,
		}},
		{`{name: c, image: i, ports: [], resources: {limits: {}}, resizePolicy: [], restartPolicy: Always, restartPolicyRules: [], livenessProbe: {},
			readinessProbe: {}, startupProbe: {}, lifecycle: {}, volumeMounts: [{name: v, mountPath: /v, subPath: s}, {name: v, mountPath: /w, subPathExpr: s}]}`, []string{
			"spec.ephemeralContainers[0].ports: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].resources: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].resizePolicy: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].restartPolicy: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].restartPolicyRules: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].livenessProbe: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].readinessProbe: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].startupProbe: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].lifecycle: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: " + ephemeral,
			"spec.ephemeralContainers[0].volumeMounts[1].subPathExpr: Forbidden: " + ephemeral,
		}},
	})
}

// realisticPod is a pod as charts have it.
const realisticPod = `
metadata: {name: web-5d4f-x2x}
spec:
  serviceAccountName: web
  initContainers:
  - {name: migrate, image: "registry.example/web:1", command: [migrate], envFrom: [{configMapRef: {name: web}}, {secretRef: {name: web}, prefix: S_}]}
  - {name: proxy, image: "registry.example/proxy:1", restartPolicy: Always, startupProbe: {tcpSocket: {port: 15000}}}
  containers:
  - name: web
    image: registry.example/web:1
    ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}, {containerPort: 53, hostPort: 53, protocol: UDP}]
    env:
    - {name: A, value: b}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app.kubernetes.io/name']"}}}
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: web, key: password}}}
    - {name: LEVEL, valueFrom: {configMapKeyRef: {name: web, key: level}}}
    - {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}
    resources: {requests: {cpu: 100m, memory: 64Mi, ephemeral-storage: 1Gi}, limits: {cpu: 1, memory: 128Mi, ephemeral-storage: 1Gi, example.com/gpu: 1}}
    livenessProbe: {httpGet: {port: http, path: /healthz, httpHeaders: [{name: X-Probe, value: a}]}}
    readinessProbe: {exec: {command: [ready]}}
    startupProbe: {grpc: {port: 9000}}
    lifecycle: {preStop: {sleep: {seconds: 5}}}
    securityContext:
      {runAsUser: 1000, runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}
    volumeMounts:
    - {name: config, mountPath: /etc/web, readOnly: true}
    - {name: secret, mountPath: /etc/secret}
    - {name: tmp, mountPath: /tmp, subPath: a/b}
    - {name: all, mountPath: /var/run/all}
  - {name: side, image: "registry.example/side:1", volumeMounts: [{name: tmp, mountPath: /tmp}], volumeDevices: [{name: raw, devicePath: /dev/x}]}
  volumes:
  - {name: config, configMap: {name: web, items: [{key: a, path: a/b.yaml}]}}
  - {name: secret, secret: {secretName: web, defaultMode: 256}}
  - {name: tmp, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
  - {name: raw, persistentVolumeClaim: {claimName: raw}}
  - {name: host, hostPath: {path: /var/log, type: Directory}}
  - {name: fields, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
  - name: all
    projected:
      sources:
      - {serviceAccountToken: {path: token, expirationSeconds: 3607}}
      - {configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}
      - {secret: {name: web}}
      - {downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}}
`

func TestValidContainersAndVolumesAreNotAllocatedFor(t *testing.T) {
	pod := validatetest.Parse[corev1.Pod](t, realisticPod)
	setPodDefaults(pod)
	require.Empty(t, validateContainersAndVolumes(pod, containerOptions{}))
	require.Zero(t, validatetest.AllocsPerRun(100, func() { validateContainersAndVolumes(pod, containerOptions{}) }))
	require.Zero(t, validatetest.AllocsPerRun(100, func() { containerOptionsFor(&pod.Spec) }))
	var root *validate.Path
	require.Zero(t, validatetest.AllocsPerRun(100, func() { containerWarnings(&pod.Spec, nil, root) }))
	require.Zero(t, validatetest.AllocsPerRun(100, func() { volumeWarnings(&pod.Spec, root.Child("spec")) }))
}

func BenchmarkValidateContainersAndVolumes(b *testing.B) {
	pod := validatetest.Parse[corev1.Pod](b, realisticPod)
	setPodDefaults(pod)
	b.ReportAllocs()
	for b.Loop() {
		validateContainersAndVolumes(pod, containerOptions{})
	}
}

// A pod is validated in a time that is linear in its size, also if it has long lists.
func TestLongListsOfContainersAndVolumes(t *testing.T) {
	const n = 50_000
	pod := &corev1.Pod{}
	pod.Name = "p"
	c := corev1.Container{Name: "c", Image: "i"}
	for i := range n {
		name := fmt.Sprintf("v%d", i)
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name})
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: name})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
		c.Resources.Claims = append(c.Resources.Claims, corev1.ResourceClaim{Name: name}, corev1.ResourceClaim{Name: "x" + name})
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: name, ContainerPort: 1, HostPort: int32(i + 1), HostIP: name})
		c.Env = append(c.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: name, Key: "k", Path: "p"}}})
	}
	c.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{
		Add: make([]corev1.Capability, n)}}
	for i := range n {
		c.SecurityContext.Capabilities.Add[i] = "CAP_SYS_ADMIN"
	}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.EphemeralContainers = make([]corev1.EphemeralContainer, n)
	setPodDefaults(pod)
	size := 0
	for _, err := range validateContainersAndVolumes(pod, containerOptions{}) {
		size += len(err.Detail)
	}
	require.Less(t, size, 100<<20)
}

// Errors that have a text of another part of the pod are not as many as would make the response a
// multiple of the size of the pod.
func TestLongTextsOfContainersAndVolumes(t *testing.T) {
	const n, length = 2_000, 100_000
	long := strings.Repeat("a", length)
	named := &corev1.Pod{}
	named.Name = long
	projected := &corev1.Pod{}
	items := make([]corev1.KeyToPath, n)
	for i := range items {
		items[i] = corev1.KeyToPath{Key: "k", Path: "p"}
	}
	projected.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: long}, Items: items}}},
	}}}}
	claims := &corev1.Pod{}
	claims.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: long}}
	for i := range n {
		name := fmt.Sprint("v", i)
		named.Spec.Volumes = append(named.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}})
		claims.Spec.Containers = append(claims.Spec.Containers, corev1.Container{Name: name, Image: "i", Resources: corev1.ResourceRequirements{
			Claims: []corev1.ResourceClaim{{Name: "unknown"}}}})
	}
	for name, pod := range map[string]*corev1.Pod{"named": named, "projected": projected, "claims": claims} {
		setPodDefaults(pod)
		size := 0
		errs := validateContainersAndVolumes(pod, containerOptions{})
		for _, err := range errs {
			size += len(err.ErrorBody())
		}
		require.Greater(t, len(errs), 8, name)
		require.Less(t, size, 20<<20, name)
	}
}

func TestManyWarningsForContainersAndVolumes(t *testing.T) {
	const n = 50_000
	pod := &corev1.Pod{}
	pod.Spec.Containers = []corev1.Container{{Ports: make([]corev1.ContainerPort, n)}, {Ports: make([]corev1.ContainerPort, n)}}
	for i := range n {
		pod.Spec.Containers[1].Ports[i] = corev1.ContainerPort{ContainerPort: 1, Name: "a", HostPort: int32(i + 1)}
	}
	pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{Items: make([]corev1.KeyToPath, n)}}}}
	for i := range n {
		pod.Spec.Volumes[0].ConfigMap.Items[i].Path = fmt.Sprint("a", i)
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, *pod.Spec.Volumes[0].DeepCopy())
	for i := range n {
		pod.Spec.Volumes[1].ConfigMap.Items[i].Path = "a"
	}
	var root *validate.Path
	require.Len(t, containerWarnings(&pod.Spec, nil, root), 2*maxWarnings)
	require.Len(t, volumeWarnings(&pod.Spec, root), maxWarnings)
}
