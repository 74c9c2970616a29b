// Command figures measures what the README's section Figures says, and prints it as that
// section's table:
//
//	go run ./internal/dev/figures [-run REGEX] [-rounds 3] [-benchtime 300ms] [-kubeconfig FILE]
//
// Every figure is a ratio of two things that were measured by the same process, one after
// the other, or a metric that a benchmark computes of two such things. The benchmarks run
// in rounds; a figure is the median of the rounds, with the least and the greatest beside
// it. Behind it stands the goal, if there is one, and whether the median meets it.
//
// With -kubeconfig a second table has this server beside that one: "fakeapi bench" measures
// both in turns, in the same way, this one as a process of its own, with TLS if the other
// has it. It is load, in a namespace that is removed in the end.
//
// A new figure is a line in figures, in table.go.
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

// readOptions reads the command line.
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
		return o, err // flags has printed it, with the usage
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
	defer func() { _ = os.RemoveAll(scratch) }() // what is left is temporary
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
