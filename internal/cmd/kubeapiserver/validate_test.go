package kubeapiserver

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// otherValues has a valid value for each flag whose default is not one, or that needs others.
var otherValues = map[string][]string{
	"advertise-address":                           {"--advertise-address=127.0.0.1"},
	"emulated-version":                            {"--emulated-version=1.36"},
	"emulation-forward-compatible":                {"--emulation-forward-compatible=true", "--emulated-version=kube=1.36"},
	"runtime-config-emulation-forward-compatible": {"--runtime-config-emulation-forward-compatible=true", "--emulated-version=1.36"},
	"min-compatibility-version":                   {"--min-compatibility-version=1.36"},
	"feature-gates":                               {"--feature-gates=CBORServingAndStorage=true,WatchList=false", "--feature-gates=AllAlpha=true", "--feature-gates=NodeSwap=true,NFTablesNetlink=false,WatchListClient=false"},
	"encryption-provider-config-automatic-reload": {"--encryption-provider-config-automatic-reload=true", "--encryption-provider-config=encryption.yaml"},
	"tls-sni-cert-key":                            {"--tls-sni-cert-key=a.crt,a.key:example.com"},
	"tls-curve-preferences":                       {"--tls-curve-preferences=23,29"},
	"oidc-required-claim":                         {"--oidc-required-claim=a=b"},
	"requestheader-uid-headers":                   {"--requestheader-uid-headers=X-Remote-Uid"},
	"authorization-mode":                          {"--authorization-mode=Node,RBAC"},
	"authorization-policy-file":                   {"--authorization-policy-file=policy.json", "--authorization-mode=ABAC"},
	"authorization-webhook-config-file":           {"--authorization-webhook-config-file=webhook.yaml", "--authorization-mode=Webhook"},
	"disable-admission-plugins":                   {"--disable-admission-plugins=ServiceAccount"},
	"enable-admission-plugins":                    {"--enable-admission-plugins=NodeRestriction,AlwaysPullImages"},
	"runtime-config":                              {"--runtime-config=api/beta=true,apps/v1=false", "--runtime-config=v1"},
	"storage-backend":                             {"--storage-backend=etcd3"},
	"tls-min-version":                             {"--tls-min-version=VersionTLS12"},
	"allow-metric-labels":                         {"--allow-metric-labels=a,b='c,d'"},
	"show-hidden-metrics-for-version":             {"--show-hidden-metrics-for-version=1.36"},
	"vmodule":                                     {"--vmodule=handlers=4,a*=2"},
	"v":                                           {"-v=3"},
	"service-account-jwks-uri":                    {"--service-account-jwks-uri=https://example.com/jwks"},
	"strict-transport-security-directives":        {"--strict-transport-security-directives=max-age=31536000,includeSubDomains,preload"},
	"goaway-chance":                               {"--goaway-chance=0.001"},
	"log-text-split-stream":                       {"--log-text-split-stream=true", "--feature-gates=LoggingAlphaOptions=true"},
	"log-json-split-stream":                       {"--log-json-split-stream=true", "--feature-gates=LoggingAlphaOptions=true"},
	"log-text-info-buffer-size":                   {"--log-text-info-buffer-size=4Ki", "--feature-gates=LoggingAlphaOptions=true"},
	"logging-format":                              {"--logging-format=json"},
	"service-cluster-ip-range":                    {"--service-cluster-ip-range=10.0.0.0/24,fd00::/108"},
	"kubernetes-service-node-port":                {"--kubernetes-service-node-port=30001"},
}

// refusedFlags are those that are refused, or end the process, in each form.
var refusedFlags = []string{
	"authentication-token-webhook-config-file", "oidc-client-id", "oidc-issuer-url", "service-account-signing-endpoint", "help", "version", "authorization-config",
	"admission-control",
}

// requiredArguments are those without which kube-apiserver does not start.
var requiredArguments = []string{
	"--etcd-servers=http://127.0.0.1:2379", "--service-account-issuer=https://127.0.0.1:6443/",
	"--service-account-key-file=sa.pub", "--service-account-signing-key-file=sa.key",
}

