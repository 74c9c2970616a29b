package discovery

import (
	"testing"

	"github.com/stretchr/testify/require"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func parseSlice(t *testing.T, text string) *discoveryv1.EndpointSlice {
	t.Helper()
	s := &discoveryv1.EndpointSlice{}
	require.NoError(t, yaml.UnmarshalStrict([]byte("{"+text+"}"), s))
	setEndpointSliceDefaults(s)
	return s
}

func TestValidateEndpointSlice(t *testing.T) {
	const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character " +
		"(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	const subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
		`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	const notIP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
	for text, want := range map[string][]string{
		`addressType: IPv4, endpoints: [{addresses: [10.0.0.1], nodeName: n.example, hostname: h, hints: {forZones: [{name: z}], forNodes: [{name: m}]}}]`: nil,
		`addressType: IPv6, endpoints: [{addresses: ['fd00::1']}], ports: [{name: a, appProtocol: example.com/a}, {}]`:                                     nil,
		`addressType: FQDN, endpoints: [{addresses: [a.example]}]`:                                                                                         nil,
		`addressType: Other, endpoints: [{addresses: [' ']}]`:                                                                                              nil,
		`addressType: IPv4, endpoints: [{addresses: [nope, 'fd00::1', 127.0.0.1]}]`: {
			`endpoints[0].addresses[0]: Invalid value: "nope": ` + notIP,
			`endpoints[0].addresses[0]: Invalid value: "nope": must be a valid IP address`,
			`endpoints[0].addresses[1]: Invalid value: "fd00::1": must be an IPv4 address`,
			`endpoints[0].addresses[2]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`},
		`addressType: IPv6, endpoints: [{addresses: [10.0.0.1]}]`: {`endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be an IPv6 address`},
		`addressType: FQDN, endpoints: [{addresses: [a]}]`: {
			`endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots`},
		`addressType: IPv4, endpoints: [{addresses: [10.0.0.1], nodeName: M, hostname: H, hints: {forZones: [{name: a b}, {name: z}, {name: z}], forNodes: [{name: M}, {name: m}, {name: m}]}}]`: {
			`endpoints[0].nodeName: Invalid value: "M": ` + subdomain,
			`endpoints[0].hostname: Invalid value: "H": ` + label,
			`endpoints[0].hints.forZones[0].name: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ` +
				`and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
			`endpoints[0].hints.forZones[2].name: Duplicate value: "z"`,
			`endpoints[0].hints.forNodes[0].name: Invalid value: "M": ` + subdomain,
			`endpoints[0].hints.forNodes[2].name: Duplicate value: "m"`},
		`addressType: IPv4, ports: [{name: A, protocol: tcp, appProtocol: -}, {name: web}, {name: web}]`: {
			`ports[0].name: Invalid value: "A": ` + label,
			`ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`,
			`ports[0].appProtocol: Invalid value: "-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric ` +
				`character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			`ports[2].name: Duplicate value: "web"`},
	} {
		t.Run(text, func(t *testing.T) { validatetest.RequireErrors(t, validateEndpointSlice(parseSlice(t, text)), want...) })
	}
}

func TestValidateLongEndpointSlices(t *testing.T) {
	s := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	s.Endpoints = make([]discoveryv1.Endpoint, maxEndpoints)
	validatetest.RequireErrors(t, validateEndpointSlice(s))
	s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{})
	s.Ports = make([]discoveryv1.EndpointPort, maxPorts+1)
	validatetest.RequireErrors(t, validateEndpointSlice(s), "ports: Too many: 20001: must have at most 20000 items", "endpoints: Too many: 1001: must have at most 1000 items")

	s = &discoveryv1.EndpointSlice{Endpoints: []discoveryv1.Endpoint{{Hints: &discoveryv1.EndpointHints{ForNodes: make([]discoveryv1.ForNode, maxHints+1)}}}}
	validatetest.RequireErrors(t, validateEndpointSlice(s), "endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items")
	s.Endpoints[0].Hints.ForZones = make([]discoveryv1.ForZone, maxHints+1)
	validatetest.RequireErrors(t, validateEndpointSlice(s), "endpoints[0].hints.forZones: Too many: 9: must have at most 8 items")
}

func TestValidateEndpointSliceUpdate(t *testing.T) {
	old := parseSlice(t, `addressType: IPv4, endpoints: [{addresses: [010.0.0.1]}]`)
	s := old.DeepCopy()
	validatetest.RequireErrors(t, validateEndpointSliceUpdate(s, old))
	s.Ports = []discoveryv1.EndpointPort{{Name: new("A")}}
	require.Len(t, validateEndpointSliceUpdate(s, old), 1)
	s.Ports = nil
	s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{"10.0.0.2"}})
	validatetest.RequireErrors(t, validateEndpointSliceUpdate(s, old), `endpoints[0].addresses[0]: Invalid value: "010.0.0.1": must not have leading 0s`)
}

func TestEndpointSliceWarnings(t *testing.T) {
	names := parseSlice(t, `addressType: FQDN, endpoints: [{addresses: [a.example]}]`)
	require.Equal(t, []string{"spec.addressType: FQDN endpoints are deprecated"}, endpointSliceWarnings(names))
	require.Empty(t, endpointSliceWarningsOnUpdate(names, names))
	ips := parseSlice(t, `addressType: IPv6, endpoints: [{addresses: ['fd00::1', 'FD00::1']}]`)
	want := []string{`endpoints[0].addresses[1]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`}
	require.Equal(t, want, endpointSliceWarnings(ips))
	require.Equal(t, want, endpointSliceWarningsOnUpdate(ips, ips))
	ips.Labels = map[string]string{discoveryv1.LabelManagedBy: "endpointslice-controller.k8s.io"}
	require.Empty(t, endpointSliceWarnings(ips))
}
