package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/internal/cmd/load"
)

// The goal for the ratios of a real server's processor time to this server's, for each request of a
// resource, and of this server's rate to a real server's, with all clients.
const (
	serverGoal = 10
	allClients = 16
)

// printServerRatios measures this server and the server of the kubeconfig in turns, and prints the
// ratios of their figures.
func printServerRatios(ctx context.Context, o options, scratch string, out io.Writer) (err error) {
	binary := filepath.Join(scratch, "fakeapi")
	if _, err := output(ctx, ".", "go", "build", "-o", binary, "./cmd/fakeapi"); err != nil {
		return err
	}
	there, err := bench(ctx, binary, o.kubeconfig, true)
	if err != nil {
		return err
	}
	own, stop, err := startServer(ctx, binary, scratch, strings.HasPrefix(there.Server, "https:"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := bench(ctx, binary, own, true); err != nil { // warms up both servers
		return err
	}
	var ours, theirs []*load.Report
	for range o.rounds {
		for _, one := range []struct {
			kubeconfig string
			into       *[]*load.Report
		}{{own, &ours}, {o.kubeconfig, &theirs}} {
			report, err := bench(ctx, binary, one.kubeconfig, false)
			if err != nil {
				return err
			}
			*one.into = append(*one.into, report)
		}
	}
	return printRatios(out, ours, theirs)
}

// startServer starts this server as a process and returns its kubeconfig. stop ends it.
func startServer(ctx context.Context, binary, scratch string, secure bool) (kubeconfig string, stop func() error, err error) {
	kubeconfig = filepath.Join(scratch, "kubeconfig")
	command := exec.CommandContext(ctx, binary, "serve", "--kubeconfig", kubeconfig, fmt.Sprintf("--tls=%t", secure))
	if err := command.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	stop = func() error { return errors.Join(command.Process.Signal(os.Interrupt), <-ended) }
	for {
		if _, err := os.Stat(kubeconfig); err == nil { // the file is written when the server is ready
			return kubeconfig, stop, nil
		}
		select {
		case err := <-ended:
			return "", nil, fmt.Errorf("fakeapi serve ended: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// bench runs "fakeapi bench". brief shortens a run whose figures are not used.
func bench(ctx context.Context, binary, kubeconfig string, brief bool) (*load.Report, error) {
	args := []string{"bench", "--json", "-q", "--kubeconfig", kubeconfig, "--clients", fmt.Sprint(allClients), "--resources", strings.Join(load.Resources(), ",")}
	if brief {
		args = append(args, "--objects", fmt.Sprint(allClients), "--duration", "100ms", "--watchers", "1")
	}
	fmt.Fprintln(os.Stderr, "fakeapi", strings.Join(args, " "))
	text, err := output(ctx, ".", binary, args...)
	if err != nil {
		return nil, err
	}
	report := &load.Report{}
	return report, json.Unmarshal(text, report)
}

// printRatios prints the ratios of this server's rates, latencies and processor times to the
// other's.
func printRatios(out io.Writer, ours, theirs []*load.Report) error {
	if _, err := fmt.Fprintf(out, "\nBeside Kubernetes %s, by `fakeapi bench`. The processor time is the server's for one request:\n\n"+
		"| what | clients | processor time here | there | processor time, times less | goal | rate, times | median latency, of its |\n|---|---|---|---|---|---|---|---|\n",
		theirs[0].Version); err != nil {
		return err
	}
	for i, f := range ours[0].Figures {
		var times, here, there, rates, latencies []float64
		for round := range ours {
			if len(theirs[round].Figures) <= i || theirs[round].Figures[i].Name != f.Name {
				return fmt.Errorf("%q was measured of one server only", f.Name)
			}
			a, b := ours[round].Figures[i], theirs[round].Figures[i]
			here, there = append(here, a.ProcessorTime), append(there, b.ProcessorTime)
			times = append(times, b.ProcessorTime/a.ProcessorTime)
			rates = append(rates, a.PerSecond/b.PerSecond)
			latencies = append(latencies, a.P50/b.P50)
		}
		for _, values := range [][]float64{times, here, there, rates, latencies} {
			slices.Sort(values)
		}
		if _, err := fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", f.Name, f.Clients, microseconds(here), microseconds(there),
			spread(times), goalOf(f).verdict(median(times)), spread(rates), spread(latencies)); err != nil {
			return err
		}
	}
	return nil
}

// microseconds returns the median of processor times, "" if it is not known.
func microseconds(sorted []float64) string {
	if median(sorted) == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f µs", median(sorted))
}

// goalOf returns the goal for the processor time of a figure: those of resources have one.
func goalOf(f load.Figure) figure {
	if f.Resource == "" {
		return figure{}
	}
	return figure{goal: serverGoal, atLeast: true}
}
