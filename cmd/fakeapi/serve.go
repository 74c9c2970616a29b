package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/scenario"
)

const serveArguments = "[--address ADDRESS] [--kubeconfig FILE] [--load DIR_OR_FILE]... [--tls] [--token TOKEN]... [--client-ca FILE]... [--authorization-mode MODE,...]... [--host NAME]... " +
	"[--faults FILE] [--controllers=false] [--cbor] [--cache-initializing DURATION] [--latency] [--scenario FILE [--stay]] [--access-report FILE] " + optionArguments

// serveFlags has the flags of serve.
type serveFlags struct {
	address    string
	kubeconfig string // "" for a temporary file
	load       []string
	tls        bool
	tokens     []fakeapi.Token
	clientCAs  []string // paths
	modes      []fakeapi.AuthorizationMode
	hosts      []string
	cbor       bool
	faults     string // "" for none
	scenario   string // "" for none
	latency    bool   // add the latency of a real cluster
	// cacheInitializing is how long the watch cache initializes, 0 for not at all.
	cacheInitializing time.Duration
	stay              bool   // keep serving after the scenario
	accessReport      string // "" for none
	// controllers reports whether the server runs controllers.
	controllers bool
	server      optionFlags
}

func (f *serveFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.address, "address", "127.0.0.1:0", "listen on this loopback `ADDRESS`; port 0, as in 127.0.0.1:0 (the default), is a free one")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "write a kubeconfig to `FILE` and keep it; without it, a temporary one is written and removed at the end")
	flags.Func("load", "store the manifests in `DIR_OR_FILE` at the start (.yaml, .yml, .json; directories recursively), CustomResourceDefinitions first; can be repeated", func(path string) error {
		f.load = append(f.load, path)
		return nil
	})
	flags.BoolVar(&f.tls, "tls", false, "serve HTTPS, with HTTP/2; the kubeconfig has the certificate authority, which is created for this run")
	flags.Func("token", "require a bearer token, and accept `TOKEN` as system:admin, or with TOKEN,USER,GROUP,... as another user; implies --tls; can be repeated, and the kubeconfig has the first", func(text string) error {
		f.tokens = append(f.tokens, tokenOf(text))
		return nil
	})
	flags.Func("client-ca", "accept client certificates of the authorities in `FILE` (PEM); implies --tls; can be repeated, and the kubeconfig has a certificate of system:admin if there are no tokens", func(path string) error {
		f.clientCAs = append(f.clientCAs, path)
		return nil
	})
	flags.Func("authorization-mode", "authorize requests by `MODE,...`, asked in this order: RBAC, AlwaysAllow (the default) and AlwaysDeny; implies --tls and requests of system:anonymous unless AlwaysAllow is among them; "+
		"the kubeconfig has a certificate of system:admin in system:masters if there are no tokens; can be repeated", f.addModes)
	flags.Func("host", "accept requests with the host `NAME`, and add it to the certificate; loopback names and addresses are always accepted; can be repeated", func(name string) error {
		f.hosts = append(f.hosts, name)
		return nil
	})
	flags.BoolVar(&f.cbor, "cbor", false, "enable CBOR; the same as --feature-gates CBORServingAndStorage=true")
	flags.DurationVar(&f.cacheInitializing, "cache-initializing", 0, "for this `DURATION` after the start, and for each custom resource after a change of its definition, respond to watches and lists with 429, as while a watch cache is initialized")
	flags.BoolVar(&f.latency, "latency", false, "delay requests and watch events by 1 to 5 ms, as in a cluster")
	flags.StringVar(&f.faults, "faults", "", "add the fault rules in `FILE`, one per line")
	flags.StringVar(&f.scenario, "scenario", "", "run the scenario in `FILE` in real time, print its transcript, and exit; a step \"run NAME\" waits for a client whose user agent begins with NAME")
	flags.BoolVar(&f.stay, "stay", false, "keep serving after the scenario, until interrupted")
	flags.StringVar(&f.accessReport, "access-report", "", "at the end, write to `FILE` what each user and user agent requested and whether it was allowed: .json as JSON, .yaml and .yml as the smallest manifests, else as text")
	flags.BoolVar(&f.controllers, "controllers", true, "run controllers: namespace deletion, garbage collection, and the deletion of pods after their grace period")
	f.server.define(flags)
}

// addModes parses MODE,...
func (f *serveFlags) addModes(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		mode := fakeapi.AuthorizationMode(strings.TrimSpace(name))
		switch {
		case !slices.Contains(fakeapi.AuthorizationModes(), mode):
			return fmt.Errorf("%q is not one of the modes %v", mode, fakeapi.AuthorizationModes())
		case slices.Contains(f.modes, mode):
			return fmt.Errorf("the mode %s is specified more than once", mode)
		}
		f.modes = append(f.modes, mode)
	}
	return nil
}

// tokenOf parses the value of --token. The server validates it.
func tokenOf(text string) fakeapi.Token {
	fields := strings.Split(text, ",")
	if len(fields) == 1 {
		return fakeapi.Token{Value: text, User: "system:admin", Groups: []string{"system:masters"}}
	}
	return fakeapi.Token{Value: fields[0], User: fields[1], Groups: fields[2:]}
}