// TestEveryFlag parses each flag of the table by itself.
func TestEveryFlag(t *testing.T) {
	table, err := Parse(requiredArguments)
	require.NoError(t, err)
	count := 0
	table.all.VisitAll(func(f *pflag.Flag) {
		count++
		require.NotEmpty(t, f.Usage, f.Name)
		require.NotContains(t, f.Usage, "`", "pflag reads it as the name of the value: %s", f.Name)
		for _, refused := range refusedFlags {
			if f.Name == refused {
				return
			}
		}
		arguments, found := otherValues[f.Name]
		if !found {
			value := strings.Trim(f.DefValue, "[]")
			arguments = []string{"--" + f.Name + "=" + value}
			if value == "" {
				arguments[0] += "file"
			}
		}
		parsed, err := Parse(append(arguments, requiredArguments...))
		require.NoError(t, err, "%s: %v", f.Name, arguments)
		require.True(t, parsed.all.Changed(f.Name), f.Name)
		if f.Deprecated != "" && !f.Hidden {
			require.Contains(t, []string{"admission-control", "enable-logs-handler"}, f.Name)
		}
		if f.Deprecated != "" {
			require.Equal(t, "Flag --"+f.Name+" has been deprecated, "+f.Deprecated+"\n", parsed.Warnings)
		} else {
			require.Empty(t, parsed.Warnings)
		}
	})
	require.Equal(t, 177, count)
}

func TestUnderscores(t *testing.T) {
	f, err := Parse(append([]string{"--min_request_timeout=5"}, requiredArguments...))
	require.NoError(t, err)
	require.Equal(t, 5, f.limits.minRequestTimeout)
}

