package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"example.com/fakeapi/internal/cmd/compare"
	"example.com/fakeapi/internal/cmd/golden"
)

const compareArguments = `--left SERVER --right SERVER [--left-context CONTEXT] [--right-context CONTEXT] [--left-compact URL] [--right-compact URL] [--controllers=false] [--namespace PREFIX] [--run REGEX] [--skip REGEX] [--level LEVEL] [--timeout TIME] [--patience TIME] [--report FORMAT[=FILE]]... [-q]
--dry-run --left SERVER --right SERVER [--left-context CONTEXT] [--right-context CONTEXT] [--namespace PREFIX] [--run REGEX] [--skip REGEX] [--level LEVEL]
--random --left SERVER --right SERVER [--left-context CONTEXT] [--right-context CONTEXT] [--controllers=false] [--namespace PREFIX] [--steps NUMBER] [--seed SEED] [--parallel NUMBER] [--listed FILE] [--report FORMAT[=FILE]]... [-q]
--list [--left golden:DIR] [--run REGEX] [--level LEVEL]`

// compareFlags has the flags of compare.
type compareFlags struct {
	suiteFlags
	random      randomFlags
	left, right sideFlags
	webhook     *golden.Webhook // of the recordings that need one
	controllers bool
	reports     reportFiles[comparisonReport]
}

// comparisonReport is the result of a comparison by cases or by random requests.
type comparisonReport interface {
	WriteJSON(io.Writer) error
	WriteMarkdown(io.Writer) error
	WriteText(io.Writer) error
}

func (f *compareFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.left.name, "left", "", "the `SERVER` on the left: the file of a kubeconfig, self for a server in this process, or golden:DIR for recorded exchanges")
	flags.StringVar(&f.right.name, "right", "", "the `SERVER` on the right: the file of a kubeconfig, or self")
	flags.StringVar(&f.left.context, "left-context", "", "use this `CONTEXT` of the kubeconfig on the left instead of its current one")
	flags.StringVar(&f.right.context, "right-context", "", "use this `CONTEXT` of the kubeconfig on the right instead of its current one")
	flags.StringVar(&f.left.compact, "left-compact", "", "a POST to this `URL` makes the server on the left compact its history; without it, cases that need that are skipped")
	flags.StringVar(&f.right.compact, "right-compact", "", "a POST to this `URL` makes the server on the right compact its history")
	flags.BoolVar(&f.controllers, "controllers", true, "run controllers in the servers of this process")
	f.random.define(flags)
	f.suiteFlags.define(flags)
	flags.Func("report", "write a report as json or markdown, to a file or to stdout: `FORMAT[=FILE]`; can be repeated", f.reports.add)
}

// compareCommand sends the same requests to two servers and prints the differences.
func compareCommand(ctx context.Context, c *call) error {
	f := &compareFlags{reports: reportFiles[comparisonReport]{forms: []reportForm[comparisonReport]{
		{"json", comparisonReport.WriteJSON}, {"markdown", comparisonReport.WriteMarkdown},
	}}}
	if err := c.parse(f.define); err != nil {
		return err
	}
	err := f.compare(ctx, c)
	switch {
	case err == nil, errors.Is(err, errReported), errors.As(err, new(usageError)):
		return err
	}
	return errUndecided{err}
}

// check returns an error if flags contradict each other.
func (f *compareFlags) check() error {
	switch {
	case f.list && f.dryRun:
		return errors.New("--list and --dry-run are mutually exclusive")
	case (f.list || f.dryRun) && len(f.reports.files) > 0:
		return errors.New("--report requires a run")
	case f.list:
		return nil
	case f.left.name == "" || f.right.name == "":
		return errors.New("--left and --right are required")
	}
	if _, recorded := f.right.recordings(); recorded {
		return errors.New("only the left side can be recordings")
	}
	return errors.Join(f.left.check("left"), f.right.check("right"))
}

// compare runs the recordings or the suite.
func (f *compareFlags) compare(ctx context.Context, c *call) error {
	if err := f.check(); err != nil {
		return c.usageError(err)
	}
	if f.random.random {
		if err := f.random.check(f); err != nil {
			return c.usageError(err)
		}
		return f.compareRandomly(ctx, c)
	}
	if folder, recorded := f.left.recordings(); recorded {
		return f.compareRecordings(ctx, c, folder)
	}
	return f.compareServers(ctx, c)
}

// openSides connects to both servers.
func (f *compareFlags) openSides(ctx context.Context) (left, right *openSide, err error) {
	if left, err = f.left.open(ctx, "left", f.controllers); err != nil {
		return nil, nil, err
	}
	if right, err = f.right.open(ctx, "right", f.controllers); err != nil {
		left.close()
		return nil, nil, err
	}
	return left, right, nil
}

// compareServers runs the suite on both sides.
func (f *compareFlags) compareServers(ctx context.Context, c *call) error {
	selected := f.config().SelectedCases()
	if len(selected) == 0 {
		return c.usageError(errors.New("--run and --level select no case"))
	}
	if f.list {
		return listCases(c.stdout, selected)
	}
	left, right, err := f.openSides(ctx)
	if err != nil {
		return err
	}
	defer left.close()
	defer right.close()
	if err := left.side(f.config()).Config.Validate(); err != nil {
		return c.usageError(err)
	}
	if f.dryRun {
		return dryRun(ctx, c, f.config(), left.address+" and "+right.address)
	}
	return f.execute(ctx, c, len(selected), func(shown *progress) (*compare.Report, error) {
		sides := [2]compare.Side{left.side(f.config()), right.side(f.config())}
		sides[0].Config.CaseStarted = shown.startCase
		return compare.Suites(ctx, sides[0], sides[1], shown.endComparison)
	})
}

// writeReports writes the reports, and the text to the terminal. The error is that of writing, or
// that of the comparison, which is failed unless a signal has ended it.
func (f *compareFlags) writeReports(ctx context.Context, c *call, report comparisonReport, failed error) error {
	unwritten := f.reports.write(report, c.raw)
	summary := c.stdout
	if f.reports.toStdout() {
		summary = c.stderr
	}
	if err := errors.Join(unwritten, report.WriteText(summary)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted: the comparison is not complete")
	}
	return failed
}

// execute runs the comparison, writes the reports and prints a summary.
func (f *compareFlags) execute(ctx context.Context, c *call, total int, run func(*progress) (*compare.Report, error)) error {
	if err := f.reports.open(ctx); err != nil {
		return err
	}
	defer f.reports.close()
	shown := newProgress(c.stderr, total, f.quiet, "different", "on one side only")
	defer shown.onInterrupt(ctx)()
	report, failed := run(shown)
	shown.stop()
	if report == nil {
		return failed
	}
	if err := f.writeReports(ctx, c, report, failed); err != nil {
		return err
	}
	switch {
	case !report.Clean():
		return errors.New("cleaning up failed, see LEFT BEHIND")
	case report.Count(compare.Same)+report.Count(compare.Neither) < len(report.Cases):
		return errReported
	}
	return nil
}
