package kubeapiserver

import (
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

func (f *Flags) profilingFlags() []flag {
	return []flag{
		{"contention-profiling", boolean(nil, false), ignored, "profile waiting for mutexes, too"},
		{"debug-socket-path", text(nil, ""), ignored, "Unix socket at which profiles are served"},
		{"enable-priority-and-fairness", boolean(&f.priorityAndFairness, true), applied, "queue requests above the limits; here there are no limits then, unless they are on the command line"},
		{"profiling", boolean(nil, true), ignored, "serve profiles at /debug/pprof/"},
	}
}

func (f *Flags) egressFlags() []flag {
	return []flag{
		{"egress-selector-config-file", text(nil, ""), ignored, "file with an EgressSelectorConfiguration"},
	}
}

func (f *Flags) metricsFlags() []flag {
	return []flag{
		{"allow-metric-labels", pairs(nil), ignored, "values that a label of a metric may have, as METRIC,LABEL='VALUE,VALUE'"},
		{"allow-metric-labels-manifest", text(nil, ""), ignored, "file with the values that labels of metrics may have"},
		{"disabled-metrics", list(nil), ignored, "names of the metrics to disable, comma separated"},
		{"show-hidden-metrics-for-version", text(&f.misc.hiddenMetricsVersion, ""), ignored, "version, MAJOR.MINOR, since which metrics may be hidden that are served nevertheless"},
	}
}

func (f *Flags) logFlags() []flag {
	l := &f.log
	return []flag{
		{"log-flush-frequency", duration(&l.flushFrequency, 5*time.Second), ignored, "time between two flushes of the log"},
		{"log-json-info-buffer-size", quantity(&l.jsonBuffer), ignored, "size of the buffer for messages in JSON that are not errors"},
		{"log-json-split-stream", boolean(&l.jsonSplit, false), ignored, "write messages in JSON that are not errors to the standard output"},
		{"log-text-info-buffer-size", quantity(&l.textBuffer), ignored, "size of the buffer for messages in text that are not errors"},
		{"log-text-split-stream", boolean(&l.textSplit, false), ignored, "write messages in text that are not errors to the standard output"},
		{"logging-format", text(&l.format, logFormatText), ignored, "format of the log: json or text"},
		{"v", levelOf(&f.Verbosity), applied, "level of the log; from 3 on it has each request"},
		{"vmodule", custom(&l.modules), ignored, "levels of the log of source files, as PATTERN=N,..."},
	}
}

func (f *Flags) traceFlags() []flag {
	return []flag{
		{"tracing-config-file", text(nil, ""), ignored, "file with a TracingConfiguration"},
	}
}

func (f *Flags) miscFlags() []flag {
	return []flag{
		{"aggregator-reject-forwarding-redirect", boolean(nil, true), ignored, "refuse redirects of aggregated API servers"},
		{"allow-privileged", boolean(nil, false), ignored, "allow privileged containers; they are always allowed here"},
		{"apiserver-count", deprecated("apiserver-count is deprecated and will be removed in a future version.", integer(&f.misc.apiserverCount, 1)), ignored, "number of API servers of the cluster"},
		{"coordinated-leadership-lease-duration", duration(&f.misc.leaseDuration, 15*time.Second), ignored, "duration of the leases of coordinated leader election"},
		{"coordinated-leadership-renew-deadline", duration(&f.misc.renewDeadline, 10*time.Second), ignored, "time within which such a lease is renewed"},
		{"coordinated-leadership-retry-period", duration(&f.misc.retryPeriod, 2*time.Second), ignored, "time between two attempts to get such a lease"},
		{"enable-aggregator-routing", boolean(nil, false), ignored, "send requests for aggregated APIs to endpoints, not to cluster IPs"},
		{"enable-logs-handler", shown(deprecated("Log handler functionality is deprecated", boolean(nil, false))), ignored, "serve log files at /logs"},
		{"endpoint-reconciler-type", text(&f.misc.endpointReconciler, "lease"), ignored, "how the endpoints of the Service kubernetes are kept: master-count, lease or none"},
		{"event-ttl", duration(&f.misc.eventTTL, time.Hour), ignored, "time for which Events are kept; they are not deleted here"},
		{"kubelet-certificate-authority", text(nil, ""), ignored, "file with the certificate authority of kubelets"},
		{"kubelet-client-certificate", text(nil, ""), ignored, "file with the client certificate for kubelets"},
		{"kubelet-client-key", text(nil, ""), ignored, "file with the key of --kubelet-client-certificate"},
		{"kubelet-port", deprecated("kubelet-port is deprecated and will be removed.", unsigned(nil, 10250)), ignored, "port of kubelets"},
		{"kubelet-preferred-address-types", list(nil, "Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"), ignored, "types of addresses of nodes, the preferred ones first"},
		{"kubelet-read-only-port", deprecated("kubelet-read-only-port is deprecated and will be removed.", unsigned(nil, 10255)), ignored, "port of kubelets without authentication"},
		{"kubelet-timeout", duration(nil, 5*time.Second), ignored, "time after which a request to a kubelet fails"},
		{"kubernetes-service-node-port", integer(&f.misc.kubernetesServiceNodePort, 0), ignored, "node port of the Service kubernetes; 0 is none"},
		{"max-connection-bytes-per-sec", integer64(nil, 0), ignored, "number of bytes in a second for a long-running request; 0 is no limit"},
		{"peer-advertise-ip", text(nil, ""), ignored, "IP address at which other API servers of the cluster reach this one"},
		{"peer-advertise-port", text(nil, ""), ignored, "port at which other API servers of the cluster reach this one"},
		{"peer-ca-file", text(nil, ""), ignored, "file with the certificate authority of the other API servers of the cluster"},
		{"proxy-client-cert-file", text(nil, ""), ignored, "file with the client certificate for aggregated API servers and webhooks"},
		{"proxy-client-key-file", text(nil, ""), ignored, "file with the key of --proxy-client-cert-file"},
		{"service-account-signing-endpoint", text(&f.authentication.signingEndpoint, ""), applied, "Unix socket of a signer of the tokens of service accounts; it is refused here"},
		{"service-account-signing-key-file", text(&f.authentication.signingKeyFile, ""), applied, "file with the private key that signs the tokens of service accounts"},
		{"service-cluster-ip-range", text(&f.services.clusterIPRange, ""), applied, "range of the cluster IPs of Services, or two of different families, comma separated; the default is 10.0.0.0/24"},
		{"service-node-port-range", portRange(&f.services.nodePortRange, utilnet.PortRange{Base: 30000, Size: 2768}), applied, "range of the node ports of Services, as MIN-MAX"},
	}
}

func (f *Flags) globalFlags() []flag {
	return []flag{
		{"help", helpOf(&f.help), applied, "help for kube-apiserver"},
		{"version", versionOf(&f.version), applied, "--version, --version=raw prints version information and quits"},
	}
}
