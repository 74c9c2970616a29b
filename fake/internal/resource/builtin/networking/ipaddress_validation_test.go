package networking

import (
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateIPAddress(t *testing.T) {
	for text, want := range map[string][]string{
		`spec: {}`: nil, // the tags of the type require the reference
		`spec: {parentRef: {resource: services, name: a, namespace: b}}`: nil,
		`spec: {parentRef: {group: A, resource: a/b, name: "%", namespace: .}}`: {
			`spec.parentRef.group: Invalid value: "A": ` + validatetest.BadSubdomain, `spec.parentRef.resource: Invalid value: "a/b": may not contain '/'`,
			`spec.parentRef.name: Invalid value: "%": may not contain '%'`, `spec.parentRef.namespace: Invalid value: ".": may not be '.'`,
		},
	} {
		require.Equal(t, want, validatetest.Texts(validateIPAddressUpdate(validatetest.Parse[networkingv1.IPAddress](t, text), nil)), text)
	}
}
