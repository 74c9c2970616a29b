package etcd

import (
	"math"
	"time"
)

// section is a part of the help.
type section struct {
	name string
	rows []flagRow
}

// table returns all flags of etcd in the sections of the help.
func (f *Flags) table() []section {
	return []section{
		{"Member", f.memberFlags()},
		{"Clustering", f.clusteringFlags()},
		{"Security", f.securityFlags()},
		{"Auth", f.authFlags()},
		{"Profiling and Monitoring", f.monitoringFlags()},
		{"Logging", f.loggingFlags()},
		{"Consistency and compaction", f.maintenanceFlags()},
		{"Deprecated", f.deprecatedFlags()},
		{"Unsafe feature", f.unsafeFlags()},
	}
}

func (f *Flags) memberFlags() []flagRow {
	return []flagRow{
		{"name", text(&f.Name, "default"), applied, "name of the member"},
		{"data-dir", text(&f.DataDir, ""), applied, "directory for the data; the default is NAME.etcd; objects are kept in memory here"},
		{"wal-dir", text(nil, ""), ignored, "directory for the write-ahead log"},
		{"snapshot-count", unsigned64(nil, 10000), ignored, "number of transactions between two snapshots"},
		{"heartbeat-interval", unsigned(&f.heartbeatInterval, 100), ignored, "time between two heartbeats, in milliseconds"},
		{"election-timeout", unsigned(&f.electionTimeout, 1000), ignored, "time until an election, in milliseconds"},
		{"initial-election-tick-advance", boolean(nil, true), ignored, "begin the first election early"},
		{"listen-peer-urls", urlsOf(&f.ListenPeerURLs, "http://localhost:2380", ""), applied, "URLs to listen at for other members"},
		{"listen-client-urls", urlsOf(&f.ListenClientURLs, "http://localhost:2379", ""), applied, "URLs to listen at for clients"},
		{"listen-client-http-urls", urlsOf(&f.ListenClientHTTPURLs, "", ""), applied, "URLs to listen at for HTTP only"},
		{"max-snapshots", unsigned(nil, 5), ignored, "number of snapshots that are kept"},
		{"max-wals", unsigned(nil, 5), ignored, "number of files of the write-ahead log that are kept"},
		{"memory-mlock", boolean(nil, false), ignored, "keep pages in memory"},
		{"quota-backend-bytes", integer64(&f.quotaBackendBytes, 0), applied, "size of all objects in bytes, above which writes fail; 0 is 2 GiB, a negative number no limit"},
		{"backend-bbolt-freelist-type", text(nil, ""), ignored, "how free pages of the file are kept: array or map"},
		{"backend-batch-interval", duration(nil, 0), ignored, "time after which a batch of writes is committed"},
		{"backend-batch-limit", integer(nil, 0), ignored, "number of writes after which a batch is committed"},
		{"max-txn-ops", unsigned(nil, 128), ignored, "number of operations in a transaction"},
		{"max-request-bytes", unsigned(nil, 1572864), ignored, "size of a request in bytes"},
		{"max-concurrent-streams", unsigned32Of(math.MaxUint32), ignored, "number of streams of a client at a time"},
		{"grpc-keepalive-min-time", duration(nil, 5*time.Second), ignored, "shortest time between two pings of a client"},
		{"grpc-keepalive-interval", duration(nil, 2*time.Hour), ignored, "time between two pings of the server; 0 is none"},
		{"grpc-keepalive-timeout", duration(nil, 20*time.Second), ignored, "time after a ping until a connection is closed"},
		{"socket-reuse-port", boolean(nil, false), ignored, "listen with SO_REUSEPORT"},
		{"socket-reuse-address", boolean(nil, false), ignored, "listen with SO_REUSEADDR"},
		{"enable-grpc-gateway", boolean(nil, true), ignored, "serve the API in JSON"},
		{"raft-read-timeout", duration(nil, 5*time.Second), ignored, "time until a read from another member fails"},
		{"raft-write-timeout", duration(nil, 5*time.Second), ignored, "time until a write to another member fails"},
		{"feature-gates", custom(featureGates{}), ignored, "features to enable and disable, as NAME=BOOL,..."},
		{"config-file", text(&f.configFile, ""), applied, "file with the configuration, instead of flags; it is refused here"},
		{"version", boolean(&f.version, false), applied, "print the version"},
	}
}

