package perturb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/scenario"
)

// violation is what an oracle has found in one run.
type violation struct {
	// oracle is the name of the oracle, and subject what it is about: objects or a controller.
	oracle, subject string
	// text says what was expected and seen.
	text string
	// expect are the steps that fail because of it, at the end of the workload. There are none if
	// no step can express it.
	expect []scenario.Step
	// kind is the kind of the perturbation, or "" without one.
	kind string
}

// name identifies a finding: "deleted configmaps default/a (crash)".
func (v violation) name() string {
	return fmt.Sprintf("%s %s (%s)", v.oracle, v.subject, cmp.Or(v.kind, "undisturbed"))
}

// judgment is what the oracles see.
type judgment struct {
	r         *reference
	p         perturbation
	tolerance tolerance
	got       *result
}

// oracles returns all oracles.
func oracles() []func(*judgment) []violation {
	return []func(*judgment) []violation{
		(*judgment).panics, (*judgment).errors, (*judgment).bursts, (*judgment).loops, (*judgment).deletions, (*judgment).creations,
		(*judgment).leaders, (*judgment).state, (*judgment).answers, (*judgment).invariants, (*judgment).expectations,
	}
}

// judge returns the violations of a run.
func judge(r *reference, p perturbation, got *result) []violation {
	j := &judgment{r: r, p: p, tolerance: p.tolerance(), got: got}
	var all []violation
	for _, oracle := range oracles() {
		for _, v := range oracle(j) {
			// One wrong object has one violation: that of the first oracle.
			if !slices.ContainsFunc(all, func(w violation) bool { return w.subject == v.subject }) {
				v.kind = p.kind()
				all = append(all, v)
			}
		}
	}
	return all
}

// total returns the time from the last step of the workload to the end of the run, rounded up.
func (j *judgment) total() time.Duration {
	if len(j.got.phases) == 0 || j.got.end.IsZero() {
		return time.Minute
	}
	d := j.got.end.Sub(j.got.phases[len(j.got.phases)-1])
	return max(d.Round(time.Second), time.Second)
}

// subjects joins the keys of objects.
func subjects(keys []objectKey) string {
	const most = 3
	var all []string
	for i, key := range keys {
		if i == most {
			all = append(all, "and others")
			break
		}
		all = append(all, key.String())
	}
	return strings.Join(all, ", ")
}

// panics finds controllers that panic.
func (j *judgment) panics() []violation {
	if len(j.got.panics) == 0 {
		return nil
	}
	client, text, _ := strings.Cut(j.got.panics[0], ": ")
	return []violation{{oracle: "panic", subject: client, text: "expected no panic; saw " + text,
		expect: []scenario.Step{scenario.Advance(j.total())}}}
}

// errors finds controllers that end with errors again and again.
func (j *judgment) errors() []violation {
	const most = 5
	counts, last := map[string]int{}, map[string]string{}
	for _, exit := range j.got.exits {
		client, text, _ := strings.Cut(exit, ": ")
		counts[client]++
		last[client] = text
	}
	for _, exit := range j.r.exits {
		client, _, _ := strings.Cut(exit, ": ")
		counts[client]--
	}
	for _, client := range j.r.config.controllerNames() {
		if counts[client] >= most {
			return []violation{{oracle: "errors", subject: client,
				text: fmt.Sprintf("expected a controller that works after a restart; saw it end %d times, the last time with %s", counts[client], last[client])}}
		}
	}
	return nil
}

// state finds final states that are not that of the reference.
func (j *judgment) state() []violation {
	if j.got.equal || j.got.end.IsZero() || j.got.err != nil {
		return nil
	}
	if j.isLate() {
		return nil
	}
	want := j.got.targets[0]
	var keys []objectKey
	for _, key := range sortedKeys(want, j.got.final) {
		if !slices.Equal(want[key], j.got.final[key]) {
			keys = append(keys, key)
		}
	}
	v := violation{oracle: "state", subject: subjects(keys), text: "the final state is another one:\n" + diffStates(want, j.got.final, "the reference", "this run")}
	for _, key := range keys {
		if j.isDetermined(key) {
			v.expect = append(v.expect, j.expectState(key, want[key], j.got.final[key])...)
		}
	}
	return []violation{v}
}

// isDetermined reports whether an object is the same in all final states that are correct.
func (j *judgment) isDetermined(key objectKey) bool {
	for _, other := range j.got.targets {
		if !slices.Equal(other[key], j.got.targets[0][key]) {
			return false
		}
	}
	return true
}

// isLate reports whether an object still existed when the workload created the next one of its
// name, so that the workload has done something else than in the reference.
func (j *judgment) isLate() bool {
	mine := j.got.instances()
	for n, i := range j.r.lifetimes {
		if i.created == nil || !j.r.byStep[n] {
			continue
		}
		earlier := 0
		for _, other := range j.r.lifetimes[:n] {
			if other.key == i.key {
				earlier++
			}
		}
		for _, other := range mine {
			if other.key != i.key {
				continue
			}
			if earlier--; earlier < 0 {
				break
			}
			if other.deleted == nil || other.deleted.phase >= i.created.phase {
				return true
			}
		}
	}
	return false
}

// expectState returns steps that expect objects as in the reference.
func (j *judgment) expectState(key objectKey, want, saw []string) (steps []scenario.Step) {
	ref := scenario.Ref{Kind: key.resource, Name: key.name, Namespace: key.namespace}
	wait := func(s scenario.Step) scenario.Step { return scenario.Eventually(j.r.config.Recovery, s) }
	if strings.HasSuffix(key.name, "*") {
		if len(saw) > len(want) {
			return []scenario.Step{scenario.Advance(j.total()), scenario.ExpectChanges("ADDED", ref, scenario.AtMost(j.r.created[key]))}
		}
		return nil
	}
	switch {
	case len(saw) == 0:
		return []scenario.Step{wait(scenario.Expect(ref))}
	case len(want) == 0:
		return []scenario.Step{wait(scenario.ExpectAbsent(ref))}
	}
	for _, d := range diffTexts(want[0], saw[0]) {
		f, ok := fieldOf(d.path, d.want)
		if ok && d.path.String() != "metadata.finalizers" { // their order does not matter
			steps = append(steps, wait(scenario.Expect(ref, f)))
		} else if f, ok = fieldOf(d.path, d.saw); ok {
			steps = append(steps, wait(scenario.ExpectError("", scenario.Expect(ref, f))))
		}
	}
	return steps
}

// fieldOf returns the expectation of a value, if a step can express it.
func fieldOf(path fieldPath, value any) (scenario.Field, bool) {
	text := ""
	switch want := value.(type) {
	case string:
		text = want
	case nil:
		return scenario.Field{}, false
	default:
		text = jsonText(want)
	}
	if strings.Contains(text, "<") || strings.Contains(text, "*") {
		return scenario.Field{}, false
	}
	return scenario.Field{Path: path.inSteps(), Value: text}, true
}
