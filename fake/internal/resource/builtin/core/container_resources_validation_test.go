package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateContainerResources(t *testing.T) {
	const at = "spec.containers[0].resources."
	requireErrors(t, `spec: {containers: [{name: a, image: i, resources: {%s}}]}`, []validationCase{
		{`requests: {cpu: 1m, memory: 0}, limits: {cpu: 1, example.com/gpu: 2, hugepages-2Mi: 4Mi}`, nil},
		{`requests: {memory: 1500m}, limits: {kubernetes.io/any: 1}`, nil},
		{`requests: {cpu: 2, memory: 2Ki}, limits: {cpu: 1, memory: 1Ki}`, []string{
			at + `requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
			at + `requests: Invalid value: "2Ki": must be less than or equal to memory limit of 1Ki`,
		}},
		{`limits: {cpu: -1m}, requests: {cpu: -1}`, []string{
			at + `limits[cpu]: Invalid value: "-1m": must be greater than or equal to 0`,
			at + `requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
		}},
		{`requests: {pods: 1, storage: 1, gpu: 1, "a b": 1, limits.cpu: 1}`, []string{
			at + `requests[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			at + `requests[a b]: Invalid value: "a b": must be a standard resource for containers`,
			at + `requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
			at + `requests[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
			at + `requests[limits.cpu]: Invalid value: "limits.cpu": must be a standard resource for containers`,
			at + `requests[pods]: Invalid value: "pods": must be a standard resource for containers`,
			at + `requests[storage]: Invalid value: "storage": must be a standard resource for containers`,
		}},
		{`limits: {example.com/gpu: 1500m}, requests: {example.com/gpu: 1}`, []string{
			at + `limits[example.com/gpu]: Invalid value: "1500m": must be an integer`,
			at + `requests: Invalid value: "1": must be equal to example.com/gpu limit of 1500m`,
		}},
		{`requests: {example.com/gpu: 1}`, []string{at + "limits: Required value: Limit must be set for non overcommitable resources"}},
		{`limits: {requests.example.com/gpu: 1}, requests: {requests.example.com/gpu: 1}`, []string{
			at + `limits[requests.example.com/gpu]: Invalid value: "requests.example.com/gpu": doesn't follow extended resource name standard`,
			at + `requests[requests.example.com/gpu]: Invalid value: "requests.example.com/gpu": doesn't follow extended resource name standard`,
		}},
		{`limits: {hugepages-2Mi: 2Mi}`, []string{"spec.containers[0].resources: Forbidden: HugePages require cpu or memory"}},
		{`limits: {cpu: 1, hugepages-2Mi: 3Mi}, requests: {hugepages-2Mi: 2Mi}`, []string{
			at + `limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
			at + `requests: Invalid value: "2Mi": must be equal to hugepages-2Mi limit of 3Mi`,
		}},
		{`limits: {cpu: 1, hugepages-0: 1}, requests: {hugepages-0: 1}`, []string{
			at + `limits[hugepages-0]: Invalid value: "1": 1 is not positive integer multiple of hugepages-0`,
			at + `requests[hugepages-0]: Invalid value: "1": 1 is not positive integer multiple of hugepages-0`,
		}},
		{`limits: {cpu: 1, hugepages-x: 1}, requests: {hugepages-x: 1}`, []string{
			at + `limits[hugepages-x]: Invalid value: "1": 1 is not positive integer multiple of hugepages-x`,
			at + `requests[hugepages-x]: Invalid value: "1": 1 is not positive integer multiple of hugepages-x`,
		}},
	})
}

func TestExtendedResourcesHaveNamesForQuotas(t *testing.T) {
	domain := strings.Repeat("a.", 121) + "aa" // 244 characters, 253 with "requests."
	require.True(t, isExtendedResource(corev1.ResourceName(domain+"/gpu")))
	require.False(t, isExtendedResource(corev1.ResourceName(domain+"a/gpu")))
	require.False(t, isExtendedResource("example.com/gpu/x"))
	require.False(t, isExtendedResource("x.kubernetes.io/gpu"))
	require.False(t, isExtendedResource("cpu"))
}

func TestValidatePodLevelResources(t *testing.T) {
	var root *validate.Path
	r := validatetest.Parse[corev1.ResourceRequirements](t, `{requests: {cpu: 2, storage: 1}, limits: {cpu: 1, hugepages-2Mi: 2Mi}}`)
	require.Equal(t, []string{
		`resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
		`resources.requests[storage]: Unsupported value: "storage": supported values: "cpu", "hugepages-", "memory"`,
	}, validatetest.Texts(validateResourceRequirements(r, resourcesOfPod, PodValidationOptions{}, root.Child("resources"))))
}

func TestValidateContainerClaims(t *testing.T) {
	const at, unknown = "spec.containers[0].resources.claims", ": must be one of the names in pod.spec.resourceClaims"
	requireErrors(t, `spec: {resourceClaims: [{name: b}, {name: a}], containers: [{name: a, image: i, resources: {claims: [%s]}}]}`, []validationCase{
		{`{name: a, request: r}, {name: b}, {name: a, request: s}`, nil},
		{`{}, {name: c}`, []string{at + "[0]: Required value", at + `[1]: Not found: "c"` + unknown + ": a, b"}},
		{`{name: a}, {name: a}, {name: a, request: r}`, []string{at + `[1]: Duplicate value: "a"`, at + `[2]: Duplicate value: "a"`}},
		{`{name: a, request: r}, {name: a, request: r}, {name: a, request: s}, {name: a}`, []string{
			at + `[1]: Duplicate value: "a/r"`, at + `[3]: Duplicate value: "a"`, at + `[3]: Duplicate value: "a"`,
		}},
		{`{name: a, request: R}`, []string{at + `[0].request: Invalid value: "R": ` + validatetest.BadLabel}},
	})
	requireErrors(t, `spec: {containers: [{name: a, image: i, resources: {claims: [%s]}}]}`, []validationCase{
		{`{name: c}`, []string{at + `[0]: Not found: "c"` + unknown + " which is empty"}},
	})
}

func TestValidateResizePolicy(t *testing.T) {
	requireErrors(t, `spec: {%s}`, []validationCase{
		{`containers: [{name: a, image: i, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}, {resourceName: memory, restartPolicy: NotRequired}]}]`, nil},
		{`containers: [{name: a, image: i, resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: cpu}, {resourceName: gpu, restartPolicy: Maybe}, {restartPolicy: NotRequired}]}]`, []string{
			`spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"`,
			"spec.containers[0].resizePolicy: Required value",
			`spec.containers[0].resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"`,
			`spec.containers[0].resizePolicy: Unsupported value: "Maybe": supported values: "NotRequired", "RestartContainer"`,
			"spec.containers[0].resizePolicy: Required value",
		}},
		{`restartPolicy: Never, containers: [{name: a, image: i, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]`, []string{
			"spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
		}},
		{`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]},
			{name: c, image: i, restartPolicy: Always, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]`, []string{
			`spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
		}},
	})
}

// What a pod has already stays valid.
func TestContainerOptions(t *testing.T) {
	for _, spec := range []string{
		`containers: [{name: a, image: i, resources: {limits: {cpu: 1, hugepages-2Mi: 3Mi}}}]`,
		`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, resources: {limits: {cpu: 1, hugepages-2Mi: 3Mi}}}]`,
		`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]`,
		`containers: [{name: a, image: i}], volumes: [{name: v, image: {}}]`,
		`containers: [{name: a, image: i, securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN]}}}]`,
		`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN]}}}]`,
		`containers: [{name: a, image: i}], serviceAccountName: a, volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: ../a}}]}}]`,
	} {
		pod := validatetest.Parse[corev1.Pod](t, "spec: {"+spec+"}")
		setPodDefaults(pod)
		require.NotEmpty(t, validateContainersAndVolumes(pod, containerOptionsFor(nil)), spec)
		require.NotEmpty(t, validateContainersAndVolumes(pod, containerOptionsFor(&corev1.PodSpec{})), spec)
		require.Empty(t, validateContainersAndVolumes(pod, containerOptionsFor(&pod.Spec)), spec)
	}
	require.True(t, containerOptionsFor(validatetest.Parse[corev1.PodSpec](t, `{overhead: {hugepages-2Mi: 1}}`)).anyHugePages)
	require.True(t, containerOptionsFor(validatetest.Parse[corev1.PodSpec](t, `{ephemeralContainers: [{name: a, resources: {requests: {hugepages-2Mi: 1}}}]}`)).anyHugePages)
	const securityContext = `{ephemeralContainers: [{name: a, securityContext: {%s}}]}`
	for fields, want := range map[string]bool{
		`allowPrivilegeEscalation: false, capabilities: {add: [KILL, CAP_SYS_ADMIN]}`: true,
		`allowPrivilegeEscalation: false, capabilities: {add: [SYS_ADMIN]}`:           false,
		`allowPrivilegeEscalation: false`:                                             false,
		`allowPrivilegeEscalation: true, capabilities: {add: [CAP_SYS_ADMIN]}`:        false,
		`capabilities: {add: [CAP_SYS_ADMIN]}`:                                        false,
	} {
		old := validatetest.Parse[corev1.PodSpec](t, fmt.Sprintf(securityContext, fields))
		require.Equal(t, want, containerOptionsFor(old).anySysAdmin, fields)
	}
}
