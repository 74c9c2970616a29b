package perturb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/fakeapi/scenario"
)

// Run perturbs the controllers of config, and fails the test for each finding that is not in
// config.Known, and for each one in config.Known that is not found. It must not be called in a
// testing/synctest bubble. A test binary that runs client-go in bubbles needs a line in TestMain,
// which is in the documentation of package scenario.
func Run(t *testing.T, config Config) *Report {
	t.Helper()
	report, err := Search(config)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Logf("%s", report.Summary())
	for _, f := range report.Findings {
		if f.Known == "" {
			t.Errorf("%s", f)
		}
	}
	for _, name := range report.Gone {
		t.Errorf("perturb: the known finding %q was not found; remove it from Config.Known", name)
	}
	return report
}

// Search is [Run] without a test. It returns an error if the undisturbed workload fails, is never
// quiet, or has different results in each run.
func Search(config Config) (*Report, error) { return SearchContext(context.Background(), config) }

// SearchContext is [Search] with a context. When it ends, SearchContext returns its error. A run in
// virtual time is not interrupted.
func SearchContext(ctx context.Context, config Config) (*Report, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	r, err := newReference(ctx, &config)
	if err != nil {
		return nil, err
	}
	s := &search{ctx: ctx, config: &config, r: r, groups: map[string]*group{}, quiet: map[string]normalState{}}
	if s.state, err = loadProgress(config.Resume); err != nil {
		return nil, err
	}
	report, err := s.run()
	if err := cmp.Or(err, s.state.close()); err != nil {
		return nil, err
	}
	return report, s.state.remove()
}

// search is the state of a call of Search.
type search struct {
	ctx    context.Context
	config *Config
	r      *reference
	state  *progressFile

	mu sync.Mutex // guards all below
	// quiet has the final states of the quiet forms of perturbations by id, nil for one without.
	quiet        map[string]normalState
	groups       map[string]*group
	done         int
	kinds        map[string]int // the runs of each kind
	missed       int
	inconclusive []string
	lastLine     time.Time
	err          error
}

// group has the violations with one name.
type group struct {
	violation
	p   perturbation // nil for the reference
	got *result
	// isReproduced is true if its file was run and reproduces it. It is set with Config.FindOne.
	isReproduced bool
	// others are the other perturbations that show the same.
	others []string
}

func (s *search) run() (*Report, error) {
	if s.r.expect != nil {
		j := &judgment{r: s.r, got: s.r.result}
		for _, v := range j.expectations() {
			s.groups[v.name()] = &group{violation: v, got: s.r.result}
		}
	}
	all := plan(s.r)
	report := &Report{Perturbations: len(all), Kinds: map[string]int{}}
	if s.config.Budget > 0 && len(all) > s.config.Budget {
		all = all[:s.config.Budget]
	}
	for _, p := range s.state.interrupted(all) {
		s.add(p, nil, violation{oracle: "panic", subject: "process", kind: p.kind(), text: "expected the process to go on; saw it end during the run"})
	}
	s.kinds = report.Kinds
	inParallel(s.config.Parallel, len(all), func(i int) { s.perturb(all[i], len(all)) })
	if err := cmp.Or(s.ctx.Err(), s.err); err != nil {
		return nil, err
	}
	report.Runs, report.Missed, report.Inconclusive = s.done, s.missed, s.inconclusive
	return report, s.report(report)
}

// perturb runs a perturbation, and again if an oracle has found something.
func (s *search) perturb(p perturbation, total int) {
	if s.isEnough() {
		return
	}
	if s.state.isDone(id(p)) {
		s.note(p, nil, total)
		return
	}
	s.fail(s.state.begin(id(p)))
	got := s.play(p)
	var confirmed []violation
	if s.isConclusive(p, got) {
		confirmed = s.confirm(p, got)
	}
	s.note(p, got, total)
	s.fail(s.state.end(id(p), confirmed))
}

// maxRuns is the number of runs of a perturbation that has violations, if each run shows others.
const maxRuns = 3

// confirm adds the violations that two runs show, and returns them. The first run has the result
// got. A third one follows if the second has violations, but none of the first: a program in real
// time that was slow once has other violations then.
func (s *search) confirm(p perturbation, got *result) []violation {
	type sighting struct {
		violation
		got *result
	}
	var confirmed []violation
	var seen []sighting // those of the runs before
	for run := 1; ; run++ {
		found := judge(s.r, p, got)
		for _, earlier := range seen {
			if slices.ContainsFunc(found, func(v violation) bool { return v.name() == earlier.name() }) {
				confirmed = append(confirmed, earlier.violation)
				s.add(p, earlier.got, earlier.violation)
			}
		}
		if len(found) == 0 || len(confirmed) > 0 || run == maxRuns {
			return confirmed
		}
		for _, v := range found {
			seen = append(seen, sighting{v, got})
		}
		got = s.play(p)
	}
}

