package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

const perturbArguments = "--workload FILE [--budget N] [--seed N] [--parallel N] [--pause DURATION] [--settle DURATION] [--recovery DURATION] [--ignore PATTERN]... [--known NAME]... [--output FOLDER] [-q] -- COMMAND [ARGUMENT]..."

// perturbFlags has the flags of perturb.
type perturbFlags struct {
	workload string
	quiet    bool
	config   perturb.Config
}

func (f *perturbFlags) define(flags *flag.FlagSet) {
	f.config.Known = map[string]string{}
	f.config.RealTime = true
	flags.StringVar(&f.workload, "workload", "", "the scenario in `FILE` is the workload: its step \"run NAME\" runs the COMMAND")
	flags.IntVar(&f.config.Budget, "budget", 40, "run `N` perturbations at most, the most promising ones; 0 is for all")
	flags.Uint64Var(&f.config.Seed, "seed", 0, "seed `N` of the order of perturbations, and of uids and generated names; the default is 0")
	flags.IntVar(&f.config.Parallel, "parallel", 1, "run `N` perturbations at a time, each with its own server and COMMAND")
	flags.DurationVar(&f.config.Pause, "pause", 2*time.Second, "wait for `DURATION` after each step of the workload")
	flags.DurationVar(&f.config.Settle, "settle", 3*time.Second, "a run ends when nothing was written for `DURATION`")
	flags.DurationVar(&f.config.Recovery, "recovery", 20*time.Second, "the controller may take `DURATION` to reach the right state after a perturbation")
	flags.Func("ignore", "do not compare what `PATTERN` matches: RESOURCE/NAME or RESOURCE/NAME:PATH, with * for any text; can be repeated", func(text string) error {
		f.config.Ignore = append(f.config.Ignore, text)
		return nil
	})
	flags.Func("known", "accept the finding `NAME`; it is an error if it is not found; can be repeated", func(text string) error {
		f.config.Known[text] = "--known"
		return nil
	})
	flags.StringVar(&f.config.Dir, "output", "", "write each finding to `FOLDER`: as text, as a scenario and as the page of its timeline")
	flags.BoolVar(&f.quiet, "q", false, "print no progress on stderr, and not what the COMMAND prints")
}

// perturbCommand perturbs a controller that a command runs.
func perturbCommand(ctx context.Context, c *call) error {
	var f perturbFlags
	args, err := c.parseCommand(f.define)
	if err != nil {
		return err
	}
	if f.workload == "" {
		return c.usageError(errors.New("--workload FILE is required"))
	}
	name, err := f.readWorkload()
	if err != nil {
		return err
	}
	output := io.Discard
	if !f.quiet {
		output, f.config.Progress = c.rawErr, c.stderr
	}
	f.config.Controllers = map[string]scenario.Client{name: c.commandClient(args, output)}
	silenceClientLogs()
	report, err := perturb.SearchContext(ctx, f.config)
	if err != nil && ctx.Err() != nil {
		return isInterrupted(err)
	}
	if err != nil {
		return err
	}
	return printReport(c, report)
}

// readWorkload reads the steps of the workload, and returns the name of the client.
func (f *perturbFlags) readWorkload() (name string, err error) {
	text, err := os.ReadFile(f.workload)
	if err != nil {
		return "", err
	}
	steps, err := scenario.Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.workload, err)
	}
	for i, step := range steps {
		client, isRun := strings.CutPrefix(step.String(), "run ")
		if !isRun {
			continue
		}
		if strings.Contains(client, " ") {
			return "", fmt.Errorf("%s: expected \"run NAME\" without flags, found %q", f.workload, step)
		}
		f.config.Setup, f.config.Workload = steps[:i], steps[i+1:]
		return client, nil
	}
	return "", fmt.Errorf("%s: expected a step \"run NAME\", which runs the command", f.workload)
}

// printReport prints the findings. The error is errReported if there is one that is not known, or a
// known one that was not found.
func printReport(c *call, report *perturb.Report) error {
	failed := len(report.Gone) > 0
	for _, f := range report.Findings {
		failed = failed || f.Known == ""
	}
	if _, err := io.WriteString(c.stdout, report.String()); err != nil {
		return err
	}
	for _, name := range report.Gone {
		if _, err := fmt.Fprintf(c.stdout, "the known finding %q was not found\n", name); err != nil {
			return err
		}
	}
	if failed {
		return errReported
	}
	return nil
}
