package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/printable"
	"example.com/fakeapi/scenario"
)

const serveArguments = "[--output FORMAT] [--until-stdin-ends] [--scenario FILE [--stay]] " + serverArguments

// serveFlags has the flags of serve.
type serveFlags struct {
	serverFlags
	output   string // text or json
	scenario string // "" for none
	stay     bool   // keep serving after the scenario
	// untilStdinEnds is whether the end of stdin ends the command.
	untilStdinEnds bool
}

func (f *serveFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.output, "output", "text", "announce the server as `FORMAT`: text, or json for one line with url, kubeconfig (the path), ca (PEM), token, controlURL and version, when it is ready")
	flags.StringVar(&f.scenario, "scenario", "", "run the scenario in `FILE` in real time, print its transcript, and exit; a step \"run NAME\" waits for a client whose user agent begins with NAME")
	flags.BoolVar(&f.untilStdinEnds, "until-stdin-ends", false, "end when stdin does: if it is a pipe, the server ends with the program that started it")
	flags.BoolVar(&f.stay, "stay", false, "keep serving after the scenario, until interrupted")
	f.serverFlags.define(flags)
}

// validate returns an error for flags that cannot be combined.
func (f *serveFlags) validate() error {
	switch {
	case f.stay && f.scenario == "":
		return errors.New("--stay requires --scenario")
	case f.output != "text" && f.output != "json":
		return fmt.Errorf("--output %s is none of text, json", f.output)
	case f.output == "json" && f.scenario != "":
		return errors.New("--output json cannot be used with --scenario")
	}
	return nil
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, c *call) error {
	var f serveFlags
	if err := c.parse(f.define); err != nil {
		return err
	}
	if err := f.validate(); err != nil {
		return c.usageError(err)
	}
	if err := f.prepare(c); err != nil {
		return err
	}
	report, err := openAccessReport(ctx, f.accessReport)
	if err != nil {
		return ignoreInterruption(err)
	}
	defer report.close()
	if f.untilStdinEnds {
		ctx = withStdin(ctx)
	}
	s, err := f.start(ctx, c)
	if err != nil {
		return ignoreInterruption(err)
	}
	err = serveUntilDone(ctx, s, f, c)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // interrupted before it was announced
	}
	return errors.Join(err, s.close(), f.audit.close(), report.write(s.Access()), f.environment.Finish(s.Server))
}

// withStdin returns a context that ends with ctx, or when stdin ends.
func withStdin(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // an error is an end, too
		cancel()
	}()
	return ctx
}

// start reads the files that the flags name, and starts the server.
func (f *serveFlags) start(ctx context.Context, c *call) (scenarioServer, error) {
	opts, err := f.options(ctx, c)
	if err != nil {
		return scenarioServer{}, err
	}
	s, err := f.open(ctx, opts)
	if err != nil {
		err = explainLoadError(err)
	}
	return s, err
}

// scenarioServer is a server with the scenario that runs on it.
type scenarioServer struct {
	*fakeapi.Server
	run *scenario.LiveRun // nil without a scenario
}

func (f *serveFlags) open(ctx context.Context, opts []fakeapi.Option) (scenarioServer, error) {
	if f.scenario == "" {
		preload()
		s, err := fakeapi.New(opts...)
		return scenarioServer{s, nil}, err
	}
	text, err := readFile(ctx, f.scenario)
	if err != nil {
		return scenarioServer{}, fmt.Errorf("--scenario %s: %w", f.scenario, unwrapPathError(err))
	}
	run, err := scenario.NewLiveRun(f.scenario, string(text), scenario.Config{Options: opts})
	if err != nil {
		return scenarioServer{}, err
	}
	for _, name := range run.ExternalClients() {
		if strings.HasPrefix(commandUserAgent, name) { // its requests would be held until the step of the client
			err := fmt.Errorf("%s: a client cannot be named %s: the user agent of the command's own requests begins with it", f.scenario, name)
			return scenarioServer{}, errors.Join(err, run.Close())
		}
	}
	return scenarioServer{run.Server(), run}, nil
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
	file, err := f.writeCredentials(s.Server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	if err := f.environment.Announce(s.Server); err != nil {
		return err
	}
	if f.output == "json" {
		err = writeReadyLine(c.raw, s.Server, release, file.path)
	} else {
		err = writeAnnouncement(c.stdout, s.Server, release, file)
	}
	if err != nil {
		return err
	}
	return s.wait(ctx, f, c)
}

// writeReadyLine prints, in one write, a line of JSON with what a program needs to use the server.
func writeReadyLine(w io.Writer, s *fakeapi.Server, release, kubeconfig string) error {
	line, err := json.Marshal(struct {
		URL        string `json:"url"`
		Kubeconfig string `json:"kubeconfig"`
		CA         string `json:"ca"`
		Token      string `json:"token"`
		ControlURL string `json:"controlURL"`
		Version    string `json:"version"`
	}{s.URL(), kubeconfig, string(s.CACertificate()), s.RESTConfig().BearerToken, s.ControlURL(), release})
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// writeAnnouncement prints, in one write, the address of the server and how to use it.
func writeAnnouncement(w io.Writer, s *fakeapi.Server, release string, file *kubeconfigFile) error {
	path, removal := printable.ShellWord(file.path), ""
	if file.temporary() {
		removal = " (removed at the end)"
	}
	_, err := fmt.Fprintf(w, `serving on %s, as Kubernetes %s does
kubeconfig: %s%s
control API: %s

  export KUBECONFIG=%s
  kubectl --kubeconfig %s get namespaces

Ctrl-C ends it.
`, s.URL(), release, file.path, removal, s.ControlURL(), path, path)
	return err
}
