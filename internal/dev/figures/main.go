// Command figures measures the figures of BENCHMARKS.md and prints them as a table:
//
//	go run ./internal/dev/figures [-run REGEX] [-rounds 3] [-benchtime 300ms] [-kubeconfig FILE]
//
// Every figure is a ratio of two values measured by the same process one after the other, or a
// metric that a benchmark computes from two such values. The benchmarks run in rounds. A figure is
// the median of the rounds and is printed with the minimum and the maximum, and with its goal, if
// any.
//
// With -kubeconfig it prints a second table that compares this server with the one of the
// kubeconfig. "fakeapi bench" measures both in turns. This server runs as a separate process, with
// TLS if the other uses TLS. The load is created in a namespace that is removed at the end.
//
// To add a figure, add a line to figures in table.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// options are the flags.
type options struct {
	run        *regexp.Regexp
	rounds     int
	benchtime  string
	kubeconfig string
}

// readOptions parses the command line.
func readOptions(args []string) (options, error) {
	o := options{run: regexp.MustCompile("")}
	flags := flag.NewFlagSet("figures", flag.ContinueOnError)
	flags.Func("run", "measure only figures whose text or benchmark matches `REGEX`", func(text string) (err error) {
		o.run, err = regexp.Compile(text)
		return err
	})
	flags.IntVar(&o.rounds, "rounds", 3, "measure everything `N` times")
	flags.StringVar(&o.benchtime, "benchtime", "300ms", "let each benchmark take this `TIME`, or Nx for N times")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "measure the server of `FILE` as well, beside this one")
	if err := flags.Parse(args); err != nil {
		return o, err // flags has printed the error and the usage
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, nil
}

func main() {
	o, err := readOptions(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := tables(ctx, o, os.Stdout); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// tables measures and prints the tables.
func tables(ctx context.Context, o options, out io.Writer) error {
	if o.rounds < 1 {
		return errors.New("usage: figures [-run REGEX] [-rounds N] [-benchtime TIME] [-kubeconfig FILE], with one round at least")
	}
	scratch, err := os.MkdirTemp("", "figures-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // the directory is temporary
	var chosen []figure
	for _, f := range figures() {
		if o.run.MatchString(f.what) || o.run.MatchString(f.bench) {
			chosen = append(chosen, f)
		}
	}
	found, err := measure(ctx, o, scratch, chosen)
	if err != nil {
		return err
	}
	if err := printFigures(out, chosen, found); err != nil {
		return err
	}
	if o.kubeconfig == "" {
		return nil
	}
	return printServerRatios(ctx, o, scratch, out)
}
