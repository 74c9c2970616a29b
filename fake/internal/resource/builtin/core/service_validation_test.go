package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// braced returns fields as a YAML object.
func braced(fields string) string {
	if strings.HasPrefix(fields, "{") {
		return fields
	}
	return "{" + fields + "}"
}

// parseService returns a Service with defaults. Without ports it has one.
func parseService(t *testing.T, text string) *corev1.Service {
	t.Helper()
	service := validatetest.Parse[corev1.Service](t, braced(text))
	if service.Spec.Ports == nil {
		service.Spec.Ports = []corev1.ServicePort{{Port: 80}}
	}
	setServiceDefaults(service)
	return service
}

func TestValidateService(t *testing.T) {
	const qualifiedName = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character " +
		"(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	for text, want := range map[string][]string{
		`spec: {}`: nil,
		`metadata: {annotations: {service.kubernetes.io/topology-mode: Auto, service.kubernetes.io/topology-aware-hints: Auto}}`: nil,
		`metadata: {annotations: {service.kubernetes.io/topology-mode: Auto, service.kubernetes.io/topology-aware-hints: auto}}`: {
			`metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Auto": must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified`},
		`spec: {ports: []}`: {"spec.ports: Required value"},
		`spec: {ports: [], clusterIP: None, clusterIPs: [None]}`:  nil,
		`spec: {ports: [], type: ExternalName, externalName: a.}`: nil,
		`spec: {type: LoadBalancer, clusterIP: None, clusterIPs: [None]}`: {
			`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for LoadBalancer services`},
		`spec: {type: NodePort, clusterIP: None, clusterIPs: [None]}`: {
			`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`},
		`spec: {type: ExternalName, externalName: ., clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack}`: {
			"spec.clusterIPs: Forbidden: may not be set for ExternalName services",
			"spec.ipFamilies: Forbidden: may not be set for ExternalName services",
			"spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services",
			"spec.externalName: Required value"},
		`spec: {ports: [{name: A, port: 0, protocol: tcp, targetPort: 65536, appProtocol: -}, {name: b, port: 65535, protocol: SCTP, targetPort: b}, {name: b, port: 1, targetPort: A}, {port: 2}]}`: {
			`spec.ports[0].name: Invalid value: "A": ` + label,
			`spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive`,
			`spec.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`,
			`spec.ports[0].targetPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
			`spec.ports[0].appProtocol: Invalid value: "-": ` + qualifiedName,
			`spec.ports[2].name: Duplicate value: "b"`,
			`spec.ports[2].targetPort: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			`spec.ports[2].targetPort: Invalid value: "A": must contain at least one letter (a-z)`,
			`spec.ports[3].name: Required value`},
		`spec: {selector: {a b: c}}`: {`spec.selector: Invalid value: "a b": ` + qualifiedName},
		`spec: {sessionAffinity: Any}`: {
			`spec.sessionAffinity: Unsupported value: "Any": supported values: "ClientIP", "None"`},
		`spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 86400}}}`: nil,
		`spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 86401}}}`: {
			`spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400`},
		`spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 0}}}`: {
			`spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400`},
		`spec: {clusterIP: nope, clusterIPs: [nope]}`: {
			`spec.clusterIPs[0]: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		`spec: {externalIPs: [203.0.113.1, nope, 0.0.0.0, 127.0.0.1, 169.254.1.1, 'ff02::1']}`: {
			`spec.externalIPs[1]: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
			`spec.externalIPs[2]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)`,
			`spec.externalIPs[3]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
			`spec.externalIPs[4]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`,
			`spec.externalIPs[5]: Invalid value: "ff02::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)`},
		`spec: {type: Internal}`: {
			`spec.type: Unsupported value: "Internal": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"`},
		`spec: {ports: [{port: 80, nodePort: 30000}]}`: {
			"spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
		`spec: {type: NodePort, ports: [{name: a, port: 1, nodePort: 30000}, {name: b, port: 2, nodePort: 30000, protocol: UDP}, {name: c, port: 3, nodePort: 30000}]}`: {
			`spec.ports[2].nodePort: Duplicate value: 30000`},
		`spec: {ports: [{name: a, port: 1}, {name: b, port: 1, protocol: UDP}, {name: c, port: 1}]}`: {
			`spec.ports[2]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}`},
		`spec: {type: LoadBalancer, loadBalancerSourceRanges: [' 10.0.0.0/8 ', '2001:db8::/32']}`: nil,
		`spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.1, 10.0.0.1/8]}`: {
			`spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.1": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
			`spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`},
		`spec: {loadBalancerSourceRanges: [10.0.0.0/8]}`: {
			"spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"},
		`{metadata: {annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: ' '}}, spec: {type: LoadBalancer}}`:                      nil,
		`{metadata: {annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: '10.0.0.0/8, 11.0.0.0/8'}}, spec: {type: LoadBalancer}}`: nil,
		`{metadata: {annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: '10.0.0.0/8,nope'}}, spec: {type: ClusterIP}}`: {
			"metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Forbidden: may only be used when `type` is 'LoadBalancer'",
			`metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid value: "nope": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		`spec: {allocateLoadBalancerNodePorts: true}`: {
			"spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'"},
		`spec: {loadBalancerClass: a}`:                     {"spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"},
		`spec: {type: LoadBalancer, loadBalancerClass: a}`: nil,
		`spec: {type: LoadBalancer, loadBalancerClass: -}`: {`spec.loadBalancerClass: Invalid value: "-": ` + qualifiedName},
		`spec: {externalTrafficPolicy: Local}`: {
			`spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services`},
		`spec: {externalTrafficPolicy: Local, externalIPs: [203.0.113.1]}`: nil,
		`spec: {type: NodePort, externalTrafficPolicy: Global}`: {
			`spec.externalTrafficPolicy: Unsupported value: "Global": supported values: "Cluster", "Local"`},
		`spec: {type: LoadBalancer, healthCheckNodePort: 30001}`: {
			"spec.healthCheckNodePort: Invalid value: 30001: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"},
		`spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30001}`: nil,
		`spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: -1}`: {
			`spec.healthCheckNodePort: Invalid value: -1: must be between 1 and 65535, inclusive`},
		`spec: {internalTrafficPolicy: Any}`: {
			`spec.internalTrafficPolicy: Unsupported value: "Any": supported values: "Cluster", "Local"`},
		`spec: {trafficDistribution: PreferSameNode}`: nil,
		`spec: {trafficDistribution: Any}`: {
			`spec.trafficDistribution: Unsupported value: "Any": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"`},
	} {
		t.Run(text, func(t *testing.T) { validatetest.RequireErrors(t, validateService(parseService(t, text)), want...) })
	}
}

