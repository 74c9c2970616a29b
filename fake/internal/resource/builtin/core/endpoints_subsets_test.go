//lint:file-ignore SA1019 Endpoints are served

package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/dump"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestCanonicalizeEndpoints(t *testing.T) {
	const port = `{port: 1, protocol: TCP}`
	e := validatetest.Parse[corev1.Endpoints](t, `subsets: [{addresses: [{ip: 10.0.0.2}], ports: [`+port+`]}, {addresses: [{ip: 10.0.0.1}], ports: [`+port+`]}]`)
	canonicalizeEndpoints(e)
	requireYAML(t, `subsets: [{addresses: [{ip: 10.0.0.1}, {ip: 10.0.0.2}], ports: [`+port+`]}]`, e)
	// What is not valid stays as it is.
	const empty = `subsets: [{ports: [` + port + `]}, {addresses: [{ip: 10.0.0.2}, {ip: 10.0.0.1}]}]`
	e = validatetest.Parse[corev1.Endpoints](t, empty)
	canonicalizeEndpoints(e)
	requireYAML(t, empty, e)
}

func TestRepackSubsets(t *testing.T) {
	for _, test := range []struct{ name, subsets, want string }{
		{"equal ports", `[{addresses: [{ip: b}], ports: [{port: 1}]}, {addresses: [{ip: a}], ports: [{port: 1}]}]`,
			`[{addresses: [{ip: a}, {ip: b}], ports: [{port: 1}]}]`},
		{"not ready wins", `[{addresses: [{ip: a}], ports: [{port: 1}]}, {notReadyAddresses: [{ip: a}], ports: [{port: 1}]}]`,
			`[{notReadyAddresses: [{ip: a}], ports: [{port: 1}]}]`},
		{"same IP of two objects", `[{addresses: [{ip: a, targetRef: {uid: '2'}}, {ip: a, targetRef: {uid: '1'}}, {ip: a}]}]`,
			`[{addresses: [{ip: a}, {ip: a, targetRef: {uid: '1'}}, {ip: a, targetRef: {uid: '2'}}]}]`},
		{"without ports", `[{addresses: [{ip: b}]}, {addresses: [{ip: a}]}]`, `[{addresses: [{ip: a}, {ip: b}]}]`},
		{"equal addresses", `[{addresses: [{ip: a}], ports: [{port: 1, name: p1}]}, {addresses: [{ip: a}], ports: [{port: 1, name: p1}]}]`,
			`[{addresses: [{ip: a}], ports: [{port: 1, name: p1}]}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := validatetest.Parse[corev1.Endpoints](t, "subsets: "+test.subsets)
			e.Subsets = repackSubsets(e.Subsets)
			requireYAML(t, "subsets: "+test.want, e)
		})
	}
}

// The order is that of hashes, so it does not depend on the order in the request.
func TestRepackSubsetsOrder(t *testing.T) {
	a := validatetest.Parse[corev1.Endpoints](t, `subsets:
- {addresses: [{ip: 10.0.0.1}, {ip: 10.0.0.2}], ports: [{port: 1, name: p1}, {port: 2, name: p2}, {port: 3, name: p3}]}
- {addresses: [{ip: 10.0.0.3}], ports: [{port: 1, name: p1}]}`)
	b := validatetest.Parse[corev1.Endpoints](t, `subsets:
- {addresses: [{ip: 10.0.0.3}], ports: [{port: 1, name: p1}]}
- {addresses: [{ip: 10.0.0.2}, {ip: 10.0.0.1}], ports: [{port: 3, name: p3}, {port: 2, name: p2}]}
- {addresses: [{ip: 10.0.0.1}, {ip: 10.0.0.2}], ports: [{port: 1, name: p1}]}`)
	a.Subsets, b.Subsets = repackSubsets(a.Subsets), repackSubsets(b.Subsets)
	require.Equal(t, a, b)
	again := a.DeepCopy()
	again.Subsets = repackSubsets(again.Subsets)
	require.Equal(t, a, again)
	require.Len(t, a.Subsets, 2, "the port of all three is in both, with the addresses that have its other ports")
}

// The text that is hashed names the types of package core.
func TestHashObject(t *testing.T) {
	subset := corev1.EndpointSubset{
		Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1", TargetRef: &corev1.ObjectReference{Kind: "Pod"}}},
		Ports:     []corev1.EndpointPort{{Port: 1, Protocol: "TCP"}},
	}
	require.NotEqual(t, hashObject(subset), hashObject(subset.Ports))
	require.Equal(t, `(v1.EndpointPort){Name:(string) Port:(int32)1 Protocol:(v1.Protocol)TCP AppProtocol:(*string)<nil>}`, dump.ForHash(subset.Ports[0]))
}
