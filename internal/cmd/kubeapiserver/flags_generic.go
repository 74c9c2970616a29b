package kubeapiserver

import (
	"net"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
)

func (f *Flags) genericFlags() []flag {
	return []flag{
		{"advertise-address", ip(&f.AdvertiseAddress, nil), applied, "IP address of the certificate that is created in --cert-dir; the default is --bind-address"},
		{"cors-allowed-origins", list(nil), ignored, "regular expressions of the origins that CORS allows, comma separated"},
		{"default-not-ready-toleration-seconds", integer64(nil, 300), ignored, "tolerationSeconds of the toleration of pods for notReady:NoExecute"},
		{"default-unreachable-toleration-seconds", integer64(nil, 300), ignored, "tolerationSeconds of the toleration of pods for unreachable:NoExecute"},
		{"emulated-version", f.features.definition(), ignored, "version whose features and APIs are available, as MAJOR.MINOR or kube=MAJOR.MINOR"},
		{"emulation-forward-compatible", boolean(&f.features.emulationForwardCompatible, false), ignored, "also serve newer versions of the APIs of --emulated-version"},
		{"external-hostname", text(&f.ExternalHostname, ""), applied, "host name of the certificate that is created in --cert-dir"},
		{"feature-gates", f.features.definition(), applied, "features to enable and disable, as NAME=BOOL,... or kube:NAME=BOOL,...; can be repeated"},
		{"goaway-chance", number64(&f.limits.goawayChance, 0), applied, "part of the requests of HTTP/2 clients that get a GOAWAY frame, from 0 to 0.02"},
		{"livez-grace-period", duration(&f.limits.livezGracePeriod, 0), ignored, "time from the start during which /livez ignores checks that have not completed"},
		{"max-mutating-requests-inflight", integer(&f.limits.maxMutatingRequestsInFlight, 200), applied, "number of writes that are served at a time; 0 is no limit"},
		{"max-requests-inflight", integer(&f.limits.maxRequestsInFlight, 400), applied, "number of reads that are served at a time; 0 is no limit"},
		{"min-compatibility-version", f.features.definition(), ignored, "oldest version of the servers of the cluster, as MAJOR.MINOR or kube=MAJOR.MINOR"},
		{"min-request-timeout", integer(&f.limits.minRequestTimeout, 1800), applied, "shortest time, in seconds, after which a watch without timeoutSeconds ends"},
		{"request-timeout", duration(&f.limits.requestTimeout, time.Minute), applied, "time after which a request that is not a watch is ended"},
		{"runtime-config-emulation-forward-compatible", boolean(&f.features.runtimeConfigForwardCompatible, false), ignored, "accept APIs in --runtime-config that are newer than --emulated-version"},
		{"shutdown-delay-duration", duration(&f.ShutdownDelay, 0), applied, "time during which requests are served, and /readyz fails, after the signal to terminate"},
		{"shutdown-send-retry-after", boolean(nil, false), ignored, "answer requests during the shutdown with 429 and Retry-After"},
		{"shutdown-watch-termination-grace-period", duration(&f.limits.watchTerminationGracePeriod, 0), ignored, "time during which watches may end by themselves at the shutdown"},
		{"storage-initialization-timeout", duration(&f.limits.storageInitializationTimeout, time.Minute), ignored, "time after which the server is ready although its caches are not"},
		{"strict-transport-security-directives", list(&f.limits.strictTransportSecurity), ignored, "directives of the header Strict-Transport-Security, comma separated"},
	}
}

