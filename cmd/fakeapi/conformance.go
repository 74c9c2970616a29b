package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/fakeapi/conformance"
)

const conformanceArguments = `--kubeconfig FILE [--context CONTEXT] [--namespace PREFIX] [--run REGEX] [--skip REGEX] [--level LEVEL] [--features NAME[=BOOL],...]... [--unprivileged-kubeconfig FILE] [--unprivileged-context CONTEXT] [--compact URL|COMMAND] [--expire URL|COMMAND] [--starting COMMAND] [--parallel NUMBER] [--timeout TIME] [--run-timeout TIME] [--patience TIME] [--report FORMAT[=FILE]]... [-q]
--url URL [--namespace PREFIX] [--run REGEX] [--skip REGEX] [--level LEVEL] [--features NAME[=BOOL],...]... [--unprivileged-kubeconfig FILE] [--unprivileged-context CONTEXT] [--compact URL|COMMAND] [--expire URL|COMMAND] [--starting COMMAND] [--parallel NUMBER] [--timeout TIME] [--run-timeout TIME] [--patience TIME] [--report FORMAT[=FILE]]... [-q]
--dry-run --kubeconfig FILE [--context CONTEXT] [--namespace PREFIX] [--run REGEX] [--skip REGEX] [--level LEVEL]
--list [--run REGEX] [--level LEVEL]`

// conformanceFlags has the flags of conformance.
type conformanceFlags struct {
	suiteFlags
	kubeconfig, context, url                    string
	unprivilegedKubeconfig, unprivilegedContext string
	features                                    features
	compact, expire, starting                   hook
	parallel                                    int
	runTimeout                                  time.Duration
	reports                                     reportFiles[conformance.Report]
}

func (f *conformanceFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "check the server of this `FILE`, with its credentials; there is no default")
	flags.StringVar(&f.context, "context", "", "use this `CONTEXT` of the kubeconfig instead of its current one")
	f.suiteFlags.define(flags)
	flags.StringVar(&f.url, "url", "", "check the server at this `URL`, without credentials, such as kubectl proxy")
	flags.StringVar(&f.unprivilegedKubeconfig, "unprivileged-kubeconfig", "", "credentials of a user without rights on the same server, in `FILE`; without it such a user is impersonated")
	flags.StringVar(&f.unprivilegedContext, "unprivileged-context", "", "the `CONTEXT` of that user in --unprivileged-kubeconfig, or else in --kubeconfig")
	flags.Func("features", "these feature gates of the server are on, or with =false or a leading - off: `NAME[=BOOL],...` of "+strings.Join(conformance.FeatureGates(), ", ")+
		"; what is not named is asked of the server; can be repeated", f.features.add)
	flags.Func("compact", "compact the server's history, as etcd does, by a POST to a URL or by a shell command: `URL|COMMAND`", f.compact.set)
	flags.Func("expire", "drop the server's history for watches, too: `URL|COMMAND`", f.expire.set)
	flags.Func("starting", "put the server into its start-up state by a shell `COMMAND`, which prints a line when that is done, and ends the state when it is interrupted", f.starting.setCommand)
	flags.IntVar(&f.parallel, "parallel", 16, "run this `NUMBER` of cases at a time; cases that would affect others run alone; with 1 cases run in the order of their IDs")
	flags.DurationVar(&f.runTimeout, "run-timeout", 30*time.Minute, "the `TIME` limit of the run, without cleaning up: then running cases fail, and those not reached are named")
	flags.Func("report", "write a report as junit, json, markdown or html, to a file or to stdout: `FORMAT[=FILE]`; can be repeated", f.reports.add)
}

// conformanceCommand runs the conformance suite against a server.
func conformanceCommand(ctx context.Context, c *call) error {
	f := &conformanceFlags{features: features{}}
	f.reports.forms = []reportForm[conformance.Report]{
		{"junit", conformance.Report.WriteJUnit}, {"json", conformance.Report.WriteJSON},
		{"markdown", conformance.Report.WriteMarkdown}, {"html", conformance.Report.WriteHTML},
	}
	if err := c.parse(f.define); err != nil {
		return err
	}
	config := f.config()
	switch {
	case f.parallel < 1 || f.runTimeout <= 0:
		return c.usageError(errors.New("--parallel and --run-timeout must be positive"))
	case f.list && f.dryRun:
		return c.usageError(errors.New("--list and --dry-run are mutually exclusive"))
	case (f.list || f.dryRun) && len(f.reports.files) > 0:
		return c.usageError(errors.New("--report requires a run"))
	case len(config.SelectedCases()) == 0:
		return c.usageError(errors.New("--run and --level select no case"))
	case f.list:
		return listCases(c.stdout, config.SelectedCases())
	}
	if err := f.checkServer(); err != nil {
		return c.usageError(err)
	}
	to, err := f.server(ctx)
	if err != nil {
		return err
	}
	if config.UnprivilegedClient, err = f.unprivilegedClient(ctx, to); err != nil {
		return err
	}
	config.BaseURL, config.Client, config.TokenClient = to.base.String(), &http.Client{Transport: to.transport}, to.withToken
	if err := config.Validate(); err != nil {
		return c.usageError(err)
	}
	// An unreachable server would fail every case.
	err = checkReachable(ctx, to, f.runTimeout)
	switch hangs := errors.Is(err, context.DeadlineExceeded); {
	case err != nil && (!hangs || f.dryRun):
		return err
	case hangs: // the report names all cases
		return f.execute(ctx, c, config, err)
	case f.dryRun:
		return dryRun(ctx, c, config, to.base.Redacted())
	}
	return f.execute(ctx, c, config, nil)
}

// reachTimeout limits how long the first response of a server may take.
const reachTimeout = 30 * time.Second

// checkReachable returns an error unless the server accepts a request of the kubeconfig's user
// within a time.
func checkReachable(ctx context.Context, to *cluster, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, min(within, reachTimeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(to.base.String(), "/")+"/version", nil)
	if err != nil {
		return err
	}
	response, err := to.transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("the server %s does not respond: %w", to.base.Redacted(), err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /version of %s returned %s", to.base.Redacted(), response.Status)
	}
	return nil
}

// execute runs the cases, writes the reports and prints a summary. If the server is known to hang,
// it reports all cases as not reached.
func (f *conformanceFlags) execute(ctx context.Context, c *call, config conformance.Config, hangs error) error {
	if err := f.reports.open(ctx); err != nil {
		return err
	}
	defer f.reports.close()
	shown := newProgress(c.stderr, len(config.SelectedCases()), f.quiet, "failed", "skipped")
	config.CaseStarted, config.CaseFinished = shown.startCase, shown.endCase
	defer shown.onInterrupt(ctx)()
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if hangs != nil {
		cancel(hangs)
	}
	report, incomplete := conformance.Execute(running, config)
	shown.stop()
	unwritten := f.reports.write(report, c.raw)
	summary := c.stdout
	if f.reports.toStdout() {
		summary = c.stderr
	}
	if err := errors.Join(unwritten, writeSummary(summary, report)); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: the run is not complete")
	case incomplete != nil:
		return incomplete
	case report.LevelTally(conformance.Must).Failed > 0 || hasLeftovers(report):
		return errReported
	}
	return nil
}

// hasLeftovers reports whether some objects could not be deleted.
func hasLeftovers(report conformance.Report) bool {
	for _, one := range report.Results {
		if len(one.Leftovers) > 0 {
			return true
		}
	}
	return len(report.Leftovers) > 0
}