// options returns the options of the server.
func (f *serveFlags) options() []fakeapi.Option {
	opts := []fakeapi.Option{fakeapi.WithAddress(f.address), fakeapi.WithControlAPI()}
	if f.tls {
		opts = append(opts, fakeapi.WithTLS())
	}
	if len(f.tokens) > 0 {
		opts = append(opts, fakeapi.WithTokens(f.tokens...))
	}
	if len(f.hosts) > 0 {
		opts = append(opts, fakeapi.WithAllowedHosts(f.hosts...))
	}
	if len(f.modes) > 0 {
		opts = append(opts, fakeapi.WithAuthorizationModes(f.modes...))
	}
	if f.cbor {
		opts = append(opts, fakeapi.WithFeature(fakeapi.CBOR, true))
	}
	if f.cacheInitializing != 0 {
		opts = append(opts, fakeapi.WithCacheInitializing(f.cacheInitializing))
	}
	if f.latency {
		opts = append(opts, fakeapi.WithFaults(faults.RealisticLatency(1)...))
	}
	if !f.controllers {
		opts = append(opts, fakeapi.WithoutControllers())
	}
	return opts
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, c *call) error {
	var f serveFlags
	if err := c.parse(f.define); err != nil {
		return err
	}
	if f.stay && f.scenario == "" {
		return c.usageError(errors.New("--stay requires --scenario"))
	}
	if f.accessReport != "" && !f.server.timeline {
		return c.usageError(errors.New("--access-report requires --timeline"))
	}
	report, err := openAccessReport(ctx, f.accessReport)
	if err != nil {
		return ignoreInterruption(err)
	}
	defer report.close()
	s, err := f.start(ctx, c)
	if err != nil {
		return ignoreInterruption(err)
	}
	err = serveUntilDone(ctx, s, f, c)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // interrupted before it was announced
	}
	return errors.Join(err, s.close(), report.write(s.Access()))
}

// start reads the files that the flags name, and starts the server.
func (f *serveFlags) start(ctx context.Context, c *call) (scenarioServer, error) {
	from, err := openSources(f.load)
	if err != nil {
		return scenarioServer{}, err
	}
	opts := append(from.options(), f.options()...)
	opts = append(opts, f.server.options(c.stderr)...)
	if len(f.clientCAs) > 0 {
		authorities, err := f.readClientCAs(ctx)
		if err != nil {
			return scenarioServer{}, err
		}
		opts = append(opts, fakeapi.WithClientCA(authorities...))
	}
	if f.faults != "" {
		rules, err := readFaults(ctx, f.faults)
		if err != nil {
			return scenarioServer{}, err
		}
		opts = append(opts, fakeapi.WithFaults(rules...))
	}
	s, err := f.open(ctx, opts)
	if err != nil {
		err = explainLoadError(err)
	}
	return s, err
}

func (f *serveFlags) readClientCAs(ctx context.Context) (all [][]byte, err error) {
	for _, path := range f.clientCAs {
		text, err := readFile(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("--client-ca %s: %w", path, unwrapPathError(err))
		}
		all = append(all, text)
	}
	return all, nil
}

// scenarioServer is a server with the scenario that runs on it.
type scenarioServer struct {
	*fakeapi.Server
	run *scenario.LiveRun // nil without a scenario
}

func (f *serveFlags) open(ctx context.Context, opts []fakeapi.Option) (scenarioServer, error) {
	if f.scenario == "" {
		s, err := fakeapi.New(opts...)
		return scenarioServer{s, nil}, err
	}
	text, err := readFile(ctx, f.scenario)
	if err != nil {
		return scenarioServer{}, fmt.Errorf("--scenario %s: %w", f.scenario, unwrapPathError(err))
	}
	stage, err := scenario.NewLiveRun(f.scenario, string(text), scenario.Config{Options: opts})
	if err != nil {
		return scenarioServer{}, err
	}
	for _, name := range stage.ExternalClients() {
		if strings.HasPrefix(commandUserAgent, name) { // its requests would be held until the step of the client
			err := fmt.Errorf("%s: a client cannot be named %s: the user agent of the command's own requests begins with it", f.scenario, name)
			return scenarioServer{}, errors.Join(err, stage.Close())
		}
	}
	return scenarioServer{stage.Server(), stage}, nil
}

func (s scenarioServer) close() error {
	if s.run != nil {
		return s.run.Close()
	}
	return s.Close()
}

// wait runs the scenario, if any, or waits for the end of ctx.
func (s scenarioServer) wait(ctx context.Context, f serveFlags, c *call) error {
	if s.run == nil {
		<-ctx.Done()
		return nil
	}
	if _, err := fmt.Fprintf(c.stdout, "\n=== %s\n", f.scenario); err != nil {
		return err
	}
	_, failure := s.run.Play(ctx, c.stdout)
	if ctx.Err() != nil {
		return isInterrupted(failure)
	}
	err := c.reportResult(f.scenario, "", failure)
	if f.stay {
		<-ctx.Done()
	}
	return err
}

// serveUntilDone announces a running server, and waits for its end.
func serveUntilDone(ctx context.Context, s scenarioServer, f serveFlags, c *call) (err error) {
	release, err := serverRelease(ctx, s.Server)
	if err != nil {
		return err
	}
	file, err := newKubeconfigFile(f.kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	content, err := s.Kubeconfig()
	if err != nil {
		return err
	}
	if err := file.write(content); err != nil {
		return err
	}
	if err := writeAnnouncement(c.stdout, s.URL(), release, file); err != nil {
		return err
	}
	return s.wait(ctx, f, c)
}

// writeAnnouncement prints, in one write, the address of the server and how to use it.
func writeAnnouncement(w io.Writer, url, release string, file *kubeconfigFile) error {
	path, fate := shellQuote(file.path), ""
	if file.temporary() {
		fate = " (removed at the end)"
	}
	_, err := fmt.Fprintf(w, `serving on %s, as Kubernetes %s does
kubeconfig: %s%s

  export KUBECONFIG=%s
  kubectl --kubeconfig %s get namespaces

Ctrl-C ends it.
`, url, release, file.path, fate, path, path)
	return err
}