func (f *Flags) etcdFlags() []flag {
	return []flag{
		{"default-watch-cache-size", deprecated("Watch caches are sized automatically. This flag is no-op and it will be removed in a future version.", integer(nil, 100)), ignored, "size of the watch cache of a resource"},
		{"delete-collection-workers", integer(nil, 1), ignored, "number of objects that a deletecollection deletes at a time"},
		{"enable-garbage-collector", boolean(nil, true), ignored, "add finalizers for the garbage collector"},
		{"encryption-provider-config", text(&f.storage.encryptionConfig, ""), ignored, "file with the providers that encrypt objects in etcd"},
		{"encryption-provider-config-automatic-reload", boolean(&f.storage.encryptionReload, false), ignored, "read --encryption-provider-config again when it changes"},
		{"etcd-cafile", text(&f.EtcdCAFile, ""), applied, "file with the certificate authority of etcd"},
		{"etcd-certfile", text(&f.EtcdCertFile, ""), applied, "file with the client certificate for etcd"},
		{"etcd-compaction-interval", duration(&f.limits.compactionInterval, 5*time.Minute), applied, "time for which changes are remembered; 0 is no limit"},
		{"etcd-count-metric-poll-period", duration(nil, time.Minute), ignored, "time between two updates of the metric of stored objects"},
		{"etcd-db-metric-poll-interval", duration(nil, 30*time.Second), ignored, "time between two updates of the metric of the size of etcd"},
		{"etcd-healthcheck-timeout", duration(nil, 2*time.Second), ignored, "time after which the check of etcd in /healthz and /livez fails"},
		{"etcd-keyfile", text(&f.EtcdKeyFile, ""), applied, "file with the key of --etcd-certfile"},
		{"etcd-prefix", text(nil, "/registry"), ignored, "prefix of the keys in etcd"},
		{"etcd-readycheck-timeout", duration(nil, 2*time.Second), ignored, "time after which the check of etcd in /readyz fails"},
		{"etcd-servers", list(&f.EtcdServers), applied, "URLs of the etcd servers, comma separated"},
		{"etcd-servers-overrides", list(nil), ignored, "etcd servers of single resources, as GROUP/RESOURCE#URL;URL,..."},
		{"lease-reuse-duration-seconds", integer64(nil, 60), ignored, "time in seconds for which a lease of etcd is shared by several objects"},
		{"storage-backend", text(&f.storage.backend, ""), ignored, "kind of the storage: etcd3"},
		{"storage-media-type", text(&f.storage.mediaType, "application/vnd.kubernetes.protobuf"), ignored, "media type of objects in etcd: application/json, application/yaml or application/vnd.kubernetes.protobuf"},
		{"watch-cache", boolean(nil, true), ignored, "serve watches and lists from a cache"},
		{"watch-cache-sizes", list(nil), ignored, "sizes of watch caches, as RESOURCE[.GROUP]#SIZE,...; 0 disables the cache of a resource"},
	}
}

func (f *Flags) servingFlags() []flag {
	return []flag{
		{"bind-address", ip(&f.BindAddress, net.IPv4zero), applied, "IP address at which the server listens; 0.0.0.0 and :: are all addresses"},
		{"cert-dir", text(&f.CertDir, "/var/run/kubernetes"), applied, "directory of apiserver.crt and apiserver.key, which are created if they are missing; not used with --tls-cert-file and --tls-private-key-file"},
		{"disable-http2-serving", boolean(nil, false), ignored, "serve HTTP/1.1 only"},
		{"http2-max-streams-per-connection", integer(nil, 0), ignored, "number of concurrent requests on an HTTP/2 connection; 0 is the default of Go"},
		{"permit-address-sharing", boolean(&f.PermitAddressSharing, false), applied, "listen with SO_REUSEADDR"},
		{"permit-port-sharing", boolean(&f.PermitPortSharing, false), applied, "listen with SO_REUSEPORT"},
		{"secure-port", integer(&f.SecurePort, 6443), applied, "port at which the server serves HTTPS; it cannot be 0"},
		{"tls-cert-file", text(&f.CertFile, ""), applied, "file with the certificate of the server, and after it those of its authorities"},
		{"tls-cipher-suites", list(&f.tls.cipherSuites), ignored, "cipher suites that are accepted, comma separated; the default is that of Go"},
		{"tls-curve-preferences", integers(&f.tls.curves), ignored, "numbers of the key exchange mechanisms that are accepted, comma separated; the default is that of Go"},
		{"tls-min-version", text(&f.tls.minVersion, ""), ignored, "oldest version of TLS that is accepted: VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13"},
		{"tls-private-key-file", text(&f.KeyFile, ""), applied, "file with the key of --tls-cert-file"},
		{"tls-sni-cert-key", custom(cliflag.NewNamedCertKeyArray(&f.tls.sniCertKeys)), ignored, "certificate for some host names, as CERTFILE,KEYFILE[:DOMAIN,...]; can be repeated"},
	}
}
