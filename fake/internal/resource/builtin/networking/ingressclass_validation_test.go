package networking

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateIngressClass(t *testing.T) {
	long := "a/" + strings.Repeat("b", 248)
	for text, want := range map[string][]string{
		`spec: {controller: ` + long + `}`:  nil,
		`spec: {controller: ` + long + `c}`: {"spec.controller: Too long: may not be more than 250 bytes"},
		`spec: {controller: ""}`:            {"spec.controller: Required value"},
		`spec: {controller: a}`:             {`spec.controller: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")`},
		`spec: {controller: A/b}`:           {`spec.controller: Invalid value: "A": ` + validatetest.BadSubdomain},
		`spec: {controller: a/b, parameters: {apiGroup: c, kind: d, name: e, scope: Namespace, namespace: f}}`: nil,
		`spec: {controller: a/b, parameters: {kind: "", name: "", scope: Cluster}}`:                            nil, // the tags of the type require both
		`spec: {controller: a/b, parameters: {apiGroup: C, kind: d/, name: "%", scope: Cluster, namespace: f}}`: {
			`spec.parameters.apiGroup: Invalid value: "C": ` + validatetest.BadSubdomain, `spec.parameters.kind: Invalid value: "d/": may not contain '/'`,
			`spec.parameters.name: Invalid value: "%": may not contain '%'`, "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
		},
		`spec: {controller: a/b, parameters: {kind: d, name: e, scope: Namespace}}`:                 {"spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"},
		`spec: {controller: a/b, parameters: {kind: d, name: e, scope: Namespace, namespace: "F"}}`: {`spec.parameters.namespace: Invalid value: "F": ` + validatetest.BadLabel},
		`spec: {controller: a/b, parameters: {kind: d, name: e, scope: Other}}`:                     {`spec.parameters.scope: Unsupported value: "Other": supported values: "Cluster", "Namespace"`},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validateIngressClass(validatetest.Parse[networkingv1.IngressClass](t, text))))
		})
	}

	old := validatetest.Parse[networkingv1.IngressClass](t, `spec: {controller: a/b}`)
	require.Empty(t, validateIngressClassUpdate(validatetest.Parse[networkingv1.IngressClass](t, `spec: {controller: a/b, parameters: {kind: c, name: d, scope: Cluster}}`), old))
	require.Equal(t, []string{`spec.controller: Invalid value: "a/c": field is immutable`},
		validatetest.Texts(validateIngressClassUpdate(validatetest.Parse[networkingv1.IngressClass](t, `spec: {controller: a/c}`), old)))
}
