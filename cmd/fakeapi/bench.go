package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/load"
)

const benchArguments = `--kubeconfig FILE [--context CONTEXT] [--objects N] [--clients N] [--watchers N,...] [--resources NAME,...] [--duration TIME] [--json] [-q]
--url URL [--objects N] [--clients N] [--watchers N,...] [--resources NAME,...] [--duration TIME] [--json] [-q]
--self [--objects N] [--clients N] [--watchers N,...] [--resources NAME,...] [--duration TIME] [--json] [-q]`

// benchFlags has the flags of bench.
type benchFlags struct {
	kubeconfig, context, url string
	self                     bool
	objects, clients         int
	watchers                 []int
	resources                []string
	duration                 time.Duration
	json, quiet              bool
}

func (f *benchFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "measure the server of this `FILE`, with its credentials; there is no default")
	flags.StringVar(&f.context, "context", "", "use this `CONTEXT` of the kubeconfig instead of its current one")
	flags.StringVar(&f.url, "url", "", "measure the server at this `URL`, without credentials")
	flags.BoolVar(&f.self, "self", false, "measure a server in this process, and its start")
	flags.IntVar(&f.objects, "objects", 2000, "create `N` objects of 1 KiB")
	flags.IntVar(&f.clients, "clients", 16, "send requests from up to `N` clients at a time")
	f.watchers = []int{1, 100, 1000}
	flags.Func("watchers", "measure fan-out and events to each of these numbers of watchers, `N,...`; the default is 1,100,1000, and 0 skips it", f.setWatchers)
	flags.Func("resources", "also measure each request of these resources once for each object, and its processor time in the server, `NAME,...` of "+
		strings.Join(load.Resources(), ", "), func(text string) error { f.resources = strings.Split(text, ","); return nil })
	flags.DurationVar(&f.duration, "duration", time.Second, "repeat each kind of request for this `TIME`; 1s is the default")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON")
	flags.BoolVar(&f.quiet, "q", false, "print no progress to stderr")
}

func (f *benchFlags) setWatchers(text string) error {
	f.watchers = nil
	if text == "0" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("%q is not a number", part)
		}
		f.watchers = append(f.watchers, n)
	}
	return nil
}

// bench measures a server and prints the figures.
func bench(ctx context.Context, c *call) error {
	var f benchFlags
	if err := c.parse(f.define); err != nil {
		return err
	}
	if err := f.checkServer(); err != nil {
		return c.usageError(err)
	}
	config := load.Config{
		Namespace: "fakeapi-bench", Objects: f.objects, Clients: f.clients, Watchers: f.watchers, Resources: f.resources, Duration: f.duration,
	}
	if !f.quiet {
		config.Progress = func(what string) { _, _ = fmt.Fprintln(c.stderr, what) } // progress only
	}
	if f.self {
		return f.benchSelf(ctx, c, config)
	}
	to, err := f.server(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", cmp.Or(f.kubeconfig, f.url), err)
	}
	return f.measure(ctx, c, config, to, nil)
}

// checkServer returns an error unless exactly one server is named.
func (f *benchFlags) checkServer() error {
	named := 0
	for _, is := range []bool{f.kubeconfig != "", f.url != "", f.self} {
		if is {
			named++
		}
	}
	switch {
	case named != 1:
		return errors.New("name the server by one of --kubeconfig, --url and --self")
	case f.context != "" && f.kubeconfig == "":
		return errors.New("--context requires --kubeconfig")
	}
	return nil
}

// server returns the configuration for connecting to the server.
func (f *benchFlags) server(ctx context.Context) (*rest.Config, error) {
	if f.url != "" {
		return &rest.Config{Host: f.url}, nil
	}
	to, err := interruptible(ctx, kubeconfigLoader(f.kubeconfig, f.context).ClientConfig)
	return to, unwrapPathError(err)
}

// measure runs the load and prints the report, which begins with the figures of before.
func (f *benchFlags) measure(ctx context.Context, c *call, config load.Config, to *rest.Config, before []load.Figure) error {
	base, _, err := rest.DefaultServerUrlFor(to)
	if err != nil {
		return err
	}
	config.BaseURL = base.String()
	config.Connect = func() (http.RoundTripper, error) { return newConnection(to) }
	if err := config.Validate(); err != nil {
		return c.usageError(err)
	}
	report, err := load.Run(ctx, config)
	if report == nil {
		return err
	}
	report.Server = base.Redacted()
	report.Figures = append(before, report.Figures...)
	if printed := f.print(c, report); printed != nil {
		return errors.Join(err, printed)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: the figures are not complete")
	}
	if failed, first := report.Failed(); failed > 0 && err == nil {
		return fmt.Errorf("%d requests failed, the first: %s", failed, first)
	}
	return err
}

func (f *benchFlags) print(c *call, report *load.Report) error {
	if !f.json {
		return report.Write(c.stdout)
	}
	return writeIndented(c.raw, report)
}

// newConnection returns a transport with the credentials of a kubeconfig and connections of its
// own: rest.TransportFor shares connections between clients.
func newConnection(to *rest.Config) (http.RoundTripper, error) {
	secure, err := rest.TLSConfigFor(to)
	if err != nil {
		return nil, err
	}
	if secure == nil {
		secure = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	proxy := to.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	return rest.HTTPWrappersForConfig(to, &http.Transport{
		TLSClientConfig: secure, ForceAttemptHTTP2: true, DisableCompression: true, DialContext: to.Dial, Proxy: proxy,
	})
}

// benchStarts is how many servers are started to measure the start.
const benchStarts = 20

// benchSelf measures the start of servers in this process, and then one server.
func (f *benchFlags) benchSelf(ctx context.Context, c *call, config load.Config) (err error) {
	var took []time.Duration
	for range benchStarts {
		one, err := timeStart(ctx)
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	first := load.NewFigure("start, the first", 1, took[0], took[:1])
	var total time.Duration
	for _, one := range took[1:] {
		total += one
	}
	later := load.NewFigure("start", 1, total, took[1:])
	s, err := fakeapi.New(fakeapi.WithNamespaceDeletionDelay(0)) // the run ends with a deletion
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	config.Memory, config.MemorySource = heapBytes, "live heap of this process, the clients included"
	return f.measure(ctx, c, config, s.RESTConfig(), []load.Figure{first, later})
}

// timeStart returns the time from starting a server to its first response.
func timeStart(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	s, err := fakeapi.New()
	if err != nil {
		return 0, err
	}
	_, err = serverRelease(ctx, s)
	took := time.Since(began)
	return took, errors.Join(err, s.Close())
}

// heapBytes returns the size of the heap after a garbage collection.
func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
