package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	fakeapi "example.com/fakeapi/fake"
)

const optionArguments = "[--feature-gates NAME=BOOL,...]... [--enable-admission-plugins NAME,...]... [--disable-admission-plugins NAME,...]... [--etcd-compaction-interval TIME] [--auto-compaction-retention N] [--history-bytes BYTES] " +
	"[--quota-backend-bytes BYTES] [--max-requests-inflight N] [--max-mutating-requests-inflight N] [--max-watches N] [--min-request-timeout SECONDS] " +
	"[--continue-token-lifetime TIME] [--bookmark-interval TIME] [--resource-version-timeout TIME] [--namespace-deletion-delay TIME] [--webhook-service NAMESPACE/NAME=ADDRESS]... [--allow-remote-webhooks] [--admission-delay TIME,TIME] [--service-cluster-ip-range CIDR[,CIDR]] [--service-node-port-range MIN-MAX] [--validation=false] [--seed N] [--timeline=false] [-v LEVEL]"

// optionFlags has the flags of serve for options of the server. Where kube-apiserver or etcd has a
// flag for the same, it has its name.
type optionFlags struct {
	set      []fakeapi.Option // in the order of the command line
	limits   fakeapi.Limits
	services map[string]string // addresses by NAMESPACE/NAME
	// remoteWebhooks is true for WithRemoteWebhooks.
	remoteWebhooks bool
	timeline       bool
	// validation is false for WithoutValidation.
	validation bool
	verbosity  int
}

func (f *optionFlags) define(flags *flag.FlagSet) {
	flags.Func("feature-gates", "enable and disable features: `NAME=BOOL,...` with the names "+strings.Join(featureNames(), ", ")+
		"; the default is that of Kubernetes: all but "+string(fakeapi.CBOR)+"; can be repeated", f.setFeatures)
	flags.Func("enable-admission-plugins", "enable the admission plugins `NAME,...` besides those that are enabled by default; can be repeated", f.names(fakeapi.WithAdmissionPlugins))
	flags.Func("disable-admission-plugins", "disable the admission plugins `NAME,...`; can be repeated", f.names(fakeapi.WithoutAdmissionPlugins))
	flags.Func("etcd-compaction-interval", "remember changes for this `TIME`; the default is 5m, and 0 is no limit", f.setCompactionInterval)
	flags.Func("auto-compaction-retention", "remember `N` changes, as etcd does in the mode revision; the default is 100000, and 0 is no limit",
		number(func(n int64) { f.limits.HistoryChanges = int(orNegative(n)) }))
	flags.Func("history-bytes", "remember as many changes as fit into `BYTES`, with the objects that were replaced or deleted; the default is 256 MiB, and 0 is no limit",
		number(func(n int64) { f.limits.HistoryBytes = orNegative(n) }))
	flags.Func("quota-backend-bytes", "store objects of `BYTES` at most in total; the default, also with 0, is 2 GiB, and a negative number is no limit", f.setQuota)
	flags.Func("max-requests-inflight", "serve `N` get and list requests at a time; above that they get 429; the default is 0, no limit",
		number(func(n int64) { f.limits.MaxRequestsInFlight = int(n) }))
	flags.Func("max-mutating-requests-inflight", "serve `N` other requests at a time; the default is 0, no limit",
		number(func(n int64) { f.limits.MaxMutatingRequestsInFlight = int(n) }))
	flags.Func("max-watches", "serve `N` watches at a time; the default is 0, no limit",
		number(func(n int64) { f.limits.MaxWatches = int(n) }))
	flags.Func("min-request-timeout", "end a watch without timeoutSeconds after this number of `SECONDS` to twice that; the default is 1800", f.setWatchTimeout)
	flags.Func("continue-token-lifetime", "accept a continue token for this `TIME` after the first page; the default is as long as the changes are remembered", f.duration(fakeapi.WithContinueLifetime))
	flags.Func("bookmark-interval", "send a bookmark to watches that request them after each `TIME`; the default is 1m", f.duration(fakeapi.WithBookmarkInterval))
	flags.Func("resource-version-timeout", "let a read at a future resourceVersion wait for this `TIME` until it gets 504; the default is 3s", f.duration(fakeapi.WithResourceVersionTimeout))
	flags.Func("namespace-deletion-delay", "leave a deleted namespace as it is for this `TIME`; the default is 5s, as in a cluster", f.duration(fakeapi.WithNamespaceDeletionDelay))
	flags.Func("webhook-service", "connect to the Service of a webhook at a host and port of this machine, on any port of the Service: `NAMESPACE/NAME=ADDRESS`; "+
		"the certificate must be valid for NAME.NAMESPACE.svc; can be repeated", f.addService)
	flags.BoolVar(&f.remoteWebhooks, "allow-remote-webhooks", false, "call webhooks at any address; without it, only at loopback addresses")
	flags.Func("admission-delay", "let changes of webhook configurations, and of admission policies, take effect after `TIME,TIME`, as on a real server; the default is 0s,0s", f.setAdmissionDelay)
	flags.Func("service-cluster-ip-range", "allocate the cluster IPs of Services from `CIDR[,CIDR]`, one range or two of different families; the default is 10.96.0.0/12", f.setServiceClusterIPRange)
	flags.Func("service-node-port-range", "allocate the node ports of Services from `MIN-MAX`; the default is 30000-32767", f.setServiceNodePortRange)
	flags.Func("seed", "seed `N` of random values: uids and generated names; without it they differ in each run", f.setSeed)
	flags.BoolVar(&f.validation, "validation", true, "refuse objects of built-in types that kube-apiserver refuses")
	flags.BoolVar(&f.timeline, "timeline", true, "record requests, responses and watch events for the control API")
	flags.IntVar(&f.verbosity, "v", 0, "the `LEVEL` of the log on stderr: from 3 on it has each request")
}

