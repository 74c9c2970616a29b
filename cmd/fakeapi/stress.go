package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/fakeapi/internal/cmd/stress"
	"example.com/fakeapi/internal/printable"
)

const stressArguments = "[--only NAME,... | --all] [--seed N] [--user-agent PREFIX] [--artifacts FOLDER] [--report FORMAT[=FILE]]... [-q] -- COMMAND [ARGUMENT]...\n" +
	"--list [--seed N] [--user-agent PREFIX]"

// stressFlags has the flags of stress.
type stressFlags struct {
	only      []string
	all       bool
	list      bool
	options   stress.Options
	artifacts string // "" for a temporary folder
	reports   reportFiles[stress.Report]
	quiet     bool
}

func (f *stressFlags) define(flags *flag.FlagSet) {
	f.reports.forms = []reportForm[stress.Report]{
		{"text", stress.Report.WriteText},
		{"json", stress.Report.WriteJSON},
	}
	flags.Func("only", "run only the sets of faults `NAME,...`; can be repeated", func(text string) error {
		f.only = append(f.only, strings.Split(text, ",")...)
		return nil
	})
	flags.BoolVar(&f.all, "all", false, "also run the sets that fail requests of the tests themselves, which must repeat them")
	flags.BoolVar(&f.list, "list", false, "print the sets with their rules, and run nothing")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "seed `N` of the random conditions of rules, and of uids and generated names")
	flags.StringVar(&f.options.UserAgent, "user-agent", "", "the user agents of the controllers under test begin with `PREFIX`: their writes of all objects may fail, also in sets that otherwise fail only few writes")
	flags.StringVar(&f.artifacts, "artifacts", "", "write the rules, the output and the timeline pages of each set to a folder in `FOLDER`; without it, to a temporary one, which is kept if there is a failure")
	flags.Func("report", "write the result as `FORMAT[=FILE]`: text (the default, to stdout) or json; can be repeated", f.reports.add)
	flags.BoolVar(&f.quiet, "q", false, "print no progress on stderr")
}

// stressCommand runs a command once for each set of faults.
func stressCommand(ctx context.Context, c *call) error {
	var f stressFlags
	args, err := c.parseStress(&f)
	if err != nil {
		return err
	}
	if len(f.only) > 0 && f.all {
		return c.usageError(errors.New("--only and --all cannot be combined"))
	}
	sets, err := stress.Select(stress.Sets(f.options), f.only, f.all || f.list)
	if err != nil {
		return c.usageError(fmt.Errorf("--only: %w", err))
	}
	for _, s := range sets {
		if err := s.Validate(); err != nil {
			return c.usageError(fmt.Errorf("--user-agent: %w", err))
		}
	}
	if f.list {
		return writeSets(c.stdout, sets)
	}
	if len(f.reports.files) == 0 {
		if err := f.reports.add("text"); err != nil {
			return err
		}
	}
	if err := f.reports.open(ctx); err != nil {
		return ignoreInterruption(err)
	}
	defer f.reports.close()
	return f.run(ctx, c, sets, args)
}

// parseStress parses the flags. The arguments are empty with --list.
func (c *call) parseStress(f *stressFlags) ([]string, error) {
	args, err := c.parseCommand(f.define)
	if f.list && err != nil && !errors.Is(err, flag.ErrHelp) {
		*f = stressFlags{}
		return nil, c.parse(f.define)
	}
	if err == nil && f.list {
		err = c.usageError(errors.New("--list takes no COMMAND"))
	}
	return args, err
}

// run runs the command for each set, and writes the reports. The error is errReported if a run with
// faults has failed, or the one without.
func (f *stressFlags) run(ctx context.Context, c *call, sets []stress.Set, args []string) error {
	r, err := f.newRunner(c, args)
	if err != nil {
		return err
	}
	report := stress.Report{Command: args, Seed: f.options.Seed}
	for _, set := range append([]stress.Set{{Name: stress.None}}, sets...) {
		if len(report.Runs) > 0 && !report.CanContinue() {
			f.progress(c, "nothing passes without faults")
			break
		}
		run, err := r.run(ctx, set)
		if err != nil {
			return errors.Join(err, r.close(report))
		}
		report.Runs = append(report.Runs, run)
		if ctx.Err() != nil {
			return errors.Join(errors.New("interrupted: the runs are not complete"), r.close(report))
		}
	}
	err = errors.Join(f.reports.write(report, c.stdout), r.close(report))
	if err == nil && (len(report.Failures()) > 0 || len(report.FailsWithoutFaults()) > 0) {
		err = errReported
	}
	return err
}

// progress prints a line, unless -q is set.
func (f *stressFlags) progress(c *call, format string, args ...any) {
	if !f.quiet {
		_, _ = fmt.Fprintf(c.stderr, format+"\n", args...) // progress is not needed
	}
}

// stressRunner runs the command with sets of faults.
type stressRunner struct {
	*stressFlags
	call      *call
	args      []string
	isGoTest  bool
	command   []string // args, with the flag of stress.LinkOnce
	links     string   // the temporary folder of linked tests; "" if there is none
	assets    string   // the value of KUBEBUILDER_ASSETS; "" where the assets are not supported
	folder    string
	temporary bool
}

