package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidatePodStatusUpdate(t *testing.T) {
	const spec = "restartPolicy: OnFailure, nodeName: node, resourceClaims: [{name: gpu, resourceClaimName: g}], " +
		"initContainers: [{name: init, image: i}, {name: proxy, image: i, restartPolicy: Always}, {name: rules, image: i, restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]}, " +
		"{name: others, image: i, restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: NotIn, values: [42]}}, {action: Restart}]}]"
	device := validatetest.Parse[corev1.Container](t, "{name: device, resources: {claims: [{name: gpu}, {name: gpu, request: one}], requests: {example.com/gpu: 1}}}")
	ended := func(list, name string, code int) string {
		return fmt.Sprintf("%s: [{name: %s, state: {terminated: {exitCode: %d}}}]", list, name, code)
	}
	running := func(list, name string) string {
		return fmt.Sprintf("%s: [{name: %s, state: {running: {}}}]", list, name)
	}
	restarted := func(list string) []string {
		return []string{"status." + list + "[0].state: Forbidden: may not be transitioned to non-terminated state"}
	}
	for _, test := range []struct {
		old, updated string
		want         []string
	}{
		{"", "conditions: [{type: Ready}, {type: a b, observedGeneration: -1}]", []string{
			"status.conditions[1].observedGeneration: Invalid value: -1: must be a non-negative integer",
			`status.conditions[1].Type: Invalid value: "a b": ` + badName}},
		{"", "observedGeneration: -1", []string{"status.observedGeneration: Invalid value: -1: must be a non-negative integer"}},
		{"", "nominatedNodeName: a", []string{"status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"}},
		{"nominatedNodeName: a", "nominatedNodeName: a", nil},
		{"qosClass: Guaranteed", "qosClass: Burstable", []string{`status.qosClass: Invalid value: "Burstable": field is immutable`}},
		{ended("containerStatuses", "c", 0), running("containerStatuses", "c"), restarted("containerStatuses")},
		{ended("containerStatuses", "c", 0), ended("containerStatuses", "c", 0), nil},
		{ended("containerStatuses", "c", 1), running("containerStatuses", "c"), nil},
		{ended("containerStatuses", "x", 1), running("containerStatuses", "x"), restarted("containerStatuses")},
		{ended("initContainerStatuses", "init", 0), running("initContainerStatuses", "init"), restarted("initContainerStatuses")},
		{ended("initContainerStatuses", "proxy", 0), running("initContainerStatuses", "proxy"), nil},
		{ended("initContainerStatuses", "rules", 1), running("initContainerStatuses", "rules"), restarted("initContainerStatuses")},
		{ended("initContainerStatuses", "rules", 42), running("initContainerStatuses", "rules"), nil},
		{ended("ephemeralContainerStatuses", "e", 1), running("ephemeralContainerStatuses", "e"), restarted("ephemeralContainerStatuses")},
		{ended("ephemeralContainerStatuses", "e", 1), running("ephemeralContainerStatuses", "f"), nil},
		{running("ephemeralContainerStatuses", "e"), running("ephemeralContainerStatuses", "e"), nil},
		{ended("initContainerStatuses", "others", 42), running("initContainerStatuses", "others"), restarted("initContainerStatuses")},
		{ended("initContainerStatuses", "others", 1), running("initContainerStatuses", "others"), nil},
		{"", "resourceClaimStatuses: [{name: gpu, resourceClaimName: A}, {name: gpu}, {name: x}]", []string{
			`status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "A": ` + validatetest.BadSubdomain,
			`status.resourceClaimStatuses[1].name: Duplicate value: "gpu"`,
			"status.resourceClaimStatuses[2].name: Invalid value: \"x\": must match the name of an entry in `spec.resourceClaims`"}},
		{"", "extendedResourceClaimStatus: {requestMappings: []}", []string{
			"status.extendedResourceClaimStatus.requestMappings: Required value: at least one request mapping is required",
			"status.extendedResourceClaimStatus.resourceClaimName: Required value"}},
		{"", "extendedResourceClaimStatus: {resourceClaimName: A, requestMappings: [{containerName: x, resourceName: a, requestName: B}, {containerName: c, resourceName: a, requestName: b}, {containerName: c, resourceName: a, requestName: b}]}", []string{
			`status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "x": must match the name of an entry in spec.initContainers.name or spec.containers.name`,
			`status.extendedResourceClaimStatus.requestName: Invalid value: "B": ` + validatetest.BadLabel,
			`status.extendedResourceClaimStatus.requestMappings[1].resourceName: Invalid value: "a": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests`,
			`status.extendedResourceClaimStatus.requestMappings[2].resourceName: Invalid value: "a": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests`,
			`status.extendedResourceClaimStatus.requestMappings[2].containerName: Duplicate value: "c"`,
			`status.extendedResourceClaimStatus.requestMappings[2].resourceName: Duplicate value: "a"`,
			`status.extendedResourceClaimStatus.requestMappings[2].requestName: Duplicate value: "b"`,
			`status.extendedResourceClaimStatus.resourceClaimName: Invalid value: "A": ` + validatetest.BadSubdomain}},
		{"", "podIPs: [{ip: 10.0.0.1}, {ip: '2001:db8::1'}]", nil},
		{"", "podIPs: [{ip: 10.0.0.1}, {ip: 10.0.0.2}]", []string{
			`status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family`}},
		{"podIPs: [{ip: a}]", "podIPs: [{ip: a}, {ip: b}]", []string{
			`status.podIPs[1]: Invalid value: "b": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
			`status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[0]: a`,
			`status.podIPs: Invalid value: [{"IP":"a"},{"IP":"b"}]: may specify no more than one IP for each IP family`}},
		{"", "podIPs: [{ip: ''}]", []string{
			`status.podIPs[0]: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
			`status.podIPs: Invalid value: [{"IP":""}]: podIP and podIPs must either both be set or both be unset`}},
		{"", "hostIP: 10.0.0.1, hostIPs: [{ip: 10.0.0.2}, {ip: 010.0.0.3}]", []string{
			"status.hostIPs[0].ip: Invalid value: \"10.0.0.2\": must be equal to `hostIP`",
			`status.hostIPs[1]: Invalid value: "010.0.0.3": must not have leading 0s`,
			`status.hostIPs: Invalid value: [{"IP":"10.0.0.2"},{"IP":"010.0.0.3"}]: may specify no more than one IP for each IP family`}},
		{"", "containerStatuses: [{user: {}}, {user: {linux: {uid: 4294967296, gid: 0}}}]", []string{
			"status.containerStatuses[1].user.linux.uid: Invalid value: 4294967296: must be between 0 and 4294967295, inclusive"}},
		{"", "podIPs: [{ip: 10.0.0.1}, {ip: '2001:db8::1'}, {ip: 10.0.0.2}]", []string{
			`status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"2001:db8::1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family`}},
		{"", fmt.Sprintf("containerStatuses: [{name: device, allocatedResourcesStatus: [{name: example.com/gpu, resources: [{resourceID: a, health: Healthy, message: '%01025d'}]}]}]", 0), []string{
			"status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].message: Too long: may not be more than 1024 bytes"}},
		{"", "containerStatuses: [{user: {linux: {uid: 4294967295, gid: 0}}}, {user: {linux: {uid: -1, gid: -1, supplementalGroups: [-1]}}}]", []string{
			"status.containerStatuses[1].user.linux.uid: Invalid value: -1: must be between 0 and 4294967295, inclusive",
			"status.containerStatuses[1].user.linux.gid: Invalid value: -1: must be between 0 and 2147483647, inclusive",
			"status.containerStatuses[1].user.linux.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive"}},
		{"", "containerStatuses: [{name: c, allocatedResourcesStatus: [{name: a}, {name: 'claim:a', resources: [{resourceID: a, health: Sick, message: ''}, {resourceID: a, health: Healthy}]}]}, {name: x, allocatedResourcesStatus: [{name: a}]}]", []string{
			`status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "a": must match one of the container's resource requests`,
			`status.containerStatuses[0].allocatedResourcesStatus[1].name: Invalid value: "claim:a": must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty`,
			`status.containerStatuses[0].allocatedResourcesStatus[1].resources[0].health: Unsupported value: "Sick": supported values: "Healthy", "Unhealthy", "Unknown"`,
			`status.containerStatuses[0].allocatedResourcesStatus[1].resources[0].message: Required value: must be non-empty if specified`,
			`status.containerStatuses[0].allocatedResourcesStatus[1].resources[1].resourceID: Duplicate value: "a"`}},
		{"", "containerStatuses: [{name: device, allocatedResourcesStatus: [{name: 'claim:gpu'}, {name: 'claim:gpu/one'}, {name: 'claim:gpu/two'}, {name: example.com/gpu}, {name: 'claim:g/r'}]}], " +
			"extendedResourceClaimStatus: {resourceClaimName: g, requestMappings: [{containerName: device, resourceName: example.com/gpu, requestName: r}]}", []string{
			`status.containerStatuses[0].allocatedResourcesStatus[2].name: Invalid value: "claim:gpu/two": must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty`}},
		{"", "ephemeralContainerStatuses: [{allocatedResourcesStatus: [{name: a}]}]", []string{
			"status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status"}},
	} {
		t.Run(test.updated[:min(len(test.updated), 80)], func(t *testing.T) {
			old := simplePod(t, spec)
			old.Spec.Containers = append(old.Spec.Containers, *device)
			pod := old.DeepCopy()
			old.Status, pod.Status = *validatetest.Parse[corev1.PodStatus](t, "{"+test.old+"}"), *validatetest.Parse[corev1.PodStatus](t, "{"+test.updated+"}")
			setPodStatusDefaults(&old.Status)
			setPodStatusDefaults(&pod.Status)
			require.Equal(t, test.want, validatetest.Texts(validatePodStatusUpdate(t.Context(), pod, old)))
		})
	}
}

