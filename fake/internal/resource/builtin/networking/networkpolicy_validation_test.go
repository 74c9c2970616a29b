package networking

import (
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateNetworkPolicy(t *testing.T) {
	for text, want := range map[string][]string{
		`spec: {ingress: [{}], egress: [{ports: [{port: 1, endPort: 65535}, {port: 2, endPort: 2}, {port: a-1}, {}], to: [{podSelector: {}, namespaceSelector: {}}, {ipBlock: {cidr: "10.0.0.0/8", except: ["10.1.0.0/16"]}}]}]}`: nil,
		`spec: {ingress: [{from: [{ipBlock: {cidr: "FE80:0::/64"}}, {ipBlock: {cidr: ""}}]}], policyTypes: [Egress, Egress]}`:                                                                                                     nil,
		`spec: {podSelector: {matchLabels: {a: "b:"}}, policyTypes: [Ingress, Other]}`: {
			`spec.podSelector.matchLabels: Invalid value: "b:": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
			`spec.policyTypes[1]: Unsupported value: "Other": supported values: "Ingress", "Egress"`,
		},
		`spec: {policyTypes: [A, B, C]}`: {`spec.policyTypes: Invalid value: ["A","B","C"]: may not specify more than two policyTypes`},
		`spec: {ingress: [{ports: [{protocol: ICMP, port: 65536, endPort: 65535}, {port: a_1, endPort: 1}, {endPort: 2}]}]}`: {
			`spec.ingress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"`,
			"spec.ingress[0].ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive",
			"spec.ingress[0].ports[0].endPort: Invalid value: 65535: must be greater than or equal to `port`",
			"spec.ingress[0].ports[1].endPort: Invalid value: 1: may not be specified when `port` is non-numeric",
			`spec.ingress[0].ports[1].port: Invalid value: "a_1": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			"spec.ingress[0].ports[2].endPort: Invalid value: 2: may not be specified when `port` is not specified",
		},
		`spec: {egress: [{ports: [{port: 1, endPort: 65536}], to: [{}, {podSelector: {}, ipBlock: {cidr: "10.0.0.0/8"}}]}]}`: {
			"spec.egress[0].ports[0].endPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
			"spec.egress[0].to[0]: Required value: must specify a peer",
			"spec.egress[0].to[1]: Forbidden: may not specify both ipBlock and another peer",
		},
		`spec: {egress: [{to: [{ipBlock: {cidr: a, except: [b]}}, {ipBlock: {cidr: "10.0.0.0/16", except: ["c", "10.0.0.0/16", "11.0.0.0/24", "10.0.1.1/24"]}}]}]}`: {
			`spec.egress[0].to[0].ipBlock.cidr: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
			`spec.egress[0].to[1].ipBlock.except[0]: Invalid value: "c": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
			"spec.egress[0].to[1].ipBlock.except[1]: Invalid value: \"10.0.0.0/16\": must be a strict subset of `cidr`",
			"spec.egress[0].to[1].ipBlock.except[2]: Invalid value: \"11.0.0.0/24\": must be a strict subset of `cidr`",
			`spec.egress[0].to[1].ipBlock.except[3]: Invalid value: "10.0.1.1/24": must not have bits set beyond the prefix length`,
		},
		`spec: {ingress: [{from: [{ipBlock: {cidr: "010.0.0.0/8"}}, {ipBlock: {cidr: "::ffff:10.0.0.0/104"}}]}]}`: {
			`spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length`,
			`spec.ingress[0].from[1].ipBlock.cidr: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address`,
		},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validateNetworkPolicy(validatetest.Parse[networkingv1.NetworkPolicy](t, text))))
		})
	}

	old := validatetest.Parse[networkingv1.NetworkPolicy](t, `spec: {podSelector: {matchExpressions: [{key: a, operator: In, values: ["b:"]}]}, ingress: [{from: [{ipBlock: {cidr: "10.0.0.0/8", except: ["10.01.0.0/16"]}}]}]}`)
	moved := validatetest.Parse[networkingv1.NetworkPolicy](t, `spec: {podSelector: {matchExpressions: [{key: a, operator: In, values: ["c:"]}]}, egress: [{to: [{ipBlock: {cidr: "10.01.0.0/16"}}]}]}`)
	require.Empty(t, validateNetworkPolicyUpdate(moved, old), "malformed values stay valid")
	require.Len(t, validateNetworkPolicyUpdate(moved, &networkingv1.NetworkPolicy{}), 2)
}

func TestNetworkPolicyWarnings(t *testing.T) {
	np := validatetest.Parse[networkingv1.NetworkPolicy](t, `spec: {ingress: [{from: [{}, {ipBlock: {cidr: "FE80::/64"}}]}], egress: [{to: [{ipBlock: {cidr: "fe80::/64", except: ["fe80:0::/65"]}}]}]}`)
	require.Equal(t, []string{
		`spec.ingress[0].from[1].ipBlock.cidr: IPv6 CIDR value "FE80::/64" should be in RFC 5952 canonical format ("fe80::/64")`,
		`spec.egress[0].to[0].ipBlock.except[0]: IPv6 CIDR value "fe80:0::/65" should be in RFC 5952 canonical format ("fe80::/65")`,
	}, networkPolicyUpdateWarnings(np, nil))
}
