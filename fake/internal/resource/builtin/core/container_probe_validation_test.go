package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func TestValidateProbes(t *testing.T) {
	const at = "spec.containers[0]."
	requireErrors(t, `spec: {containers: [{name: a, image: i, %s}]}`, []validationCase{
		{`livenessProbe: {httpGet: {port: 65535, path: any, scheme: HTTPS}}, readinessProbe: {tcpSocket: {port: a1}, successThreshold: 2}, startupProbe: {grpc: {port: 1}, terminationGracePeriodSeconds: 1}`, nil},
		{`livenessProbe: {}, readinessProbe: {}, startupProbe: {}`, []string{
			at + "livenessProbe: Required value: must specify a handler type",
			at + "readinessProbe: Required value: must specify a handler type",
			at + "startupProbe: Required value: must specify a handler type",
		}},
		{`livenessProbe: {exec: {}, httpGet: {port: 0}, tcpSocket: {port: 0}, grpc: {port: 0}}`, []string{
			at + "livenessProbe.exec.command: Required value",
			at + "livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
			at + "livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
			at + "livenessProbe.grpc: Forbidden: may not specify more than 1 handler type",
		}},
		{`livenessProbe: {httpGet: {port: 1-, scheme: FTP, httpHeaders: [{name: A}, {name: "A:"}]}}`, []string{
			at + `livenessProbe.httpGet.port: Invalid value: "1-": must contain at least one letter (a-z)`,
			at + `livenessProbe.httpGet.port: Invalid value: "1-": must not begin or end with a hyphen`,
			at + `livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"`,
			at + `livenessProbe.httpGet.httpHeaders: Invalid value: "A:": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')`,
		}},
		{`livenessProbe: {tcpSocket: {port: 65536}, successThreshold: 2}, startupProbe: {grpc: {port: -1}, successThreshold: 3}`, []string{
			at + "livenessProbe.tcpSocket.port: Invalid value: 65536: must be between 1 and 65535, inclusive",
			at + "livenessProbe.successThreshold: Invalid value: 2: must be 1",
			at + "startupProbe.grpc.port: Invalid value: -1: must be between 1 and 65535, inclusive",
			at + "startupProbe.successThreshold: Invalid value: 3: must be 1",
		}},
		{`readinessProbe: {tcpSocket: {port: 1}, initialDelaySeconds: -1, timeoutSeconds: -2, periodSeconds: -3, successThreshold: -4, failureThreshold: -5, terminationGracePeriodSeconds: 0}`, []string{
			at + "readinessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0",
			at + "readinessProbe.timeoutSeconds: Invalid value: -2: must be greater than or equal to 0",
			at + "readinessProbe.periodSeconds: Invalid value: -3: must be greater than or equal to 0",
			at + "readinessProbe.successThreshold: Invalid value: -4: must be greater than or equal to 0",
			at + "readinessProbe.failureThreshold: Invalid value: -5: must be greater than or equal to 0",
			at + "readinessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
			at + "readinessProbe.terminationGracePeriodSeconds: Invalid value: 0: must not be set for readinessProbes",
		}},
	})
}

func TestValidateLifecycle(t *testing.T) {
	const at = "spec.containers[0].lifecycle."
	requireErrors(t, `spec: {%s}`, []validationCase{
		{`containers: [{name: a, image: i, lifecycle: {postStart: {sleep: {seconds: 0}}, preStop: {sleep: {seconds: 30}}}}]`, nil},
		{`containers: [{name: a, image: i, lifecycle: {postStart: {}, preStop: {sleep: {seconds: 31}}}}]`, []string{
			at + "postStart: Required value: must specify a handler type",
			at + "preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
		}},
		{`terminationGracePeriodSeconds: 40, containers: [{name: a, image: i, lifecycle: {postStart: {httpGet: {port: 1}, sleep: {seconds: -1}}, preStop: {sleep: {seconds: -1}}}}]`, []string{
			at + "postStart.sleep: Forbidden: may not specify more than 1 handler type",
			at + "preStop.sleep: Invalid value: -1: must be non-negative and less than terminationGracePeriodSeconds (40)",
		}},
		{`containers: [{name: a, image: i, lifecycle: {stopSignal: SIGTERM}}]`, []string{
			at + "stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`",
		}},
		{`os: {name: windows}, containers: [{name: a, image: i, lifecycle: {stopSignal: SIGINT}}]`, []string{
			at + `stopSignal: Unsupported value: "SIGINT": supported values: "SIGKILL", "SIGTERM"`,
		}},
		{`os: {name: linux}, containers: [{name: a, image: i, lifecycle: {stopSignal: SIGRTMIN+15}}]`, nil},
	})
	var root *validate.Path
	errs := validateStopSignal("SIGRTMAX-15", &corev1.PodOS{Name: corev1.Linux}, root.Child("stopSignal"))
	require.Len(t, errs, 1)
	require.Equal(t, 65, strings.Count(errs[0].Detail, `"`)/2)
	require.Contains(t, errs[0].Detail, `supported values: "SIGABRT", "SIGALRM", "SIGBUS", `)
}

func TestValidateRestartRules(t *testing.T) {
	const rule = "{action: Restart, exitCodes: {operator: In, values: [1]}}"
	long := strings.Repeat(rule+", ", 20)
	codes := strings.Repeat("1,", 255)
	requireErrors(t, `spec: {%s}`, []validationCase{
		{`containers: [{name: a, image: i, restartPolicy: Never, restartPolicyRules: [` + long + `]}]`, nil},
		{`containers: [{name: a, image: i, restartPolicy: OnFailure, restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: NotIn, values: [` + codes + `]}}]}]`, nil},
		{`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, restartPolicy: Always, restartPolicyRules: [` + rule + `]}]`, nil},
		{`containers: [{name: a, image: i, restartPolicyRules: [{action: Stop}]}]`, []string{
			"spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
			`spec.containers[0].restartPolicyRules[0].action: Unsupported value: "Stop": supported values: "Restart", "RestartAllContainers"`,
			"spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified",
		}},
		{`containers: [{name: a, image: i}], initContainers: [{name: b, image: i, restartPolicyRules: [{action: Stop}]}]`, []string{
			"spec.initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
		}},
		{`containers: [{name: a, image: i, restartPolicy: Seldom, restartPolicyRules: [` + long + rule + `]}]`, []string{
			`spec.containers[0].restartPolicy: Unsupported value: "Seldom": supported values: "Always", "Never", "OnFailure"`,
			"spec.containers[0].restartPolicyRules: Too many: 21: must have at most 20 items",
		}},
		{`containers: [{name: a, image: i, restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: Is, values: [1,` + codes + `]}}]}]`, []string{
			`spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"`,
			"spec.containers[0].restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items",
		}},
	})
}