func TestValidateServiceUpdate(t *testing.T) {
	const balanced = `spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30001, loadBalancerClass: a}`
	for _, test := range []struct {
		old, text string
		want      []string
	}{
		{balanced, balanced, nil},
		{balanced, `spec: {type: ClusterIP}`, nil},
		{`spec: {}`, balanced, nil},
		{balanced, `spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30002, loadBalancerClass: b}`, []string{
			`spec.loadBalancerClass: Invalid value: "b": may not change once set`,
			`spec.healthCheckNodePort: Forbidden: field is immutable`}},
		{`spec: {type: LoadBalancer}`, `spec: {type: LoadBalancer, loadBalancerClass: b}`, []string{
			`spec.loadBalancerClass: Invalid value: "b": may not change once set`}},
		{`spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1]}`, `spec: {clusterIP: None, clusterIPs: [None]}`, []string{
			`spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`}},
		// What was valid once stays so.
		{`spec: {externalIPs: [010.0.0.1]}`, `spec: {externalIPs: [010.0.0.1, 010.0.0.2]}`, []string{
			`spec.externalIPs[1]: Invalid value: "010.0.0.2": must not have leading 0s`}},
		{`spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.1/8]}`, `spec: {type: LoadBalancer, loadBalancerSourceRanges: [' 10.0.0.1/8']}`, nil},
		{`{metadata: {annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: nope}}, spec: {type: LoadBalancer}}`,
			`{metadata: {annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: nope}}, spec: {type: LoadBalancer}}`, nil},
	} {
		validatetest.RequireErrors(t, validateServiceUpdate(parseService(t, test.text), parseService(t, test.old)), test.want...)
	}
}