func TestValidation(t *testing.T) {
	for _, test := range []struct {
		arguments string // separated by spaces
		message   string
	}{
		{"--feature-gates=Unknown=true", "unrecognized feature gate: Unknown"},
		{"--feature-gates=ConsistentListFromCache=true", "unrecognized feature gate: ConsistentListFromCache"},
		{"--feature-gates=WorkloadAwarePreemption=true", "unrecognized feature gate: WorkloadAwarePreemption"},
		{"--feature-gates=HostnameOverride=false", "cannot set feature gate HostnameOverride to false, feature is locked to true"},
		{"--feature-gates=GitRepoVolumeDriver=true", "cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false"},
		{"--feature-gates=DeclarativeValidation=false", "cannot set feature gate DeclarativeValidation to false, feature is locked to true"},
		{"--feature-gates=WatchList", "missing bool value for WatchList"},
		{"--feature-gates=wardle:A=true", "component not registered: wardle"},
		{"--emulated-version=1.33", "[emulation version 1.33 is not between [1.34, 1.37.0], minCompatibilityVersion version 1.34 is not between [1.34, 1.33]]"},
		{"--emulated-version=1.38", "emulation version 1.38 is not between [1.34, 1.37.0]"},
		{"--emulation-forward-compatible=true", "ServerRunOptions.EmulationForwardCompatible cannot be set to true if the emulation version is the same as the binary version"},
		{"--max-requests-inflight=-1 --max-mutating-requests-inflight=-1", "[--max-requests-inflight can not be negative value, --max-mutating-requests-inflight can not be negative value]"},
		{"--min-request-timeout=-1", "--min-request-timeout can not be negative value"},
		{"--request-timeout=-1s", "--request-timeout can not be negative value"},
		{"--shutdown-delay-duration=-1s", "--shutdown-delay-duration can not be negative value"},
		{"--livez-grace-period=-1s", "--livez-grace-period can not be a negative value"},
		{"--goaway-chance=0.03", "--goaway-chance can not be less than 0 or greater than 0.02"},
		{"--strict-transport-security-directives=maxage", "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information"},
		{"--storage-backend=etcd2", "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'"},
		{"--storage-media-type=text/plain", `--storage-media-type "text/plain" invalid, allowed values: application/json, application/vnd.kubernetes.protobuf, application/yaml`},
		{"--encryption-provider-config-automatic-reload", "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"},
		{"--runtime-config=api/all=false", "[--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true, invalid runtime-config with only api/all=false]"},
		{"--runtime-config=apps/v1=maybe", "runtime-config invalid value apps/v1=maybe"},
		{"--secure-port=65536", "--secure-port 65536 must be between 1 and 65535, inclusive. It cannot be turned off with 0"},
		{"--oidc-client-id=a", "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"},
		{"--oidc-client-id=a --oidc-issuer-url=https://example.com", "--oidc-issuer-url is not supported here; use tokens of --token-auth-file or of service accounts"},
		{"--authentication-token-webhook-config-file=a", "--authentication-token-webhook-config-file is not supported here; use tokens of --token-auth-file or of service accounts"},
		{"--service-account-issuer=:", `service-account-issuer ":" contained a ':' but was not a valid URL: parse ":": missing protocol scheme`},
		{"--service-account-issuer=https://127.0.0.1:6443/", `service-account-issuer "https://127.0.0.1:6443/" is already specified`},
		{"--service-account-jwks-uri=http://example.com", "service-account-jwks-uri requires https scheme, parsed as: http://example.com"},
		{"--service-account-signing-endpoint=a.sock", "[--service-account-signing-endpoint is not supported here; use --service-account-signing-key-file, can't set `--service-account-signing-key-file` and/or `--service-account-key-file` and `--service-account-signing-endpoint` simultaneously]"},
		{"--requestheader-username-headers=X-Remote-User,", `empty value in "requestheader-username-headers"`},
		{"--requestheader-uid-headers=X-Uid", "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work"},
		{"--authorization-mode=Unknown", `authorization-mode "Unknown" is not a valid mode`},
		{"--authorization-mode=RBAC,Node,RBAC", `authorization-mode ["RBAC" "Node" "RBAC"] has mode specified more than once`},
		{"--authorization-mode=ABAC", "authorization-mode ABAC's authorization policy file not passed"},
		{"--authorization-mode=Webhook", "authorization-mode Webhook's authorization config file not passed"},
		{"--authorization-policy-file=a", "cannot specify --authorization-policy-file without mode ABAC"},
		{"--authorization-webhook-config-file=a", "cannot specify --authorization-webhook-config-file without mode Webhook"},
		{"--authorization-config=a --authorization-mode=RBAC", "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"},
		{"--audit-log-path=- --audit-log-format=text", `invalid audit log format text, allowed formats are "legacy,json"`},
		{"--audit-log-path=- --audit-log-format=legacy", "--audit-log-format=legacy is not supported here; use json"},
		{"--audit-log-path=- --audit-log-mode=async", `invalid audit log mode async, allowed modes are "batch,blocking,blocking-strict"`},
		{"--audit-log-path=- --audit-log-mode=batch --audit-log-batch-buffer-size=0", "invalid audit batch log buffer size 0, must be a positive number"},
		{"--audit-log-path=- --audit-log-maxage=-1", "--audit-log-maxage -1 can't be a negative number"},
		{"--audit-log-path=- --audit-log-version=audit.k8s.io/v1beta1", `invalid group version, allowed versions are ["audit.k8s.io/v1"]`},
		{"--audit-log-path=- --audit-log-truncate-max-event-size=0", "invalid audit truncate log max event size 0, must be a positive number"},
		{"--audit-webhook-config-file=a --audit-webhook-batch-throttle-qps=0", "invalid audit batch webhook throttle QPS 0, must be a positive number"},
		{"--enable-admission-plugins=Unknown", `enable-admission-plugins plugin "Unknown" is unknown`},
		{"--disable-admission-plugins=Unknown", `disable-admission-plugins plugin "Unknown" is unknown`},
		{"--enable-admission-plugins=Priority,LimitRanger --disable-admission-plugins=LimitRanger,Priority", "[LimitRanger Priority] in enable-admission-plugins and disable-admission-plugins overlapped"},
		{"--admission-control=Priority --enable-admission-plugins=Priority", "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"},
		{"--show-hidden-metrics-for-version=1.35", "--show-hidden-metrics-for-version must be omitted or have the value '1.36'. Only the previous minor version is allowed"},
		{"--coordinated-leadership-renew-deadline=1m", "--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline"},
		{"--coordinated-leadership-retry-period=10s", "--coordinated-leadership-renew-deadline must be greater than --coordinated-leadership-retry-period"},
		{"--service-cluster-ip-range=10.0.0.0", "service-cluster-ip-range[0] is not a valid cidr"},
		{"--service-cluster-ip-range=10.0.0.0/30", "error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses"},
		{"--service-cluster-ip-range=10.0.0.0/24,a", "service-cluster-ip-range[1] is not an ip net"},
		{"--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24", "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family"},
		{"--service-cluster-ip-range=10.0.0.0/24,fd00::/108,fd01::/108", "--service-cluster-ip-range must not contain more than two entries"},
		{"--service-cluster-ip-range=fd00::/108 --advertise-address=10.0.0.1", `service IP family "fd00::/108" must match public address family "10.0.0.1"`},
		{"--kubernetes-service-node-port=80", "kubernetes service node port range 30000-32767 doesn't contain 80"},
		{"--kubernetes-service-node-port=70000", "--kubernetes-service-node-port 70000 must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP"},
		{"--apiserver-count=0", "--apiserver-count should be a positive number, but value '0' provided"},
		{"--logging-format=xml", `format: Invalid value: "xml": Unsupported log format`},
		{"--log-flush-frequency=0", `flushFrequency: Invalid value: "0s": Must be greater than zero`},
		{"--logging-format=json --vmodule=a=1", "vmodule: Forbidden: Only supported for text log format"},
		{"--log-json-info-buffer-size=1Ki", "options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled"},
	} {
		_, err := Parse(append(strings.Fields(test.arguments), requiredArguments...))
		require.EqualError(t, err, test.message)
		status, stdout, stderr := report(err)
		require.Equal(t, 1, status)
		require.Empty(t, stdout)
		require.Contains(t, stderr, `] "command failed" err="`)
	}
}

