package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"

	"example.com/fakeapi/conformance"
)

// features has the feature gates of --features.
type features map[string]bool

// add parses NAME[=true|false] or -NAME, several separated by commas.
func (f features) add(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, value, given := strings.Cut(strings.TrimSpace(part), "=")
		name, off := strings.CutPrefix(name, "-")
		if off && given {
			return fmt.Errorf("%q is ambiguous: use NAME, NAME=false or -NAME", part)
		}
		on, err := strconv.ParseBool(cmp.Or(value, "true"))
		if err != nil || given && value == "" {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		on = on && !off
		if known := conformance.FeatureGates(); !slices.Contains(known, name) {
			return fmt.Errorf("no case depends on a feature gate %q; the feature gates are: %s", name, strings.Join(known, ", "))
		}
		if before, text := f[name]; text && before != on {
			return fmt.Errorf("%s is both on and off", name)
		}
		f[name] = on
	}
	return nil
}

// checkServer returns an error unless exactly one server is named, or if a flag lacks the flag it
// depends on.
func (f *conformanceFlags) checkServer() error {
	switch {
	case f.kubeconfig == "" && f.url == "":
		return errors.New("--kubeconfig or --url is required")
	case f.kubeconfig != "" && f.url != "":
		return errors.New("--kubeconfig and --url are mutually exclusive")
	case f.context != "" && f.kubeconfig == "":
		return errors.New("--context requires --kubeconfig")
	case f.unprivilegedContext != "" && f.kubeconfig == "" && f.unprivilegedKubeconfig == "":
		return errors.New("--unprivileged-context requires --kubeconfig or --unprivileged-kubeconfig")
	}
	return nil
}

// server returns the server. It sends no request.
func (f *conformanceFlags) server(ctx context.Context) (*cluster, error) {
	if f.url == "" {
		return openCluster(ctx, f.kubeconfig, f.context)
	}
	base, err := url.Parse(f.url)
	if err == nil && (base.Scheme != "http" && base.Scheme != "https" || base.Host == "") {
		err = errors.New("it is not of the form http://host:port")
	}
	if err != nil {
		return nil, fmt.Errorf("--url %s: %w", f.url, err)
	}
	config := &rest.Config{Host: f.url}
	transport, err := newTransport(config)
	return &cluster{base: base, transport: transport, config: config}, err
}

// unprivilegedClient returns a client of the user without rights, or nil if there is none. The
// user's kubeconfig must have the same server.
func (f *conformanceFlags) unprivilegedClient(ctx context.Context, to *cluster) (*http.Client, error) {
	if f.unprivilegedKubeconfig == "" && f.unprivilegedContext == "" {
		return nil, nil
	}
	file := cmp.Or(f.unprivilegedKubeconfig, f.kubeconfig)
	as, err := readCluster(ctx, file, f.unprivilegedContext)
	if err == nil && strings.TrimRight(as.base.String(), "/") != strings.TrimRight(to.base.String(), "/") {
		err = fmt.Errorf("its server is %s, but the server to check is %s", as.base.Redacted(), to.base.Redacted())
	}
	if err != nil {
		return nil, fmt.Errorf("the user without rights, of %s: %w", file, err)
	}
	return &http.Client{Transport: as.transport}, nil
}

// config returns the configuration of the suite without the server and its users.
func (f *conformanceFlags) config() conformance.Config {
	config := f.suiteFlags.config()
	config.Features, config.Compact, config.ExpireWatches, config.BeginStartup = f.features, f.compact.runOnce(), f.expire.runOnce(), f.starting.runDuring()
	config.Parallel, config.RunTimeout = f.parallel, f.runTimeout
	return config
}