func (f *Flags) clusteringFlags() []flagRow {
	return []flagRow{
		{"initial-advertise-peer-urls", urlsOf(&f.advertisePeerURLs, "http://localhost:2380", ""), ignored, "URLs at which other members reach this one"},
		{"initial-cluster", text(&f.initialCluster, "default=http://localhost:2380"), ignored, "members of a new cluster, as NAME=URL,..."},
		{"initial-cluster-state", choiceOf(nil, "new", "existing"), ignored, "new for a new cluster, existing for another member of one"},
		{"initial-cluster-token", text(nil, "etcd-cluster"), ignored, "token of a new cluster"},
		{"advertise-client-urls", urlsOf(&f.AdvertiseClientURLs, "http://localhost:2379", ""), applied, "URLs at which clients reach this member; required with --listen-client-urls"},
		{"discovery", text(&f.discovery.url, ""), ignored, "URL of a discovery service of version 2"},
		{"discovery-token", text(&f.discovery.token, ""), ignored, "token for the discovery service"},
		{"discovery-endpoints", namesOf(&f.discovery.endpoints), ignored, "addresses of the discovery service"},
		{"discovery-dial-timeout", duration(nil, 2*time.Second), ignored, "time until a connection to the discovery service fails"},
		{"discovery-request-timeout", duration(nil, 5*time.Second), ignored, "time until a request to the discovery service fails"},
		{"discovery-keepalive-time", duration(nil, 2*time.Second), ignored, "time between two pings to the discovery service"},
		{"discovery-keepalive-timeout", duration(nil, 6*time.Second), ignored, "time after a ping to the discovery service until the connection is closed"},
		{"discovery-insecure-transport", boolean(nil, true), ignored, "connect to the discovery service without TLS"},
		{"discovery-insecure-skip-tls-verify", boolean(nil, false), ignored, "do not verify the certificate of the discovery service"},
		{"discovery-cert", text(nil, ""), ignored, "file with the client certificate for the discovery service"},
		{"discovery-key", text(nil, ""), ignored, "file with the key of --discovery-cert"},
		{"discovery-cacert", text(nil, ""), ignored, "file with the certificate authority of the discovery service"},
		{"discovery-user", text(nil, ""), ignored, "user of the discovery service, as USER[:PASSWORD]"},
		{"discovery-password", text(nil, ""), ignored, "password for the discovery service"},
		{"discovery-fallback", choiceOf(&f.discovery.fallback, "exit", "proxy"), ignored, "what follows a failed discovery: exit"},
		{"discovery-proxy", text(nil, ""), ignored, "HTTP proxy for the discovery service"},
		{"discovery-srv", text(&f.discovery.domain, ""), ignored, "DNS domain whose SRV records name the members"},
		{"discovery-srv-name", text(&f.discovery.domainService, ""), ignored, "suffix of the service in SRV records"},
		{"strict-reconfig-check", boolean(nil, true), ignored, "refuse changes of members that lose the quorum"},
		{"pre-vote", boolean(nil, true), ignored, "ask for votes before an election"},
		{"auto-compaction-retention", text(&f.compactionRetention, "0"), applied, "number of changes that are remembered, in the mode revision; the mode periodic has no effect, see --etcd-compaction-interval of kube-apiserver"},
		{"auto-compaction-mode", text(&f.compactionMode, "periodic"), applied, "unit of --auto-compaction-retention: periodic or revision"},
		{"v2-deprecation", choices("not-yet", "write-only", "write-only-drop-data", "gone"), ignored, "what is done with data of version 2"},
	}
}