// isEnough reports whether the search ends early.
func (s *search) isEnough() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.ctx.Err() != nil {
		return true
	}
	if s.config.FindOne {
		for _, g := range s.groups {
			if g.isReproduced || g.p == nil || len(g.expect) == 0 {
				return true
			}
		}
	}
	return false
}

func (s *search) play(p perturbation) *result {
	isViolated := func(got *result) bool {
		j := &judgment{r: s.r, p: p, tolerance: p.tolerance(), got: got}
		return len(j.deletions())+len(j.creations()) > 0
	}
	return play{
		config: s.config, normalizer: s.r.normalizer, seed: s.config.Seed, perturbed: p, reference: s.r,
		targets: s.targets(p), isViolated: isViolated,
	}.run(s.ctx)
}

// targets returns the final states that are correct for a perturbation: that of the reference, and
// those of its quiet forms.
func (s *search) targets(p perturbation) []normalState {
	t := p.tolerance()
	var all []normalState
	if !t.lasting {
		all = append(all, s.r.final)
	}
	for _, quiet := range t.quiet {
		got, known := s.quietResult(quiet)
		if !known {
			return nil
		}
		all = append(all, got)
	}
	if t.foreign && len(t.quiet) == 0 {
		return nil
	}
	return all
}

// quietResult returns the final state of the quiet form of a perturbation, and whether it has one.
func (s *search) quietResult(p perturbation) (normalState, bool) {
	s.mu.Lock()
	state, ok := s.quiet[id(p)]
	s.mu.Unlock()
	if ok {
		return state, state != nil
	}
	got := play{config: s.config, normalizer: s.r.normalizer, seed: s.config.Seed, perturbed: p, reference: s.r}.run(s.ctx)
	if got.err == nil && got.quiet {
		state = got.final
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet[id(p)] = state
	return state, state != nil
}

// fail records an error of the search.
func (s *search) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.Join(s.err, err)
}

// isConclusive reports whether a run has come to its end. A step of the workload may fail because
// of the perturbation, and a step of the perturbation because the run has gone another way.
func (s *search) isConclusive(p perturbation, got *result) bool {
	if got.err == nil {
		return true
	}
	if client, _ := got.burst(); client != "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reason := got.err.Error()
	if failure := (*scenario.Failure)(nil); errors.As(got.err, &failure) {
		reason = failure.Brief()
	}
	s.inconclusive = append(s.inconclusive, id(p)+": "+reason)
	return len(got.panics) > 0
}

// add adds a violation. With Config.FindOne it finds out whether a file reproduces it.
func (s *search) add(p perturbation, got *result, v violation) {
	added := &group{violation: v, p: p, got: got}
	if s.config.FindOne && len(v.expect) > 0 {
		added.isReproduced = s.reproduces(added, s.newScript(p, v.expect))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[v.name()]
	switch {
	case g == nil:
		s.groups[v.name()] = added
		if s.config.Progress != nil {
			fmt.Fprintf(s.config.Progress, "perturb: found %s: %s\n", v.name(), id(p))
		}
	case g.p != nil && g.isWorse(added):
		added.others = append(g.others, id(g.p))
		s.groups[v.name()] = added
	default:
		g.others = append(g.others, id(p))
	}
}

// isWorse reports whether another group is the better example: it is reproduced, has a file, or is
// smaller.
func (g *group) isWorse(other *group) bool {
	if g.isReproduced != other.isReproduced {
		return other.isReproduced
	}
	if hasFile := len(other.expect) > 0; hasFile != (len(g.expect) > 0) {
		return hasFile
	}
	return isSmaller(other.p, g.p)
}

// isSmaller reports whether a is the better example: it has fewer steps, or comes first in a fixed
// order.
func isSmaller(a, b perturbation) bool {
	return cmp.Or(cmp.Compare(stepCount(a), stepCount(b)), cmp.Compare(a.cost(), b.cost()), cmp.Compare(id(a), id(b))) < 0
}

func stepCount(p perturbation) int {
	a := p.additions()
	n := len(a.before)
	for _, steps := range a.at {
		n += len(steps)
	}
	return n
}

// note counts a run and prints the progress.
func (s *search) note(p perturbation, got *result, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.kinds[p.kind()]++
	if got != nil && len(got.missed) > 0 {
		s.missed++
	}
	if s.config.Progress != nil && (time.Since(s.lastLine) >= time.Second || s.done == total) {
		s.lastLine = time.Now()
		fmt.Fprintf(s.config.Progress, "perturb: %d of %d runs, %d findings\n", s.done, total, len(s.groups))
	}
}

// report completes a report with the findings.
func (s *search) report(report *Report) error {
	used := map[string]bool{} // names of files
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		f := s.finding(s.groups[name])
		f.Known = s.config.Known[name]
		report.Findings = append(report.Findings, f)
		if err := f.write(s.config.Dir, used); err != nil {
			return err
		}
	}
	for name := range s.config.Known {
		if s.groups[name] == nil {
			report.Gone = append(report.Gone, name)
		}
	}
	slices.Sort(report.Gone)
	return nil
}
