package core

import (
	"testing"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateEnv(t *testing.T) {
	const (
		at      = "spec.containers[0].env[0]"
		badName = "a valid environment variable name must consist only of printable ASCII characters other than '='"
		badKey  = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
	)
	requireErrors(t, `spec: {containers: [{name: a, image: i, env: [%s]}], volumes: [{name: v}, {name: s, secret: {secretName: s}}]}`, []validationCase{
		{`{name: "a b!", value: x}, {name: "a b!"}, {name: "1", valueFrom: {fileKeyRef: {volumeName: v, path: a/b, key: K}}}`, nil},
		{`{value: x}, {name: A=}, {name: ä}`, []string{
			at + ".name: Required value",
			`spec.containers[0].env[1].name: Invalid value: "A=": ` + badName,
			`spec.containers[0].env[2].name: Invalid value: "ä": ` + badName,
		}},
		{`{name: A, valueFrom: {}}`, []string{
			at + ".valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
		}},
		{`{name: A, value: x, valueFrom: {configMapKeyRef: {name: A, key: ""}, secretKeyRef: {name: a.b, key: "a b"}}}`, []string{
			at + `.valueFrom.configMapKeyRef.name: Invalid value: "A": ` + validatetest.BadSubdomain,
			at + ".valueFrom.configMapKeyRef.key: Required value",
			at + `.valueFrom.secretKeyRef.key: Invalid value: "a b": ` + badKey,
			at + ".valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
		}},
		{`{name: A, valueFrom: {configMapKeyRef: {name: a, key: .a}, secretKeyRef: {name: a, key: ..}}}`, []string{
			at + ".valueFrom.secretKeyRef.key: Invalid value: \"..\": must not be '..'",
			at + ".valueFrom: Invalid value: \"\": may not have more than one field specified at a time",
		}},
		{`{name: A, valueFrom: {fileKeyRef: {volumeName: "", path: "", key: ""}}}`, []string{
			at + ".valueFrom.fileKeyRef.key: Required value",
			at + ".valueFrom.fileKeyRef.volumeName: Required value",
			at + ".valueFrom.fileKeyRef.path: Required value",
			at + `.valueFrom.fileKeyRef.volumeName: Not found: ""`,
		}},
		{`{name: A, valueFrom: {fileKeyRef: {volumeName: a.b, path: a/../b, key: =}}}, {name: B, valueFrom: {fileKeyRef: {volumeName: s, path: p, key: k}}}`, []string{
			at + `.valueFrom.fileKeyRef.key: Invalid value: "=": ` + badName,
			at + `.valueFrom.fileKeyRef.volumeName: Invalid value: "a.b": must not contain dots`,
			at + `.valueFrom.fileKeyRef.path: Invalid value: "a/../b": must not contain '..'`,
			at + `.valueFrom.fileKeyRef.volumeName: Not found: "a.b"`,
			`spec.containers[0].env[1].valueFrom.fileKeyRef.volumeName: Invalid value: "s": referenced volume must be of type emptyDir`,
		}},
		{`{name: A, value: x}]}], initContainers: [{name: b, image: i, env: [{name: A, valueFrom: {fileKeyRef: {volumeName: s, path: p, key: k}}}`, []string{
			`spec.initContainers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "s": referenced volume must be of type emptyDir`,
		}},
	})
}

func TestValidateFieldRef(t *testing.T) {
	const (
		at   = "spec.containers[0].env[0].valueFrom.fieldRef"
		name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	)
	requireErrors(t, `spec: {containers: [{name: a, image: i, env: [{name: A, valueFrom: {fieldRef: {%s}}}]}]}`, []validationCase{
		{`fieldPath: status.podIPs`, nil},
		{`fieldPath: spec.host`, nil},
		{`fieldPath: "metadata.annotations['example.com/A[b']"`, []string{at + `: Invalid value: "example.com/a[b": ` + name}},
		{`fieldPath: "metadata.annotations['example.com/A']"`, nil},
		{`fieldPath: "metadata.labels['']"`, []string{at + `: Invalid value: "": name part must be non-empty`, at + `: Invalid value: "": ` + name}},
		{`fieldPath: "metadata.name['a']"`, []string{at + `.fieldPath: Invalid value: "metadata.name['a']": error converting fieldPath: field label does not support subscript: metadata.name['a']`}},
		{`fieldPath: "['a']"`, []string{at + `.fieldPath: Invalid value: "['a']": error converting fieldPath: field label not supported: ['a']`}},
		{`fieldPath: spec.hostname`, []string{at + `.fieldPath: Invalid value: "spec.hostname": error converting fieldPath: field label not supported: spec.hostname`}},
		{`fieldPath: spec.terminationGracePeriodSeconds`, []string{at + `.fieldPath: Invalid value: "spec.terminationGracePeriodSeconds": error converting fieldPath: field label not supported: spec.terminationGracePeriodSeconds`}},
		{`fieldPath: spec.schedulerName`, []string{at + `.fieldPath: Unsupported value: "spec.schedulerName": supported values: "metadata.name", "metadata.namespace", "metadata.uid", ` +
			`"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`}},
		{`apiVersion: v2, fieldPath: metadata.name`, []string{at + `.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2`}},
		{`fieldPath: ""`, []string{at + ".fieldPath: Required value"}},
	})
}

func TestValidateResourceFieldRef(t *testing.T) {
	const (
		at    = "spec.containers[0].env[0].valueFrom.resourceFieldRef"
		bytes = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the "
	)
	requireErrors(t, `spec: {containers: [{name: a, image: i, env: [{name: A, valueFrom: {resourceFieldRef: {%s}}}]}]}`, []validationCase{
		{`resource: limits.cpu`, nil},
		{`resource: requests.cpu, divisor: 1m`, nil},
		{`resource: requests.cpu, divisor: "0.001"`, nil},
		{`resource: requests.cpu, divisor: 1000m`, nil},
		{`resource: requests.cpu, divisor: "1e-3"`, []string{at + `.divisor: Invalid value: "requests.cpu": only divisor's values 1m and 1 are supported with the cpu resource`}},
		{`resource: requests.cpu, divisor: 2`, []string{at + `.divisor: Invalid value: "requests.cpu": only divisor's values 1m and 1 are supported with the cpu resource`}},
		{`resource: limits.memory, divisor: 1Ei`, nil},
		{`resource: limits.memory, divisor: 1E`, nil},
		{`resource: limits.memory, divisor: 1000`, nil},
		{`resource: limits.memory, divisor: 1024Ki`, nil},
		{`resource: limits.memory, divisor: 1024`, []string{at + `.divisor: Invalid value: "limits.memory": ` + bytes + "memory resource"}},
		{`resource: limits.memory, divisor: "1e3"`, []string{at + `.divisor: Invalid value: "limits.memory": ` + bytes + "memory resource"}},
		{`resource: limits.memory, divisor: 1m`, []string{at + `.divisor: Invalid value: "limits.memory": ` + bytes + "memory resource"}},
		{`resource: requests.ephemeral-storage, divisor: 2Ki`, []string{at + `.divisor: Invalid value: "requests.ephemeral-storage": ` + bytes + "local ephemeral storage resource"}},
		{`resource: limits.hugepages-2Mi, divisor: 3`, []string{at + `.divisor: Invalid value: "limits.hugepages-2Mi": ` + bytes + "hugepages resource"}},
		{`resource: ""`, []string{at + ".resource: Required value"}},
		{`resource: limits.gpu, divisor: 7`, []string{at + `.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", ` +
			`"requests.cpu", "requests.ephemeral-storage", "requests.memory"`}},
	})
}

func TestValidateEnvFrom(t *testing.T) {
	const at = "spec.containers[0].envFrom"
	requireErrors(t, `spec: {containers: [{name: a, image: i, envFrom: [%s]}]}`, []validationCase{
		{`{prefix: "1 ", configMapRef: {name: a.b}}, {secretRef: {name: a-}}`, nil},
		{`{prefix: =, configMapRef: {}}, {secretRef: {}}, {secretRef: {name: A}}`, []string{
			at + `[0].prefix: Invalid value: "=": a valid environment variable name must consist only of printable ASCII characters other than '='`,
			at + "[0].configMapRef.name: Required value",
			at + "[1].secretRef.name: Required value",
			at + `[2].secretRef.name: Invalid value: "A": ` + validatetest.BadSubdomain,
		}},
		{`{}, {configMapRef: {name: a}, secretRef: {name: a}}`, []string{
			at + ": Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`",
			at + `: Invalid value: "": may not have more than one field specified at a time`,
		}},
	})
}