func (f *Flags) securityFlags() []flagRow {
	return []flagRow{
		{"cert-file", text(&f.CertFile, ""), applied, "file with the certificate for clients"},
		{"key-file", text(&f.KeyFile, ""), applied, "file with the key of --cert-file"},
		{"client-cert-auth", boolean(&f.ClientCertAuth, false), applied, "require client certificates"},
		{"client-cert-file", text(nil, ""), ignored, "file with the certificate of this member as a client"},
		{"client-key-file", text(nil, ""), ignored, "file with the key of --client-cert-file"},
		{"client-crl-file", text(nil, ""), ignored, "file with revoked client certificates"},
		{"client-cert-allowed-hostname", namesOf(nil), ignored, "host names that client certificates may have"},
		{"trusted-ca-file", text(&f.TrustedCAFile, ""), applied, "file with the authorities of client certificates"},
		{"auto-tls", boolean(&f.AutoTLS, false), applied, "issue a certificate for clients"},
		{"peer-cert-file", text(nil, ""), ignored, "file with the certificate for other members"},
		{"peer-key-file", text(nil, ""), ignored, "file with the key of --peer-cert-file"},
		{"peer-client-cert-auth", boolean(nil, false), ignored, "require client certificates of other members"},
		{"peer-client-cert-file", text(nil, ""), ignored, "file with the client certificate for other members"},
		{"peer-client-key-file", text(nil, ""), ignored, "file with the key of --peer-client-cert-file"},
		{"peer-trusted-ca-file", text(nil, ""), ignored, "file with the authorities of other members"},
		{"peer-cert-allowed-cn", namesOf(nil), ignored, "common names that certificates of other members may have"},
		{"peer-cert-allowed-hostname", namesOf(nil), ignored, "host names that certificates of other members may have"},
		{"peer-auto-tls", boolean(nil, false), ignored, "issue a certificate for other members"},
		{"peer-skip-client-san-verification", boolean(nil, false), ignored, "do not verify the names in client certificates of other members"},
		{"self-signed-cert-validity", unsigned(nil, 1), ignored, "number of years for which issued certificates are valid"},
		{"peer-crl-file", text(nil, ""), ignored, "file with revoked certificates of other members"},
		{"cipher-suites", namesOf(&f.cipherSuites), ignored, "cipher suites that are accepted"},
		{"cors", urlsOf(nil, "*", "*"), ignored, "origins that CORS allows"},
		{"host-whitelist", namesOf(nil, "*"), ignored, "host names that requests without TLS may have"},
		{"tls-min-version", text(&f.tlsMinVersion, "TLS1.2"), ignored, "oldest version of TLS that is accepted: TLS1.2 or TLS1.3"},
		{"tls-max-version", text(&f.tlsMaxVersion, ""), ignored, "newest version of TLS that is accepted: TLS1.2 or TLS1.3"},
	}
}

func (f *Flags) authFlags() []flagRow {
	return []flagRow{
		{"auth-token", text(nil, "simple"), ignored, "kind of the tokens of users: simple or jwt"},
		{"bcrypt-cost", unsigned(nil, 10), ignored, "cost of hashing a password"},
		{"auth-token-ttl", unsigned(nil, 300), ignored, "time for which a token is valid, in seconds"},
	}
}

func (f *Flags) monitoringFlags() []flagRow {
	return []flagRow{
		{"enable-pprof", boolean(nil, false), ignored, "serve profiles at /debug/pprof/"},
		{"metrics", text(nil, "basic"), ignored, "metrics that are served: basic or extensive"},
		{"listen-metrics-urls", urlsOf(&f.ListenMetricsURLs, "", ""), applied, "URLs to listen at for /metrics and /health"},
		{"enable-distributed-tracing", boolean(&f.tracing, false), ignored, "send traces"},
		{"distributed-tracing-address", text(nil, "localhost:4317"), ignored, "address of the collector of traces"},
		{"distributed-tracing-service-name", text(nil, "etcd"), ignored, "name of the service in traces"},
		{"distributed-tracing-instance-id", text(nil, ""), ignored, "name of the member in traces"},
		{"distributed-tracing-sampling-rate", integer(&f.tracingRate, 0), ignored, "number of traces in a million that are sent"},
	}
}

func (f *Flags) loggingFlags() []flagRow {
	return []flagRow{
		{"logger", text(&f.logger, "zap"), ignored, "kind of the log: zap"},
		{"log-outputs", namesOf(&f.logOutputs, "default"), ignored, "where the log is written: stdout, stderr or files"},
		{"log-level", text(nil, "info"), ignored, "level of the log: debug, info, warn, error, panic or fatal"},
		{"log-format", text(nil, "json"), ignored, "format of the log: json or console"},
		{"enable-log-rotation", boolean(nil, false), ignored, "begin new files of the log"},
		{"log-rotation-config-json", text(nil, `{"maxsize": 100, "maxage": 0, "maxbackups": 0, "localtime": false, "compress": false}`), ignored, "when a new file of the log is begun"},
		{"warning-unary-request-duration", duration(nil, 0), ignored, "time of a request above which a warning is logged"},
		{"warning-apply-duration", duration(nil, 100*time.Millisecond), ignored, "time of a write above which a warning is logged"},
	}
}