// The user of a container is one of Linux, and any containers run again if one may restart all.
func TestValidatePodStatusOfSpecs(t *testing.T) {
	const user, restart = "containerStatuses: [{user: {linux: {uid: -1, gid: 0}}}]", "containerStatuses: [{name: c, state: {running: {}}}]"
	const restartsAll = "restartPolicy: Never, restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [1]}}]"
	for _, c := range []struct{ spec, status, want string }{
		{"os: {name: linux}", user, "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 4294967295, inclusive"},
		{"os: {name: windows}", user, "status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod"},
		{"restartPolicy: Never", restart, "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"},
		{"restartPolicy: Never, initContainers: [{name: i, image: i, " + restartsAll + "}]", restart, ""},
	} {
		old := simplePod(t, c.spec)
		pod := old.DeepCopy()
		pod.Status = *validatetest.Parse[corev1.PodStatus](t, "{"+c.status+"}")
		pod.Status.QOSClass = old.Status.QOSClass
		old.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
		require.Equal(t, c.want, strings.Join(validatetest.Texts(validatePodStatusUpdate(t.Context(), pod, old)), "\n"), c.spec)
	}
	spec := simplePod(t, "restartPolicy: Never").Spec
	require.False(t, restartsAllContainers(&spec))
	spec.Containers = append(spec.Containers, *validatetest.Parse[corev1.Container](t, "{"+restartsAll+"}"))
	require.True(t, restartsAllContainers(&spec))
}
