package kubeapiserver

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// Options returns the options of the server that the flags ask for. It reads the files that they
// name, relative to dir, and creates those that kube-apiserver creates: the certificate in
// --cert-dir. Each note is a line for the log.
//
// As for a kube-apiserver without a kube-controller-manager, the options include
// WithoutControllers. Options does not return WithLogger; see Verbosity. Close closes what it
// opens.
func (f *Flags) Options(dir string) (opts []fakeapi.Option, notes []string, err error) {
	files := directory(dir)
	opts = append(f.limitOptions(), fakeapi.WithoutControllers())
	for _, add := range []func(directory) ([]fakeapi.Option, error){
		f.servingOptions, f.serviceAccountOptions, f.authenticationOptions, f.authorizationOptions, f.serviceOptions, f.apiOptions, f.auditOptions,
	} {
		added, err := add(files)
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, added...)
	}
	plugins, missing := f.admission.options()
	opts = append(opts, plugins...)
	features, unused := f.features.options()
	opts = append(opts, features...)
	return opts, noEffect(f.withoutEffect(), settings("--enable-admission-plugins", missing), settings("--feature-gates", unused)), nil
}

// noEffect returns the note about flags, and values of flags, that have no effect.
func noEffect(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil
	}
	return []string{"These flags have no effect here: " + strings.Join(all, ", ")}
}

// settings returns FLAG=VALUE for each value.
func settings(flag string, values []string) (list []string) {
	for _, value := range values {
		list = append(list, flag+"="+value)
	}
	return list
}

// directory is the one that names of files are relative to.
type directory string

func (d directory) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(string(d), name)
}

// maxFileBytes is the maximum size of a file that a flag names.
const maxFileBytes = 16 << 20

// read returns the content of a file.
func (d directory) read(name string) ([]byte, error) {
	file, err := os.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxFileBytes)
	}
	return data, err
}

// limitOptions returns the limits and timeouts. With --enable-priority-and-fairness, which is the
// default, kube-apiserver queues requests above its limits, and the group system:masters has none:
// the limits count only if they are on the command line. So does --request-timeout, because
// responses are buffered for it.
func (f *Flags) limitOptions() []fakeapi.Option {
	limits := fakeapi.Limits{HistoryAge: f.limits.compactionInterval}
	if limits.HistoryAge == 0 {
		limits.HistoryAge = -1
	}
	if f.all.Changed("max-requests-inflight") || !f.priorityAndFairness {
		limits.MaxRequestsInFlight = f.limits.maxRequestsInFlight
	}
	if f.all.Changed("max-mutating-requests-inflight") || !f.priorityAndFairness {
		limits.MaxMutatingRequestsInFlight = f.limits.maxMutatingRequestsInFlight
	}
	opts := []fakeapi.Option{fakeapi.WithLimits(limits), fakeapi.WithWatchTimeout(f.limits.watchTimeout()), fakeapi.WithGoawayChance(f.limits.goawayChance)}
	if f.all.Changed("request-timeout") && f.limits.requestTimeout > 0 {
		opts = append(opts, fakeapi.WithRequestTimeout(f.limits.requestTimeout))
	}
	return opts
}

// watchTimeout returns the shortest time after which a watch ends. kube-apiserver ends a watch at
// once with 0.
func (l *limitFlags) watchTimeout() time.Duration {
	return max(time.Duration(l.minRequestTimeout)*time.Second, time.Nanosecond)
}