func (f *Flags) maintenanceFlags() []flagRow {
	return []flagRow{
		{"corrupt-check-time", duration(nil, 0), ignored, "time between two comparisons with other members"},
		{"compact-hash-check-time", duration(&f.compactHashCheckTime, time.Minute), ignored, "time between two comparisons of compactions"},
		{"compaction-batch-limit", integer(nil, 0), ignored, "number of revisions that a batch of a compaction deletes"},
		{"compaction-sleep-interval", duration(nil, 0), ignored, "time between two batches of a compaction"},
		{"watch-progress-notify-interval", duration(nil, 0), ignored, "time between two progress notifications of a watch"},
		{"downgrade-check-time", duration(nil, 5*time.Second), ignored, "time between two checks of a downgrade"},
		{"bootstrap-defrag-threshold-megabytes", unsigned(nil, 0), ignored, "size that a defragmentation at the start must free"},
		{"max-learners", integer(nil, 1), ignored, "number of members without a vote"},
		{"snapshot-catchup-entries", unsigned64(nil, 5000), ignored, "number of entries that are kept for slow members"},
	}
}

func (f *Flags) unsafeFlags() []flagRow {
	return []flagRow{
		{"force-new-cluster", boolean(nil, false), ignored, "make a new cluster of this member"},
		{"unsafe-no-fsync", boolean(nil, false), applied, "do not sync files; objects are kept in memory in any case"},
	}
}

// deprecatedFlags returns the flags that v3.6 replaces by others, and those of early releases.
func (f *Flags) deprecatedFlags() []flagRow {
	rows := []flagRow{
		{"experimental-bootstrap-defrag-threshold-megabytes", unsigned(nil, 0), ignored, "see --bootstrap-defrag-threshold-megabytes"},
		{"experimental-compact-hash-check-enabled", boolean(nil, false), ignored, "see the feature CompactHashCheck"},
		{"experimental-compact-hash-check-time", duration(nil, time.Minute), ignored, "see --compact-hash-check-time"},
		{"experimental-compaction-batch-limit", integer(nil, 0), ignored, "see --compaction-batch-limit"},
		{"experimental-compaction-sleep-interval", duration(nil, 0), ignored, "see --compaction-sleep-interval"},
		{"experimental-corrupt-check-time", duration(nil, 0), ignored, "see --corrupt-check-time"},
		{"experimental-distributed-tracing-address", text(nil, "localhost:4317"), ignored, "see --distributed-tracing-address"},
		{"experimental-distributed-tracing-instance-id", text(nil, ""), ignored, "see --distributed-tracing-instance-id"},
		{"experimental-distributed-tracing-sampling-rate", integer(nil, 0), ignored, "see --distributed-tracing-sampling-rate"},
		{"experimental-distributed-tracing-service-name", text(nil, "etcd"), ignored, "see --distributed-tracing-service-name"},
		{"experimental-downgrade-check-time", duration(nil, 5*time.Second), ignored, "see --downgrade-check-time"},
		{"experimental-enable-distributed-tracing", boolean(nil, false), ignored, "see --enable-distributed-tracing"},
		{"experimental-enable-lease-checkpoint", boolean(nil, false), ignored, "see the feature LeaseCheckpoint"},
		{"experimental-enable-lease-checkpoint-persist", boolean(nil, false), ignored, "see the feature LeaseCheckpointPersist"},
		{"experimental-initial-corrupt-check", boolean(nil, false), ignored, "see the feature InitialCorruptCheck"},
		{"experimental-memory-mlock", boolean(nil, false), ignored, "see --memory-mlock"},
		{"experimental-peer-skip-client-san-verification", boolean(nil, false), ignored, "see --peer-skip-client-san-verification"},
		{"experimental-snapshot-catchup-entries", unsigned64(nil, 5000), ignored, "see --snapshot-catchup-entries"},
		{"experimental-stop-grpc-service-on-defrag", boolean(nil, false), ignored, "see the feature StopGRPCServiceOnDefrag"},
		{"experimental-txn-mode-write-with-shared-buffer", boolean(nil, true), ignored, "see the feature TxnModeWriteWithSharedBuffer"},
		{"experimental-warning-apply-duration", duration(nil, 0), ignored, "see --warning-apply-duration"},
		{"experimental-warning-unary-request-duration", duration(nil, 0), ignored, "see --warning-unary-request-duration"},
		{"experimental-watch-progress-notify-interval", duration(nil, 0), ignored, "see --watch-progress-notify-interval"},
	}
	for _, name := range []string{
		"cluster-active-size", "cluster-remove-delay", "cluster-sync-interval", "config", "force", "max-result-buffer", "max-retry-attempts",
		"peer-heartbeat-interval", "peer-election-timeout", "retry-interval", "snapshot", "v", "vv", "test.coverprofile", "test.outputdir",
	} {
		rows = append(rows, flagRow{name, custom(unused{}), ignored, "not used since version 2"})
	}
	return rows
}
