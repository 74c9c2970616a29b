package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"example.com/fakeapi/internal/cmd/differential"
)

// randomFlags has the flags of compare --random.
type randomFlags struct {
	random   bool
	steps    int
	parallel int
	seed     uint64
	listed   string
}

func (f *randomFlags) define(flags *flag.FlagSet) {
	flags.BoolVar(&f.random, "random", false, "send random requests about custom resources, their definitions, ConfigMaps and Deployments instead of the cases of the suite")
	flags.IntVar(&f.steps, "steps", 1000, "the `NUMBER` of random requests")
	flags.IntVar(&f.parallel, "parallel", 4, "the `NUMBER` of sequences of random requests that run at the same time")
	flags.StringVar(&f.listed, "listed", "", "a `FILE` of differences that are expected: a YAML list of objects with a pattern, which is matched with the first line of a difference, and a reason")
	flags.Uint64Var(&f.seed, "seed", 0, "the `SEED` of random requests; 0 is a new one, which is printed")
}

// check returns an error if flags contradict each other.
func (f *randomFlags) check(c *compareFlags) error {
	_, recorded := c.left.recordings()
	switch {
	case recorded:
		return errors.New("--random requires two servers")
	case c.list || c.dryRun:
		return errors.New("--random and --list or --dry-run are mutually exclusive")
	case f.steps < 1 || f.parallel < 1:
		return errors.New("--steps and --parallel must be at least 1")
	}
	return nil
}

// readListed returns the differences that are expected.
func (f *randomFlags) readListed() ([]differential.ListedDifference, error) {
	all := differential.Listed()
	if f.listed == "" {
		return all, nil
	}
	text, err := os.ReadFile(f.listed)
	if err != nil {
		return nil, fmt.Errorf("--listed %s: %w", f.listed, unwrapPathError(err))
	}
	more, err := differential.ParseListed(text)
	if err != nil {
		return nil, fmt.Errorf("--listed %s: %w", f.listed, err)
	}
	return append(all, more...), nil
}

// compareRandomly sends random requests to two servers and prints the differences.
func (f *compareFlags) compareRandomly(ctx context.Context, c *call) error {
	listed, err := f.random.readListed()
	if err != nil {
		return err
	}
	left, right, err := f.openSides(ctx)
	if err != nil {
		return err
	}
	defer left.close()
	defer right.close()
	if err := f.reports.open(ctx); err != nil {
		return err
	}
	defer f.reports.close()
	seed := f.random.seed
	for seed == 0 {
		seed = rand.Uint64()
	}
	shown := &randomProgress{out: c.stderr, start: time.Now(), total: f.random.steps}
	if f.quiet {
		shown.out = io.Discard
	}
	report, failed := differential.Run(ctx, differential.Config{
		Left:  differential.Side{Name: left.name, BaseURL: left.base, Client: left.client},
		Right: differential.Side{Name: right.name, BaseURL: right.base, Client: right.client},
		Seed:  seed, Steps: f.random.steps, Parallel: f.random.parallel, Prefix: f.namespace,
		Listed: listed, OnFinding: shown.finding, OnProgress: shown.steps,
	})
	if err := f.writeReports(ctx, c, report, failed); err != nil {
		return err
	}
	if len(report.Unlisted()) > 0 {
		return errReported
	}
	return nil
}

// randomProgress prints the number of steps from time to time, and each class of differences.
type randomProgress struct {
	total int
	start time.Time

	mu   sync.Mutex // guards the fields below
	out  io.Writer
	last time.Time
}

func (p *randomProgress) steps(done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) >= progressInterval {
		p.last = time.Now()
		_, _ = fmt.Fprintf(p.out, "%6d/%d steps  %5v\n", done, p.total, time.Since(p.start).Round(time.Second))
	}
}

func (p *randomProgress) finding(signature string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.out, "differs: %s\n", signature)
}