// names returns the function of a flag whose value is a list of names.
func (f *optionFlags) names(option func(...string) fakeapi.Option) func(string) error {
	return func(value string) error {
		f.set = append(f.set, option(strings.Split(value, ",")...))
		return nil
	}
}

// options returns the options. The log is written to stderr.
func (f *optionFlags) options(stderr io.Writer) []fakeapi.Option {
	opts := append(slices.Clone(f.set), fakeapi.WithLimits(f.limits))
	if len(f.services) > 0 {
		opts = append(opts, fakeapi.WithServiceResolver(f.serviceAddress))
	}
	if f.remoteWebhooks {
		opts = append(opts, fakeapi.WithRemoteWebhooks())
	}
	if !f.validation {
		opts = append(opts, fakeapi.WithoutValidation())
	}
	if !f.timeline {
		opts = append(opts, fakeapi.WithoutTimeline())
	}
	if f.verbosity >= requestVerbosity {
		opts = append(opts, fakeapi.WithLogger(slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	}
	return opts
}

// requestVerbosity is the level at which kube-apiserver logs requests.
const requestVerbosity = 3

func featureNames() (names []string) {
	for _, f := range []fakeapi.Feature{fakeapi.AggregatedDiscovery, fakeapi.CBOR, fakeapi.WatchList} {
		names = append(names, string(f))
	}
	return names
}

// setFeatures parses NAME=BOOL,...
func (f *optionFlags) setFeatures(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, found := strings.Cut(part, "=")
		if !found {
			return fmt.Errorf("missing bool value for %s", name)
		}
		name = strings.TrimSpace(name)
		if !slices.Contains(featureNames(), name) {
			return fmt.Errorf("unrecognized feature gate: %s", name)
		}
		enabled, err := strconv.ParseBool(strings.TrimSpace(value))
		if err != nil {
			return fmt.Errorf("invalid value of %s: %q is neither true nor false", name, value)
		}
		f.set = append(f.set, fakeapi.WithFeature(fakeapi.Feature(name), enabled))
	}
	return nil
}

// setCompactionInterval parses a duration, of which 0 is no limit.
func (f *optionFlags) setCompactionInterval(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return err
	case d < 0:
		return errNegative
	case d == 0:
		d = -1
	}
	f.limits.HistoryAge = d
	return nil
}

