package differential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// Config configures a run.
type Config struct {
	// Left and Right are the servers. They must be different ones.
	Left, Right Side
	// Seed determines the definitions and the steps.
	Seed uint64
	// Steps is the number of steps after which no new sequence is started. The default is 1,000.
	Steps int
	// Parallel is the number of sequences that run at the same time. The default is 4.
	Parallel int
	// Prefix is the prefix of the names of all namespaces. The default is "random".
	Prefix string
	// Listed are differences that are expected. The default is [Listed].
	Listed []ListedDifference
	// OnFinding, if not nil, is called with each new class of differences, before it is shrunk.
	OnFinding func(signature string)
	// OnProgress, if not nil, is called after each sequence with the number of steps so far.
	OnProgress func(steps int)
}

// Sizes of a run.
const (
	sequencesPerDefinition = 30
	stepsPerSequence       = 25
)

// Run sends random sequences to both servers until the number of steps is reached, and returns a
// report. The error is that of a server that cannot be used, or the cause of the end of ctx; the
// report then has what was found so far.
func Run(ctx context.Context, config Config) (*Report, error) {
	config.Steps, config.Parallel = cmp.Or(config.Steps, 1000), cmp.Or(config.Parallel, 4)
	config.Prefix = cmp.Or(config.Prefix, "random")
	if config.Listed == nil {
		config.Listed = Listed()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &runner{Config: config, id: utilrand.String(5), classes: map[string]*Class{}}
	var workers sync.WaitGroup
	for range config.Parallel {
		workers.Go(func() {
			for round := r.nextRound(); round >= 0 && ctx.Err() == nil; round = r.nextRound() {
				if err := r.run(ctx, round); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	return r.report(), context.Cause(ctx)
}

// runner is a run.
type runner struct {
	Config
	id string // part of all names

	mu               sync.Mutex // guards the fields below
	rounds, installs int
	steps, sequences int
	unconfirmed      []string
	classes          map[string]*Class
}

// nextRound returns the number of the next definition, or -1 after the last one.
func (r *runner) nextRound() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.steps >= r.Steps {
		return -1
	}
	r.rounds++
	return r.rounds - 1
}

// run runs the sequences of one definition.
func (r *runner) run(ctx context.Context, round int) error {
	random := rand.New(rand.NewPCG(r.Seed, uint64(round)))
	d := newDefinition(random)
	installed, err := r.install(ctx, d)
	if different, ok := errors.AsType[*definitionError](err); ok {
		r.addDefinition(ctx, d, different)
		return nil
	}
	if installed == nil {
		return err
	}
	defer installed.remove(ctx)
	for range sequencesPerDefinition {
		if r.isDone() || ctx.Err() != nil {
			return nil
		}
		if err := r.runSequence(ctx, installed, newSequence(random, d, 2+random.IntN(stepsPerSequence))); err != nil {
			return err
		}
	}
	return nil
}

// addDefinition adds the difference of a definition to the report.
func (r *runner) addDefinition(ctx context.Context, d *definition, different *definitionError) {
	text := different.Error()
	if r.add(text) {
		return
	}
	if r.OnFinding != nil {
		r.OnFinding(text)
	}
	smallest := r.shrinkCreation(ctx, d, different)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.classes[text].Example = &Example{Steps: []Step{smallest.create}, Differences: smallest.differences}
}

// isDone reports whether there are enough steps.
func (r *runner) isDone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.steps >= r.Steps
}

// runSequence runs a sequence and adds its differences to the report. A new class is confirmed by
// a second run, and then shrunk.
func (r *runner) runSequence(ctx context.Context, on *installation, steps []Step) error {
	q, err := on.run(ctx, steps)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.steps += q.done
	r.sequences++
	total := r.steps
	r.mu.Unlock()
	if r.OnProgress != nil {
		r.OnProgress(total)
	}
	for _, found := range q.found {
		if r.add(found.signature) {
			continue
		}
		again, err := on.run(ctx, steps)
		if err != nil {
			return err
		}
		if !again.has(found.signature) {
			r.removeUnconfirmed(found.signature)
			continue
		}
		if r.OnFinding != nil {
			r.OnFinding(found.signature)
		}
		if err := r.shrink(ctx, on, steps, found); err != nil {
			return err
		}
	}
	return nil
}

// add counts a difference and reports whether its class was known.
func (r *runner) add(signature string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	class, known := r.classes[signature]
	if !known {
		class = &Class{Signature: signature, Reason: reasonOf(r.Listed, signature)}
		r.classes[signature] = class
	}
	class.Count++
	return known || class.Reason != ""
}

// removeUnconfirmed removes a class that a second run of the sequence did not have.
func (r *runner) removeUnconfirmed(signature string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.classes, signature)
	r.unconfirmed = append(r.unconfirmed, signature)
}

func (r *runner) isListed(signature string) bool { return reasonOf(r.Listed, signature) != "" }

// has reports whether the run found a difference of the class.
func (r *sequenceRun) has(signature string) bool {
	for _, found := range r.found {
		if found.signature == signature {
			return true
		}
	}
	return false
}

// installation is a definition that both servers serve.
type installation struct {
	runner     *runner
	definition *definition
	sides      [2]*client
	namespaces int // number of runs, for the names of their namespaces
}

// install creates a definition on both servers and waits until they serve it. It returns nil if
// both servers refuse it.
func (r *runner) install(ctx context.Context, d *definition) (*installation, error) {
	r.mu.Lock()
	r.installs++
	r.steps++
	number := r.installs
	r.mu.Unlock()
	on := &installation{runner: r, definition: d}
	create := Step{Method: "POST", Path: definitionsPath, ContentType: "application/json", Body: d.body}
	var answers [2]*response
	namespace, group := fmt.Sprintf("%s-%s-%d", r.Prefix, r.id, number), fmt.Sprintf("r%sn%d.example.com", r.id, number)
	for i, side := range [2]Side{r.Left, r.Right} {
		on.sides[i] = newClient(side, namespace, group)
		// A server may handle a cancelled request after the definition was to be removed.
		if answers[i] = on.sides[i].send(context.WithoutCancel(ctx), create); answers[i].err != nil {
			on.remove(ctx)
			return nil, fmt.Errorf("%s: %w", side.Name, answers[i].err)
		}
	}
	if differences := r.compareDefinition(answers); len(differences) > 0 {
		on.remove(ctx)
		return nil, &definitionError{create, differences}
	}
	if isFailure(answers[0].code) {
		return nil, nil
	}
	for _, c := range on.sides {
		if err := c.waitUntilServed(ctx, d.versions); err != nil {
			on.remove(ctx)
			return nil, fmt.Errorf("%s: %w", c.side.Name, err)
		}
	}
	return on, nil
}

// compareDefinition compares the responses to the creation of a definition. The status is written
// later, by a controller.
func (r *runner) compareDefinition(answers [2]*response) httpdiff.Differences {
	compared := newComparison()
	compared.canonicalizer = httpdiff.NewCanonicalizer([]string{"status"})
	return compared.responses(answers[0], answers[1])
}

// definitionError reports that the servers answered the creation of a definition differently.
type definitionError struct {
	create      Step
	differences httpdiff.Differences
}

// Error implements error.
func (e *definitionError) Error() string { return signature(e.create, e.differences) }

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// waitUntilServed waits until the server serves all versions.
func (c *client) waitUntilServed(ctx context.Context, versions []string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	for _, version := range versions {
		for {
			if answer := c.send(ctx, Step{Method: "GET", Path: "/apis/{group}/" + version + "/widgets"}); answer.code == http.StatusOK {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the CustomResourceDefinition is not served: %w", ctx.Err())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

// remove deletes the definition.
func (on *installation) remove(ctx context.Context) {
	for _, side := range on.sides {
		if side != nil {
			side.send(context.WithoutCancel(ctx), Step{Method: "DELETE", Path: definitionsPath + "/widgets.{group}"})
		}
	}
}

// run runs steps in new namespaces.
func (on *installation) run(ctx context.Context, steps []Step) (*sequenceRun, error) {
	on.namespaces++
	r := &sequenceRun{steps: steps}
	for i, side := range on.sides {
		r.sides[i] = newClient(side.side, fmt.Sprintf("%s-%d", side.names["ns"], on.namespaces), side.names["group"])
	}
	err := r.run(ctx, on.runner.isListed)
	return r, err
}

// example returns the smallest sequence of a class with the differences of its last run.
func example(d *definition, steps []Step, differences httpdiff.Differences) *Example {
	e := &Example{Steps: steps, Differences: differences}
	if usesDefinition(steps) {
		e.Definition = d.body
	}
	return e
}
