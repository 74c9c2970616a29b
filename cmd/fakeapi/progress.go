package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"example.com/fakeapi/conformance"
	"example.com/fakeapi/internal/cmd/compare"
)

// progressInterval is the longest time without output.
const progressInterval = 10 * time.Second

// progress prints a line for each group, each failure, and after progressInterval. It does not
// estimate the remaining time, because cases take milliseconds to seconds.
type progress struct {
	total int
	words [2]string // names of bad and other
	start time.Time
	quit  chan struct{}
	ticks sync.WaitGroup

	mu         sync.Mutex // guards the fields below
	out        io.Writer
	last       time.Time // time of the latest line
	groups     []string  // groups with a line
	running    []string  // names of the cases that run, in the order of their start
	done       int
	bad, other int
}

// newProgress returns a progress that prints to out until stop, unless quiet. bad and other name
// two outcomes that are counted.
func newProgress(out io.Writer, total int, quiet bool, bad, other string) *progress {
	if quiet {
		out = io.Discard
	}
	p := &progress{total: total, words: [2]string{bad, other}, start: time.Now(), last: time.Now(), quit: make(chan struct{}), out: out}
	p.ticks.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-tick.C:
				p.printIfQuiet()
			}
		}
	})
	return p
}

// stop ends the output.
func (p *progress) stop() {
	close(p.quit)
	p.ticks.Wait()
}

func (p *progress) startCase(one conformance.Case) { p.startNamed(one.Group(), one.ID) }

// startNamed records the start of a case by its group and name.
func (p *progress) startNamed(group, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, name)
	if slices.Contains(p.groups, group) {
		return
	}
	p.groups = append(p.groups, group)
	if title := conformance.GroupTitle(group); title != "" {
		group += ", " + title
	}
	p.printf("%s", group)
}

func (p *progress) endCase(one conformance.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(one.Case.ID)
	switch one.Outcome {
	case conformance.Skipped:
		p.other++
	case conformance.Failed:
		p.bad++
		p.printf("%s [%s] failed: %s", one.Case.ID, one.Case.Level, one.Case.Title)
	}
}

func (p *progress) endComparison(one compare.Case) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(one.ID)
	switch one.Verdict {
	case compare.Different:
		p.bad++
		p.printf("%s differs: %s", one.ID, one.Title)
	case compare.LeftOnly, compare.RightOnly:
		p.other++
	}
}

// end records the end of a case. The caller holds mu.
func (p *progress) end(name string) {
	p.done++
	p.running = slices.DeleteFunc(p.running, func(one string) bool { return one == name })
}

func (p *progress) printIfQuiet() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) >= progressInterval {
		p.printf("at %s", p.now())
	}
}

// now names the case that has been running for the longest time. The caller holds mu.
func (p *progress) now() string {
	if len(p.running) == 0 {
		return "the end"
	}
	return p.running[0]
}

// onInterrupt prints a line when ctx is canceled. The caller calls end at last, after which nothing
// is printed.
func (p *progress) onInterrupt(ctx context.Context) (end func()) {
	printed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(printed)
		p.interrupted()
	})
	return func() {
		if !stop() {
			<-printed
		}
	}
}

// interrupted prints that the run ends, which may take a while.
func (p *progress) interrupted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printf("interrupted at %s: removing what it created; another signal ends without that", p.now())
}

// printf prints a line with the counts. The caller holds mu.
func (p *progress) printf(format string, args ...any) {
	p.last = time.Now()
	_, _ = fmt.Fprintf(p.out, "%4d/%d  %d %s, %d %s  %5v  %s\n", p.done, p.total, p.bad, p.words[0], p.other, p.words[1],
		time.Since(p.start).Round(time.Second), fmt.Sprintf(format, args...)) // a failed write does not fail the run
}