// setQuota parses a number like etcd: 0 is the default, and a negative number no limit.
func (f *optionFlags) setQuota(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return errNoNumber
	}
	f.limits.StorageBytes = n
	return nil
}

// setWatchTimeout parses a number of seconds.
func (f *optionFlags) setWatchTimeout(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil:
		return errNoNumber
	case n <= 0:
		return errNotPositive
	}
	f.set = append(f.set, fakeapi.WithWatchTimeout(time.Duration(n)*time.Second))
	return nil
}

// setAdmissionDelay sets the delays of webhooks and policies.
func (f *optionFlags) setAdmissionDelay(value string) error {
	first, second, found := strings.Cut(value, ",")
	webhooks, webhookErr := time.ParseDuration(first)
	policies, policyErr := time.ParseDuration(second)
	switch {
	case !found || webhookErr != nil || policyErr != nil:
		return errors.New("it is not of the form TIME,TIME, such as 100ms,1s")
	case webhooks < 0 || policies < 0:
		return errors.New("it is negative")
	}
	f.set = append(f.set, fakeapi.WithAdmissionDelay(webhooks, policies))
	return nil
}

// addService parses NAMESPACE/NAME=HOST:PORT.
func (f *optionFlags) addService(text string) error {
	service, address, _ := strings.Cut(text, "=")
	namespace, name, found := strings.Cut(service, "/")
	if !found || namespace == "" || name == "" {
		return errors.New("it is not of the form NAMESPACE/NAME=HOST:PORT")
	}
	if _, port, err := net.SplitHostPort(address); err != nil {
		return err
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q is not a port", port)
	}
	if f.services == nil {
		f.services = map[string]string{}
	}
	f.services[service] = address
	return nil
}

// serviceAddress returns the address of a Service.
func (f *optionFlags) serviceAddress(namespace, name string, _ int32) (string, error) {
	if address, ok := f.services[namespace+"/"+name]; ok {
		return address, nil
	}
	return "", fmt.Errorf("service %q not found: no --webhook-service for %s/%[1]s", name, namespace)
}

// setServiceClusterIPRange parses CIDR,... and leaves it to the option to compare them.
func (f *optionFlags) setServiceClusterIPRange(text string) error {
	ranges := strings.Split(text, ",")
	for _, cidr := range ranges {
		if _, err := netip.ParsePrefix(strings.TrimSpace(cidr)); err != nil {
			return fmt.Errorf("%q is not a range of addresses", cidr)
		}
	}
	f.set = append(f.set, fakeapi.WithServiceClusterIPRange(ranges...))
	return nil
}

func (f *optionFlags) setServiceNodePortRange(text string) error {
	if _, err := utilnet.ParsePortRange(text); err != nil {
		return err
	}
	f.set = append(f.set, fakeapi.WithServiceNodePortRange(text))
	return nil
}

func (f *optionFlags) setSeed(text string) error {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return errNoNumber
	}
	f.set = append(f.set, fakeapi.WithSeed(seed))
	return nil
}

var (
	errNoNumber    = errors.New("it is not a number")
	errNegative    = errors.New("it is negative")
	errNotPositive = errors.New("it is not positive")
)

// duration returns a parser of positive durations for an option.
func (f *optionFlags) duration(option func(time.Duration) fakeapi.Option) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return err
		case d <= 0:
			return errNotPositive
		}
		f.set = append(f.set, option(d))
		return nil
	}
}

// number returns a parser of numbers that are not negative.
func number(set func(int64)) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 10, strconv.IntSize)
		switch {
		case err != nil:
			return errNoNumber
		case n < 0:
			return errNegative
		}
		set(n)
		return nil
	}
}

// orNegative returns n, or for 0 the negative number that is no limit in package fakeapi.
func orNegative(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}
