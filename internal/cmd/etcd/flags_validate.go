package etcd

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// maxElectionTimeout is the longest --election-timeout in milliseconds.
const maxElectionTimeout = 50000

// validate returns the first error in the values of flags, in the order of etcd.
func (f *Flags) validate() error {
	if f.configFile != "" {
		return fmt.Errorf("--config-file %s: configuration files are not supported here; use flags or environment variables", f.configFile)
	}
	for _, check := range []func() error{f.validateURLs, f.validateDiscovery, f.validateTimes, f.validateCompaction, f.validateTLS} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (f *Flags) validateURLs() error {
	for _, list := range [][]url.URL{f.ListenPeerURLs, f.ListenClientURLs, f.ListenClientHTTPURLs, f.ListenMetricsURLs} {
		if err := checkListenURLs(list); err != nil {
			return err
		}
	}
	if err := checkAdvertisedURLs(f.advertisePeerURLs); err != nil {
		return fmt.Errorf(`--initial-advertise-peer-urls %q must be "host:port" (%w)`, joinURLs(f.advertisePeerURLs), err)
	}
	if err := checkAdvertisedURLs(f.AdvertiseClientURLs); err != nil {
		return fmt.Errorf(`--advertise-client-urls %q must be "host:port" (%w)`, joinURLs(f.AdvertiseClientURLs), err)
	}
	if f.set["listen-client-urls"] && !f.set["advertise-client-urls"] {
		return errors.New("--advertise-client-urls is required when --listen-client-urls is set explicitly")
	}
	return nil
}

// checkListenURLs returns an error for a URL without an IP address.
func checkListenURLs(list []url.URL) error {
	for _, u := range list {
		if u.Scheme == "unix" || u.Scheme == "unixs" {
			continue
		}
		host, _, err := net.SplitHostPort(u.Host)
		if err != nil {
			return err
		}
		if host != "localhost" && net.ParseIP(host) == nil {
			return fmt.Errorf("expected IP in URL for binding (%s)", &u)
		}
	}
	return nil
}

// checkAdvertisedURLs returns an error for a URL without a host.
func checkAdvertisedURLs(list []url.URL) error {
	for _, u := range list {
		host, _, err := net.SplitHostPort(u.Host)
		if err != nil {
			return err
		}
		if host == "" {
			return fmt.Errorf("unexpected empty host (%s)", &u)
		}
	}
	return nil
}

func joinURLs(list []url.URL) string {
	all := make([]string, len(list))
	for i := range list {
		all[i] = list[i].String()
	}
	return strings.Join(all, ",")
}

func (f *Flags) validateDiscovery() error {
	d := &f.discovery
	bySRV := d.domain != "" || d.domainService != ""
	initialCluster := f.set["initial-cluster"] && f.initialCluster != ""
	ways := 0
	for _, used := range []bool{d.url != "", initialCluster, d.domain != "", len(d.endpoints) > 0} {
		if used {
			ways++
		}
	}
	switch {
	case d.fallback == "proxy":
		return errors.New(`v2 proxy is deprecated, and --discovery-fallback can't be configured as "proxy"`)
	case ways > 1:
		return errors.New(`multiple discovery or bootstrap flags are set. Choose one of "initial-cluster", "discovery", "discovery-endpoints" or "discovery-srv"`)
	case (d.token != "") != (len(d.endpoints) > 0):
		return errors.New("both --discovery-token and --discovery-endpoints must be set")
	case slices.ContainsFunc(d.endpoints, func(e string) bool { return strings.TrimSpace(e) == "" }):
		return errors.New("--discovery-endpoints must not contain empty endpoints")
	case d.url != "" || bySRV || len(d.endpoints) > 0:
		return errors.New("discovery services are not supported here: the cluster has one member")
	}
	return nil
}

func (f *Flags) validateTimes() error {
	switch {
	case f.heartbeatInterval == 0:
		return fmt.Errorf("--heartbeat-interval must be >0 (set to %dms)", f.heartbeatInterval)
	case f.electionTimeout == 0:
		return fmt.Errorf("--election-timeout must be >0 (set to %dms)", f.electionTimeout)
	case 5*f.heartbeatInterval > f.electionTimeout:
		return fmt.Errorf("--election-timeout[%vms] should be at least as 5 times as --heartbeat-interval[%vms]", f.electionTimeout, f.heartbeatInterval)
	case f.electionTimeout > maxElectionTimeout:
		return fmt.Errorf("--election-timeout[%vms] is too long, and should be set less than %vms", f.electionTimeout, maxElectionTimeout)
	case f.compactHashCheckTime <= 0:
		return fmt.Errorf("--compact-hash-check-time must be >0 (set to %v)", f.compactHashCheckTime)
	}
	return nil
}

// Modes of --auto-compaction-mode.
const (
	compactByTime     = "periodic"
	compactByRevision = "revision"
)

func (f *Flags) validateCompaction() error {
	switch f.compactionMode {
	case compactByTime, compactByRevision:
	case "":
		return errors.New("undefined auto-compaction-mode")
	default:
		return fmt.Errorf("unknown auto-compaction-mode %q", f.compactionMode)
	}
	if _, err := strconv.ParseInt(f.compactionRetention, 10, 64); err == nil || f.compactionMode == compactByRevision {
		return err
	}
	_, err := time.ParseDuration(f.compactionRetention)
	return err
}

func (f *Flags) validateTLS() error {
	for _, version := range []string{f.tlsMinVersion, f.tlsMaxVersion} {
		if !slices.Contains([]string{"", "TLS1.2", "TLS1.3"}, version) {
			return fmt.Errorf("unexpected TLS version %q (must be one of: TLS1.2, TLS1.3)", version)
		}
	}
	switch {
	case f.tlsMaxVersion != "" && f.tlsMinVersion > f.tlsMaxVersion:
		return fmt.Errorf("min version (%s) is greater than max version (%s)", f.tlsMinVersion, f.tlsMaxVersion)
	case f.tlsMinVersion == "TLS1.3" && len(f.cipherSuites) > 0:
		return errors.New("cipher suites cannot be configured when only TLS1.3 is enabled")
	}
	return nil
}

// Options returns the options of the servers whose objects etcd keeps. They are limits that etcd
// enforces in a cluster.
func (f *Flags) Options() []fakeapi.Option {
	limits := fakeapi.Limits{StorageBytes: f.quotaBackendBytes}
	if n, err := strconv.Atoi(f.compactionRetention); err == nil && f.compactionMode == compactByRevision && n > 0 {
		limits.HistoryChanges = n
	}
	return []fakeapi.Option{fakeapi.WithLimits(limits)}
}
