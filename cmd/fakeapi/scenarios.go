package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/scenario"
)

const runArguments = `[FILE | DIRECTORY | CASE | -]... [--client [ROLE=]NAME]... [--seed N] [-q] [--real-time] [--html FOLDER]
--all [--client [ROLE=]NAME]...
--list`

// runFlags has the flags of run.
type runFlags struct {
	seed     uint64
	quiet    bool
	realTime bool
	clients  clientSelection
	html     string
	list     bool
	all      bool
}

func (f *runFlags) define(flags *flag.FlagSet) {
	flags.Uint64Var(&f.seed, "seed", 0, "seed `N` of random values: uids and generated names; the default is 0")
	flags.BoolVar(&f.quiet, "q", false, "print a line for each scenario instead of its transcript")
	flags.BoolVar(&f.realTime, "real-time", false, "run in real time: runs differ, and ten minutes take ten minutes")
	flags.Func("client", "run with this client of --list: `[ROLE=]NAME`; without ROLE, in all its roles; can be repeated", f.clients.add)
	flags.StringVar(&f.html, "html", "", "write the timeline of each scenario as a page to `FOLDER`: NAME.html, which is replaced; a second scenario of that name is NAME-2")
	flags.BoolVar(&f.list, "list", false, "print the catalogue: number, name, role, passing clients and title of each case, and the clients")
	flags.BoolVar(&f.all, "all", false, "run each case of the catalogue with each client of its role (or those of --client), and print which pass; a result that the catalogue does not expect is a failure")
}

// runScenarios runs the scenarios that the arguments name.
func runScenarios(ctx context.Context, c *call) error {
	var f runFlags
	words, err := c.parseWords(f.define)
	if err != nil {
		return err
	}
	silenceClientLogs()
	switch {
	case f.list && f.all:
		return c.usageError(errors.New("--list and --all are mutually exclusive"))
	case (f.list || f.all) && len(words) > 0:
		return c.usageError(fmt.Errorf("unexpected argument %q beside --list or --all", words[0]))
	case f.list:
		return listCatalogue(c.stdout)
	case f.all:
		return runCatalogue(ctx, c, f)
	case len(words) == 0:
		return c.usageError(errors.New("name a FILE, a DIRECTORY or a CASE, or - for stdin"))
	}
	runs, err := openScenarios(ctx, words, f.clients)
	if err != nil {
		return err
	}
	failed := 0
	for _, s := range runs {
		ok, err := f.runScenario(ctx, c, s)
		if err != nil {
			return err
		}
		if !ok {
			failed++
		}
	}
	if len(runs) > 1 {
		if _, err := fmt.Fprintf(c.stdout, "%d scenarios, %d failed\n", len(runs), failed); err != nil {
			return err
		}
	}
	if failed > 0 {
		return errReported
	}
	return nil
}

// silenceClientLogs turns off logging by client-go, and its throttling of errors, which would sleep
// for years of virtual time (see TestMain of package scenario). It runs once, because clients of an
// earlier run may still be active.
var silenceClientLogs = sync.OnceFunc(func() {
	utilruntime.ErrorHandlers = nil
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
})

// runScenario runs a scenario and prints its transcript. An error ends the command.
func (f *runFlags) runScenario(ctx context.Context, c *call, s scenarioRun) (ok bool, err error) {
	var live io.Writer
	if !f.quiet {
		if _, err := fmt.Fprintf(c.stdout, "=== %s\n", s.title()); err != nil {
			return false, err
		}
		live = c.stdout
	}
	var page error
	if f.html != "" {
		s.config.AfterRun = func(server *fakeapi.Server, _ error) { page = writePage(ctx, f.html, s, server) }
	}
	log, failure := f.play(ctx, s, live)
	switch {
	case ctx.Err() != nil:
		return false, isInterrupted(failure)
	case page != nil:
		return false, page
	}
	if !f.quiet && !f.realTime && log != nil {
		if _, err := io.WriteString(c.stdout, log.String()); err != nil {
			return false, err
		}
	}
	if err := c.reportResult(s.name, s.knownFailure, failure); !errors.Is(err, errReported) {
		return failure == nil, err
	}
	return false, nil
}

// writePage writes the timeline of a scenario's server as a page.
func writePage(ctx context.Context, folder string, s scenarioRun, server *fakeapi.Server) error {
	path := filepath.Join(folder, s.page+".html")
	file, err := openOutput(ctx, path)
	if err == nil {
		err = file.write(func(w io.Writer) error { return server.Timeline().WriteHTML(w, s.title()) })
	}
	if err != nil {
		return fmt.Errorf("--html %s: %w", path, err)
	}
	return nil
}

// reportResult prints the result of a scenario. It returns errReported if it failed.
func (c *call) reportResult(name, knownFailure string, failure error) error {
	if failure == nil {
		_, err := fmt.Fprintln(c.stdout, "ok    "+name)
		return err
	}
	if _, err := fmt.Fprintln(c.stderr, prefix+shortError(failure)); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.stdout, "FAIL  "+name+knownFailure); err != nil {
		return err
	}
	return errReported
}

// isInterrupted returns an error for a scenario that was abandoned, whose result is unknown.
func isInterrupted(failure error) error {
	if failure == nil {
		return errors.New("interrupted at the end of the scenario")
	}
	return fmt.Errorf("interrupted: %s", shortError(failure))
}

// play runs a scenario. In real time, its lines are printed as they appear. On virtual time it
// cannot be interrupted: when ctx ends, play returns, and the scenario ends with the process.
func (f *runFlags) play(ctx context.Context, s scenarioRun, live io.Writer) (*scenario.Transcript, error) {
	s.config.Seed = f.seed
	if f.realTime {
		return playLive(ctx, s, live)
	}
	type ending struct {
		log *scenario.Transcript
		err error
	}
	ended := make(chan ending, 1)
	go func() {
		log, err := scenario.Play(s.name, s.text, s.config)
		ended <- ending{log, err}
	}()
	select {
	case e := <-ended:
		return e.log, e.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s did not end", s.name)
	}
}

// playLive runs a scenario in real time.
func playLive(ctx context.Context, s scenarioRun, live io.Writer) (log *scenario.Transcript, err error) {
	s.config.Options = append(s.config.Options, fakeapi.WithInMemoryNetwork())
	run, err := scenario.NewLiveRun(s.name, s.text, s.config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	if external := run.ExternalClients(); len(external) > 0 {
		return nil, fmt.Errorf("%s: no client for: %s; name it with --client, or connect it to fakeapi serve --scenario",
			s.name, strings.Join(external, ", "))
	}
	return run.Play(ctx, live)
}

// shortError returns the message of a failure without the transcript, which is printed separately.
func shortError(err error) string {
	if failure, ok := err.(*scenario.Failure); ok { // not errors.As: it may be one of several
		return failure.Brief()
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var texts []string
		for _, one := range all.Unwrap() {
			texts = append(texts, shortError(one))
		}
		return strings.Join(texts, "\n")
	}
	return strings.TrimPrefix(err.Error(), prefix)
}
