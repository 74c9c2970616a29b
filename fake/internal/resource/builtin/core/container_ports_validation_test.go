package core

import "testing"

func TestValidateContainerPorts(t *testing.T) {
	const at = "spec.containers[0].ports"
	requireErrors(t, `spec: {containers: [{name: a, image: i, ports: [%s]}]}`, []validationCase{
		{`{containerPort: 1}, {containerPort: 1, protocol: UDP}, {containerPort: 65535, protocol: SCTP, hostPort: 65535, hostIP: any, name: a-1}`, nil},
		{`{name: a--b, containerPort: 65536, hostPort: -1, protocol: HTTP}`, []string{
			at + `[0].name: Invalid value: "a--b": must not contain consecutive hyphens`,
			at + "[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
			at + "[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
			at + `[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"`,
		}},
		{`{name: a, containerPort: 1}, {name: a}`, []string{
			at + `[1].name: Duplicate value: "a"`,
			at + "[1].containerPort: Required value",
		}},
		{`{containerPort: 1, hostPort: 2}, {containerPort: 3, hostPort: 2, hostIP: 10.0.0.1}, {containerPort: 4, hostPort: 2, hostIP: 10.0.0.1}`, []string{
			at + `[2].hostPort: Duplicate value: "TCP/10.0.0.1/2"`,
		}},
	})
}

func TestValidateHostPortsOfSeveralContainers(t *testing.T) {
	requireErrors(t, `spec: {%s}`, []validationCase{
		{`containers: [{name: a, image: i, ports: [{containerPort: 1, hostPort: 2}]}, {name: b, image: i, ports: [{containerPort: 1, hostPort: 2}]}]`, []string{
			`spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//2"`,
		}},
		{`containers: [{name: a, image: i, ports: [{containerPort: 1, hostPort: 2}]}], initContainers: [{name: b, image: i, ports: [{containerPort: 1, hostPort: 2}]}]`, nil},
		{`containers: [{name: a, image: i}], initContainers: [{name: b, image: i}, {name: c, image: i, ports: [{containerPort: 1, hostPort: 2}, {containerPort: 3, hostPort: 2}]}]`, []string{
			`spec.initContainers[0].ports[1].hostPort: Duplicate value: "TCP//2"`,
		}},
	})
}
