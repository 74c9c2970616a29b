package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// sample is the output of one round of benchmarks: values by benchmark name and unit.
type sample map[string]map[string]float64

// samples are the rounds by suite and pattern.
type samples map[[2]string][]sample

// measure runs the benchmarks of the chosen figures, each pattern once per round.
func measure(ctx context.Context, o options, scratch string, chosen []figure) (samples, error) {
	binaries := map[string]string{}
	found := samples{}
	for round := range o.rounds {
		for _, f := range chosen {
			key := [2]string{f.suite, f.bench}
			if len(found[key]) > round {
				continue // already run for another figure
			}
			if binaries[f.suite] == "" {
				binary, err := build(ctx, scratch, f.suite)
				if err != nil {
					return nil, err
				}
				binaries[f.suite] = binary
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %s %s\n", round+1, o.rounds, f.suite, f.bench)
			text, err := output(ctx, f.suite, binaries[f.suite], "-test.run=^$", "-test.bench="+f.bench, "-test.benchtime="+o.benchtime, "-test.benchmem", "-test.timeout=10m")
			if err != nil {
				return nil, err
			}
			found[key] = append(found[key], parse(text, runtime.GOMAXPROCS(0)))
		}
	}
	return found, nil
}

// build compiles the tests of a suite once, so that the rounds do not compile.
func build(ctx context.Context, scratch, suite string) (string, error) {
	fmt.Fprintf(os.Stderr, "building the tests of %s\n", suite)
	binary := filepath.Join(scratch, strings.ReplaceAll(suite, "/", "-")+".test")
	_, err := output(ctx, suite, "go", "test", "-c", "-o", binary, ".")
	return binary, err
}

// output runs a command in a directory and returns its output.
func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	text, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s %s in %s: %w\n%s", name, strings.Join(args, " "), dir, err, bytes.TrimSpace(text))
	}
	return text, nil
}

var benchLine = regexp.MustCompile(`^Benchmark(\S+)\s+\d+\s+(.*)$`)

// parse parses the output of benchmarks. Names have the number of processors as a suffix, unless it
// is 1.
func parse(text []byte, processors int) sample {
	all := sample{}
	for line := range strings.Lines(string(text)) {
		m := benchLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		name := m[1]
		if processors > 1 {
			name = strings.TrimSuffix(name, "-"+strconv.Itoa(processors))
		}
		metrics := map[string]float64{}
		words := strings.Fields(m[2])
		for i := 0; i+1 < len(words); i += 2 {
			if value, err := strconv.ParseFloat(words[i], 64); err == nil {
				metrics[words[i+1]] = value
			}
		}
		all[name] = metrics
	}
	return all
}

// metric returns the value of a unit. Some units are scaled values of a printed one.
func (s sample) metric(name, unit string) (float64, error) {
	printed, per := unit, 1.0
	switch unit {
	case "allocs/item":
		printed, per = "allocs/op", 10_000
	case "B/object/KiB":
		printed, per = "B/object", 1024
	}
	value, ok := s[name][printed]
	if !ok {
		return 0, fmt.Errorf("benchmark %s did not print %s", name, printed)
	}
	return value / per, nil
}

// ratios returns the figure of each round, sorted.
func (f figure) ratios(rounds []sample) ([]float64, error) {
	var all []float64
	for _, s := range rounds {
		ratio, err := s.metric(f.top, f.unit)
		if err != nil {
			return nil, err
		}
		if f.bottom != "" {
			bottom, err := s.metric(f.bottom, f.unit)
			if err != nil {
				return nil, err
			}
			ratio /= bottom
		}
		all = append(all, ratio)
	}
	slices.Sort(all)
	return all, nil
}
