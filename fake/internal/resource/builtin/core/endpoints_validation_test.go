//lint:file-ignore SA1019 Endpoints are served

package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func parseEndpoints(t *testing.T, subsets string) *corev1.Endpoints {
	t.Helper()
	e := validatetest.Parse[corev1.Endpoints](t, "subsets: "+subsets)
	setEndpointsDefaults(e)
	return e
}

func TestValidateEndpoints(t *testing.T) {
	const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character " +
		"(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	const subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
		`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	for subsets, want := range map[string][]string{
		`[]`: nil,
		`[{addresses: [{ip: 10.0.0.1, hostname: a, nodeName: m.example}], ports: [{port: 1}]}, {notReadyAddresses: [{ip: 'fd00::1'}]}]`: nil,
		`[{ports: [{port: 1}]}]`: {"subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"},
		`[{addresses: [{ip: nope, hostname: A, nodeName: M}], notReadyAddresses: [{ip: 127.0.0.1}]}]`: {
			`subsets[0].addresses[0].ip: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
			`subsets[0].addresses[0].hostname: Invalid value: "A": ` + label,
			`subsets[0].addresses[0].nodeName: Invalid value: "M": ` + subdomain,
			`subsets[0].addresses[0].ip: Invalid value: "nope": must be a valid IP address`,
			`subsets[0].notReadyAddresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`},
		`[{addresses: [{ip: 10.0.0.1}], ports: [{port: 0, protocol: tcp, appProtocol: -}, {name: A, port: 1}]}]`: {
			`subsets[0].ports[0].name: Required value`,
			`subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive`,
			`subsets[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`,
			`subsets[0].ports[0].appProtocol: Invalid value: "-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with ` +
				`an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			`subsets[0].ports[1].name: Invalid value: "A": ` + label},
	} {
		t.Run(subsets, func(t *testing.T) {
			validatetest.RequireErrors(t, validateEndpoints(parseEndpoints(t, subsets)), want...)
		})
	}
}

func TestValidateEndpointsUpdate(t *testing.T) {
	old := parseEndpoints(t, `[{addresses: [{ip: 010.0.0.1}]}]`)
	validatetest.RequireErrors(t, validateEndpointsUpdate(old.DeepCopy(), old))
	validatetest.RequireErrors(t, validateEndpointsUpdate(parseEndpoints(t, `[{addresses: [{ip: 010.0.0.1}, {ip: 10.0.0.2}]}]`), old),
		`subsets[0].addresses[0].ip: Invalid value: "010.0.0.1": must not have leading 0s`)
}

func TestEndpointsWarnings(t *testing.T) {
	e := parseEndpoints(t, `[{addresses: [{ip: 10.0.0.1}, {ip: 'FD00::1'}], notReadyAddresses: [{ip: 'FD00::2'}]}]`)
	require.Equal(t, []string{
		`subsets[0].addresses[1].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`,
		`subsets[0].notReadyAddresses[0].ip: IPv6 address "FD00::2" should be in RFC 5952 canonical format ("fd00::2")`,
	}, endpointsWarnings(e))
	e.Labels = map[string]string{"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
	require.Empty(t, endpointsWarnings(e))
}
