package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"text/tabwriter"
	"time"

	"example.com/fakeapi/conformance"
)

// suiteFlags has the flags of the conformance suite.
type suiteFlags struct {
	namespace           string
	run, skip           *regexp.Regexp
	level               conformance.Level
	timeout, patience   time.Duration
	list, dryRun, quiet bool
}

func (f *suiteFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.namespace, "namespace", "conformance", "`PREFIX` of the names of all created namespaces")
	flags.Func("run", "run the cases whose ID matches `REGEX`, such as ^(LS|CH)-; the default is all", patternFlag(&f.run))
	flags.Func("skip", "skip the cases whose ID matches `REGEX`", patternFlag(&f.skip))
	flags.Func("level", "run the cases of this `LEVEL` and above: MUST, SHOULD or MAY, which is the default", f.setLevel)
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "the `TIME` limit of a case, without cleaning up")
	flags.DurationVar(&f.patience, "patience", 0, "also run cases that wait up to this `TIME` for timeouts of the server; 5m is enough for all, 0 skips them")
	flags.BoolVar(&f.list, "list", false, "print ID, level, title and source of the cases, and exit")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the cases, and the namespaces and cluster-scoped objects that each would create, and exit; only the version of the server is requested")
	flags.BoolVar(&f.quiet, "q", false, "print no progress to stderr")
}

// patternFlag parses a regular expression.
func patternFlag(into **regexp.Regexp) func(string) error {
	return func(text string) (err error) {
		*into, err = regexp.Compile(text)
		return err
	}
}

func (f *suiteFlags) setLevel(name string) error {
	for _, level := range []conformance.Level{conformance.Must, conformance.Should, conformance.May} {
		if level.String() == name {
			f.level = level
			return nil
		}
	}
	return errors.New("not one of MUST, SHOULD, MAY")
}

// config returns the configuration of the suite without the server.
func (f *suiteFlags) config() conformance.Config {
	config := conformance.Config{
		NamespacePrefix: f.namespace, Run: f.run, MinLevel: f.level, Timeout: f.timeout, Patience: f.patience, Skip: map[string]string{},
	}
	if f.skip == nil {
		return config
	}
	for _, one := range config.SelectedCases() {
		if f.skip.MatchString(one.ID) {
			config.Skip[one.ID] = "--skip " + f.skip.String()
		}
	}
	return config
}

// listCases prints a line for each case.
func listCases(out io.Writer, cases []conformance.Case) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "CASE\tLEVEL\tRULE\tTITLE\tSOURCE") // Flush has the error
	for _, one := range cases {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", one.ID, one.Level, one.Rule(), one.Title, one.Source)
	}
	return w.Flush()
}