func TestValidateServiceStatusUpdate(t *testing.T) {
	status := func(serviceType, ingress string) *corev1.Service {
		return validatetest.Parse[corev1.Service](t, fmt.Sprintf(`{spec: {type: %s}, status: {loadBalancer: {ingress: %s}}}`, serviceType, ingress))
	}
	validatetest.RequireErrors(t, validateServiceStatusUpdate(status("ClusterIP", `[]`), &corev1.Service{}))
	validatetest.RequireErrors(t, validateServiceStatusUpdate(status("NodePort", `[{ip: nope}]`), &corev1.Service{}),
		"status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'")
	ingress := `[{ip: 010.0.0.1, ipMode: VIP}, {ip: nope, ipMode: Any}, {ip: 10.0.0.1}, {ipMode: Proxy, hostname: a}, {hostname: 10.0.0.1}, {hostname: A}]`
	validatetest.RequireErrors(t, validateServiceStatusUpdate(status("LoadBalancer", ingress), status("LoadBalancer", `[{ip: 010.0.0.1}]`)),
		`status.loadBalancer.ingress[1].ip: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
		`status.loadBalancer.ingress[1].ipMode: Unsupported value: "Any": supported values: "Proxy", "VIP"`,
		"status.loadBalancer.ingress[2].ipMode: Required value: must be specified when `ip` is set",
		"status.loadBalancer.ingress[3].ipMode: Forbidden: may not be specified when `ip` is not set",
		`status.loadBalancer.ingress[4].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`,
		`status.loadBalancer.ingress[5].hostname: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', `+
			`and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)
}

func TestServiceWarnings(t *testing.T) {
	for text, want := range map[string][]string{
		`spec: {loadBalancerIP: not checked}`: nil,
		`metadata: {annotations: {service.kubernetes.io/topology-aware-hints: Auto}}`: {
			"annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead"},
		`spec: {clusterIP: 'FD00::1', clusterIPs: ['FD00::1']}`: {
			`spec.clusterIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`},
		`spec: {clusterIP: None, clusterIPs: [None], loadBalancerIP: 10.0.0.1, externalIPs: ['::A'], sessionAffinity: ClientIP}`: {
			"spec.loadBalancerIP is ignored for headless services",
			"spec.externalIPs is ignored for headless services",
			"spec.SessionAffinity is ignored for headless services",
			`spec.externalIPs[0]: IPv6 address "::A" should be in RFC 5952 canonical format ("::a")`},
		`spec: {externalIPs: [203.0.113.1]}`: {"spec.externalIPs is deprecated and may no longer be implemented in some clusters"},
		`spec: {type: ExternalName, externalName: a, externalIPs: [203.0.113.1]}`: {
			`spec.externalIPs is ignored when spec.type is "ExternalName"`},
		`spec: {type: LoadBalancer, loadBalancerIP: 010.0.0.1, externalName: a, loadBalancerSourceRanges: [' 10.0.0.0/8', 'FD00::/8']}`: {
			`spec.loadBalancerIP: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"`,
			`spec.loadBalancerSourceRanges[1]: IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")`,
			`spec.externalName is ignored when spec.type is not "ExternalName"`},
		`spec: {trafficDistribution: PreferClose}`:    {`spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`},
		`spec: {trafficDistribution: PreferSameZone}`: nil,
	} {
		t.Run(text, func(t *testing.T) { require.Equal(t, want, serviceWarnings(parseService(t, text))) })
	}
}

func TestServiceStatusWarnings(t *testing.T) {
	service := validatetest.Parse[corev1.Service](t, `status: {loadBalancer: {ingress: [{hostname: a}, {ip: 10.0.0.1}, {ip: 'FD00::1'}]}}`)
	require.Equal(t, []string{`status.loadBalancer.ingress[2]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`},
		serviceStatusWarnings(service, service))
}