func (f *stressFlags) newRunner(c *call, args []string) (*stressRunner, error) {
	r := &stressRunner{stressFlags: f, call: c, folder: f.artifacts}
	r.args, r.isGoTest = stress.IsGoTest(args)
	if assetsSupported {
		executable, err := currentExecutable()
		if err != nil {
			return nil, err
		}
		if r.assets, err = assetsFolder(executable, nil); err != nil {
			return nil, err
		}
		if err := makeAssets(r.assets, executable); err != nil {
			return nil, err
		}
	}
	var err error
	if r.temporary = r.folder == ""; r.temporary {
		r.folder, err = os.MkdirTemp("", "fakeapi-stress-")
	} else {
		r.folder, err = filepath.Abs(r.folder)
	}
	r.command = r.args
	if err == nil && r.isGoTest && assetsSupported {
		if r.links, err = os.MkdirTemp("", "fakeapi-stress-links-"); err == nil {
			r.command, err = stress.LinkOnce(r.args, r.links)
		}
	}
	return r, err
}

// close removes the temporary folders, but not the one to which a failure refers.
func (r *stressRunner) close(report stress.Report) error {
	if err := os.RemoveAll(r.links); err != nil {
		return err
	}
	if r.temporary && len(report.Failures()) == 0 && len(report.FailsWithoutFaults()) == 0 {
		return os.RemoveAll(r.folder)
	}
	return nil
}

// run runs the command with a set of faults.
func (r *stressRunner) run(ctx context.Context, set stress.Set) (stress.Run, error) {
	folder := filepath.Join(r.folder, set.Name)
	variables, err := r.environment(folder, set)
	if err != nil {
		return stress.Run{}, err
	}
	r.progress(r.call, "=== %s", set.Name)
	started := time.Now()
	packages, err := r.runCommand(ctx, variables)
	if err != nil {
		return stress.Run{}, err
	}
	run := stress.Run{Set: set.Name, Rules: set.Rules, Duration: time.Since(started), Packages: packages}
	for _, name := range stressVariables() {
		if value := variables[name]; value != "" {
			run.Environment = append(run.Environment, name+"="+printable.ShellWord(value))
		}
	}
	if run.Pages, err = filepath.Glob(filepath.Join(globEscape(folder), "*.html")); err != nil {
		return stress.Run{}, err
	}
	good := 0
	for _, p := range packages {
		if p.Output == "" {
			good++
		}
	}
	r.progress(r.call, "    %d of %d ok in %v", good, len(packages), run.Duration.Round(time.Second))
	return run, nil
}

// stressVariables returns the names of the environment variables of a run.
func stressVariables() []string {
	return []string{"KUBEBUILDER_ASSETS", "FAKEAPI_FAULTS", "FAKEAPI_SEED", "FAKEAPI_WATCH_CACHE_DELAY", "FAKEAPI_ARTIFACTS"}
}

// environment returns the variables of a run. It makes the folder of the run with a file of the
// rules.
func (r *stressRunner) environment(folder string, set stress.Set) (map[string]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	variables := map[string]string{
		"FAKEAPI_FAULTS": "", "FAKEAPI_WATCH_CACHE_DELAY": "", "FAKEAPI_SEED": fmt.Sprint(r.options.Seed), "FAKEAPI_ARTIFACTS": folder,
	}
	if r.assets != "" {
		variables["KUBEBUILDER_ASSETS"] = r.assets
	}
	if set.WatchCacheDelay > 0 {
		variables["FAKEAPI_WATCH_CACHE_DELAY"] = set.WatchCacheDelay.String()
	}
	if set.Rules == "" {
		return variables, nil
	}
	variables["FAKEAPI_FAULTS"] = filepath.Join(folder, "rules")
	text := "# fakeapi stress: " + set.Name + ": " + set.Summary + "\n" + set.Rules + "\n"
	return variables, os.WriteFile(variables["FAKEAPI_FAULTS"], []byte(text), 0o644)
}

// runCommand runs the command and returns its packages, or one for a command that is not go test.
func (r *stressRunner) runCommand(ctx context.Context, variables map[string]string) ([]stress.Package, error) {
	read, write := io.Pipe()
	command := r.call.subprocess(r.command, variables)
	command.Stdout = write
	type parsed struct {
		packages []stress.Package
		output   []byte
		err      error
	}
	done := make(chan parsed, 1)
	go func() {
		var p parsed
		if r.isGoTest {
			p.packages, p.err = stress.ParseGoTest(read, r.call.rawErr)
		} else {
			p.output, p.err = stress.ReadEnd(io.TeeReader(read, r.call.rawErr))
		}
		_, _ = io.Copy(io.Discard, read) // after an error
		done <- p
	}()
	status, err := command.Run(ctx)
	_ = write.Close()
	p := <-done
	switch {
	case err != nil:
		return nil, errExit{status, err}
	case p.err != nil:
		return nil, p.err
	case r.isGoTest && (status == 0 || len(p.packages) > 0):
		return p.packages, nil
	}
	result := stress.Package{Name: strings.Join(r.args, " "), Status: stress.OK}
	if status != 0 {
		result.Status, result.Output = stress.Failed, fmt.Sprintf("%sexit status %d\n", p.output, status)
	}
	return []stress.Package{result}, nil
}

// globEscape escapes a path for filepath.Glob.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// writeSets prints sets with their rules.
func writeSets(w io.Writer, sets []stress.Set) error {
	var b strings.Builder
	for i, s := range sets {
		if i > 0 {
			b.WriteByte('\n')
		}
		only := ""
		if s.NeedsRetries {
			only = " (--all)"
		}
		fmt.Fprintf(&b, "%s%s: %s\n", s.Name, only, s.Summary)
		if s.WatchCacheDelay > 0 {
			fmt.Fprintf(&b, "    FAKEAPI_WATCH_CACHE_DELAY=%v\n", s.WatchCacheDelay)
		}
		if s.Rules != "" {
			fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(s.Rules, "\n", "\n    "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
