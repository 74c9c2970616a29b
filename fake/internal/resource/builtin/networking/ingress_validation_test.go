package networking

import (
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateIngress(t *testing.T) {
	const wildcard = `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character ` +
		`(e.g. '*.example.com', regex used for validation is '\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	const backend = `backend: {service: {name: 1-a, port: {number: 65535}}}`
	for text, want := range map[string][]string{
		`spec: {defaultBackend: {service: {name: a, port: {name: http}}}}`: nil,
		`spec: {rules: [{}, {host: "*.a"}, {host: a.b, http: {paths: [{path: /a/.b, pathType: Exact, ` + backend + `}, {pathType: ImplementationSpecific, ` + backend + `}, {path: /a//b, pathType: ImplementationSpecific, ` + backend + `}]}}], tls: [{}, {hosts: ["*.a", b], secretName: c}]}`: nil,
		`{metadata: {annotations: {kubernetes.io/ingress.class: A}}, spec: {rules: [{}]}}`:                      nil,
		`{metadata: {annotations: {kubernetes.io/ingress.class: a}}, spec: {rules: [{}], ingressClassName: a}}`: nil,
		`{metadata: {annotations: {kubernetes.io/ingress.class: a}}, spec: {rules: [{}], ingressClassName: B}}`: {
			`spec.ingressClassName: Invalid value: "B": ` + validatetest.BadSubdomain,
			"annotations.kubernetes.io/ingress.class: Invalid value: \"a\": must match `ingressClassName` when both are specified",
		},
		`spec: {}`:                   {"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"},
		`spec: {defaultBackend: {}}`: {`spec.defaultBackend: Invalid value: "": resource or service backend is required`},
		`spec: {defaultBackend: {service: {name: "", port: {}}}}`: {
			"spec.defaultBackend.service.name: Required value", "spec.defaultBackend: Required value: port name or number is required"},
		`spec: {defaultBackend: {service: {name: A, port: {name: "-", number: 1}}}}`: {
			`spec.defaultBackend.service.name: Invalid value: "A": ` + validatetest.BadLabel, `spec.defaultBackend: Invalid value: "": cannot set both port name & port number`},
		`spec: {defaultBackend: {service: {name: a, port: {name: "1"}}}}`: {
			`spec.defaultBackend.service.port.name: Invalid value: "1": must contain at least one letter (a-z)`},
		`spec: {defaultBackend: {service: {name: a, port: {number: -1}}}}`: {"spec.defaultBackend.service.port.number: Invalid value: -1: must be between 1 and 65535, inclusive"},
		`spec: {defaultBackend: {resource: {apiGroup: "", kind: "", name: ""}}}`: {
			`spec.defaultBackend.resource.apiGroup: Invalid value: "": ` + validatetest.BadSubdomain,
			"spec.defaultBackend.resource.kind: Required value: kind is required", "spec.defaultBackend.resource.name: Required value: name is required",
		},
		`spec: {defaultBackend: {resource: {kind: a/b, name: ".."}}}`: {
			`spec.defaultBackend.resource.kind: Invalid value: "a/b": may not contain '/'`, `spec.defaultBackend.resource.name: Invalid value: "..": may not be '..'`},
		`spec: {defaultBackend: {resource: {kind: a, name: b}, service: {name: c}}}`: {`spec.defaultBackend: Invalid value: "": cannot set both resource and service backends`},
		`spec: {rules: [{host: 10.0.0.1}, {host: A}, {host: a.*}, {http: {paths: []}}]}`: {
			`spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`,
			`spec.rules[1].host: Invalid value: "A": ` + validatetest.BadSubdomain, `spec.rules[2].host: Invalid value: "a.*": ` + wildcard,
			"spec.rules[3].http.paths: Required value",
		},
		`spec: {rules: [{http: {paths: [{path: a, backend: {}}, {path: "", pathType: Prefix, ` + backend + `}, {path: a, pathType: ImplementationSpecific, ` + backend + `}, {path: a, pathType: Regex, ` + backend + `}]}}]}`: {
			"spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified",
			`spec.rules[0].http.paths[1].path: Invalid value: "": must be an absolute path`,
			`spec.rules[0].http.paths[2].path: Invalid value: "a": must be an absolute path`,
			`spec.rules[0].http.paths[3].pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
		},
		`spec: {rules: [{http: {paths: [{path: "/a//b/./c/../d%2fe%2F/..", pathType: Prefix, ` + backend + `}, {path: "/.", pathType: Exact, ` + backend + `}]}}]}`: {
			`spec.rules[0].http.paths[0].path: Invalid value: "/a//b/./c/../d%2fe%2F/..": must not contain '//'`,
			`spec.rules[0].http.paths[0].path: Invalid value: "/a//b/./c/../d%2fe%2F/..": must not contain '/./'`,
			`spec.rules[0].http.paths[0].path: Invalid value: "/a//b/./c/../d%2fe%2F/..": must not contain '/../'`,
			`spec.rules[0].http.paths[0].path: Invalid value: "/a//b/./c/../d%2fe%2F/..": must not contain '%2f'`,
			`spec.rules[0].http.paths[0].path: Invalid value: "/a//b/./c/../d%2fe%2F/..": must not contain '%2F'`,
			`spec.rules[0].http.paths[0].path: Invalid value: "/a//b/./c/../d%2fe%2F/..": cannot end with '/..'`,
			`spec.rules[0].http.paths[1].path: Invalid value: "/.": cannot end with '/.'`,
		},
		`spec: {rules: [{}], tls: [{hosts: [A, "a*"], secretName: B}]}`: {
			`spec.tls[0].hosts[0]: Invalid value: "A": ` + validatetest.BadSubdomain, `spec.tls[0].hosts[1]: Invalid value: "a*": ` + wildcard,
			`spec.tls[0].secretName: Invalid value: "B": ` + validatetest.BadSubdomain,
		},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validateIngress(validatetest.Parse[networkingv1.Ingress](t, text))))
		})
	}
}

func TestValidateIngressUpdate(t *testing.T) {
	old := validatetest.Parse[networkingv1.Ingress](t, `spec: {rules: [{host: "*.a", http: {paths: []}}], tls: [{secretName: A}]}`)
	ing := validatetest.Parse[networkingv1.Ingress](t, `{metadata: {annotations: {kubernetes.io/ingress.class: a}}, spec: {ingressClassName: b, rules: [{host: "*.b", http: {paths: []}}, {host: c, http: {paths: []}}], tls: [{secretName: B}]}}`)
	require.Equal(t, []string{"spec.rules[1].http.paths: Required value"}, validatetest.Texts(validateIngressUpdate(ing, old)), "what was malformed stays valid")
	require.Len(t, validateIngressUpdate(ing, &networkingv1.Ingress{}), 3)
	for _, text := range []string{`spec: {rules: [{host: "*.a"}]}`, `spec: {rules: [{host: a, http: {paths: []}}]}`} {
		require.Len(t, validateIngressUpdate(ing, validatetest.Parse[networkingv1.Ingress](t, text)), 3, "%s has no malformed rule of a wildcard", text)
	}
}

func TestValidateIngressStatusUpdate(t *testing.T) {
	old := validatetest.Parse[networkingv1.Ingress](t, `status: {loadBalancer: {ingress: [{ip: 010.0.0.1}]}}`)
	ing := validatetest.Parse[networkingv1.Ingress](t, `status: {loadBalancer: {ingress: [{ip: 010.0.0.1}, {ip: 010.0.0.2}, {ip: a, hostname: a.b}, {hostname: A}, {hostname: 10.0.0.1}, {ip: "FE80::1"}]}}`)
	require.Equal(t, []string{
		`status.loadBalancer.ingress[1].ip: Invalid value: "010.0.0.2": must not have leading 0s`,
		`status.loadBalancer.ingress[2].ip: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
		`status.loadBalancer.ingress[3].hostname: Invalid value: "A": ` + validatetest.BadSubdomain,
		`status.loadBalancer.ingress[4].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`,
	}, validatetest.Texts(validateIngressStatusUpdate(ing, old)))
}

func TestIngressWarnings(t *testing.T) {
	ing := validatetest.Parse[networkingv1.Ingress](t, `metadata: {annotations: {kubernetes.io/ingress.class: a}}`)
	require.Equal(t, []string{`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`}, ingressWarnings(ing))
	ing.Spec.IngressClassName = new("a")
	require.Empty(t, ingressWarnings(ing))
	require.Empty(t, ingressWarnings(&networkingv1.Ingress{}))
}

func TestIngressStatusWarnings(t *testing.T) {
	res := resource.NewTable(Resources()).Lookup("networking.k8s.io", "v1", "ingresses")
	ing := validatetest.Parse[networkingv1.Ingress](t, `status: {loadBalancer: {ingress: [{hostname: a}, {ip: 10.0.0.1}, {ip: a}, {ip: 010.0.0.1}, {ip: "FD00::1"}]}}`)
	require.Equal(t, []string{
		`status.loadBalancer.ingress[3]: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"`,
		`status.loadBalancer.ingress[4]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`,
	}, res.Subresource("status").WarningsOnUpdate(ing, ing))
}