func TestRequiredFlags(t *testing.T) {
	_, err := Parse(nil)
	require.EqualError(t, err, "[--etcd-servers must be specified, service-account-issuer is a required flag, "+
		"either `--service-account-key-file` or `--service-account-signing-endpoint` must be set, "+
		"--service-account-signing-key-file and --service-account-issuer are required flags]")
	_, err = Parse([]string{"--etcd-servers=http://127.0.0.1:2379", "--service-account-issuer=a", "--tls-private-key-file=tls.key"})
	require.EqualError(t, err, "--service-account-signing-key-file, --service-account-issuer, and --api-audiences should be specified together")
}

func TestInvalidValues(t *testing.T) {
	for argument, message := range map[string]string{
		"--bind-address=localhost":          `invalid argument "localhost" for "--bind-address" flag: failed to parse IP: "localhost"`,
		"--request-timeout=1":               `invalid argument "1" for "--request-timeout" flag: time: missing unit in duration "1"`,
		"--anonymous-auth=maybe":            `invalid argument "maybe" for "--anonymous-auth" flag: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"--service-node-port-range=1-0":     `invalid argument "1-0" for "--service-node-port-range" flag: end port cannot be less than start port: 1-0`,
		"--tls-sni-cert-key=a":              `invalid argument "a" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths`,
		"--vmodule=a":                       `invalid argument "a" for "--vmodule" flag: "a" does not have the pattern=N format`,
		"--vmodule=a=b":                     `invalid argument "a=b" for "--vmodule" flag: parsing verbosity in "a=b": strconv.ParseUint: parsing "b": invalid syntax`,
		"-v=-1":                             `invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax`,
		"--version=v1.36.0":                 `invalid argument "v1.36.0" for "--version" flag: version "v1.36.0" must match major/minor/patch of default version "v1.37.2"`,
		"--version=vnext":                   `invalid argument "vnext" for "--version" flag: could not parse "vnext" as version`,
		"--version=maybe":                   `invalid argument "maybe" for "--version" flag: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"--log-text-info-buffer-size=large": `invalid argument "large" for "--log-text-info-buffer-size" flag: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
	} {
		_, err := Parse([]string{argument})
		status, stdout, stderr := report(err)
		require.Equal(t, 1, status)
		require.Empty(t, stdout)
		require.Equal(t, "Error: "+message+"\n", stderr)
	}
	_, err := Parse(append([]string{"--version=v1.37.2-custom"}, requiredArguments...))
	require.NoError(t, err)
}
