package scenario

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Generator makes scenarios at random: objects that are created, changed and
// deleted, watches, faults, jumps in time, histories that are forgotten. All of it
// is what a correct client survives: in the end faults are over, and after
// Patience all must be well. The zero value makes scenarios without a client
// under test.
type Generator struct {
	// Steps is about how many steps happen at random; 0 is 20.
	Steps int
	// Client is the client under test, as [Config.Clients] names it; "" is none. It
	// is started early, and most faults are about it.
	Client string
	// Setup are steps that come first, before all faults: the namespaces that a
	// client or Object needs.
	Setup []Step
	// Object gives the manifest of one object with that name, each time another,
	// made from r and from nothing else. Nil makes ConfigMaps and Secrets in the
	// namespace "default".
	Object func(r *rand.Rand, name string) string
	// Expect gives what must be true in the end, Patience after the last fault, given
	// the objects that there are then as the manifests had them, sorted by kind,
	// namespace and name. The steps are tried for a minute each. That these objects
	// are there, and no longer those that were deleted, is expected in any case.
	Expect func(objects []*unstructured.Unstructured) []Step
	// RecoveryTime is the time that a client has in the end; 0 is half an hour, which
	// covers the longest back-off of client-go, 1000 seconds.
	RecoveryTime time.Duration
}

// ExpectSynced gives an [Generator.Expect] for a client that keeps copies of the
// objects of a kind in one namespace in another.
func ExpectSynced(kind, from, to string) func([]*unstructured.Unstructured) []Step {
	return func([]*unstructured.Unstructured) []Step { return []Step{ExpectSame(kind, from, to)} }
}

// Generate makes the scenario of a seed: always the same steps for the same seed
// and Generator, with any number of other calls at the same time. It prints, and
// parses back; but for what Object and Expect make, which must do that, too.
// An error says that Object gave what is no manifest.
func (g Generator) Generate(seed uint64) ([]Step, error) {
	body, err := g.body(seed)
	if err != nil {
		return nil, err
	}
	return g.complete(body)
}

// complete makes a scenario of what happens in it: what must have been there before,
// and what must be true after. It is an error if it cannot happen, such as the
// deletion of what is not there.
func (g Generator) complete(body []Step) ([]Step, error) {
	var w objectState
	hasFault := false
	for _, s := range body {
		if err := w.apply(s); err != nil {
			return nil, err
		}
		_, is := s.(fault)
		hasFault = hasFault || is
	}
	steps := append(cloneSlice(g.Setup), body...)
	if hasFault {
		steps = append(steps, ClearFaults())
	}
	steps = append(steps, Advance(cmp.Or(g.RecoveryTime, 30*time.Minute)))
	for _, s := range w.expectations() {
		steps = append(steps, Eventually(time.Minute, s))
	}
	if g.Expect != nil {
		for _, s := range g.Expect(w.existing()) {
			steps = append(steps, Eventually(time.Minute, s))
		}
	}
	return steps, nil
}

// body is what happens between Setup and the expectations.
func (g Generator) body(seed uint64) ([]Step, error) {
	b := &builder{Generator: g, r: rand.New(rand.NewPCG(seed, 0))}
	starts := b.r.IntN(3) // where the client does
	for i := range cmp.Or(g.Steps, 20) {
		if g.Client != "" && i == starts {
			b.add(RunClient(g.Client))
		}
		b.addRandomStep()
	}
	if g.Client != "" && starts >= cmp.Or(g.Steps, 20) {
		b.add(RunClient(g.Client))
	}
	return b.steps, b.err
}

// runsClient reports whether the steps run the client under test, if there is one. Without it every
// scenario fails.
func (g Generator) runsClient(steps []Step) bool {
	return g.Client == "" || slices.Contains(steps, RunClient(g.Client))
}

// builder makes one story. All that is random comes from r, in one order.
type builder struct {
	Generator
	r              *rand.Rand
	steps          []Step
	objects        objectState
	files          int
	watches        []string // their names
	rules          int
	faultsHitSteps bool // some rule may be about the steps
	err            error
}

// add appends a step, and keeps the first error.
func (b *builder) add(s Step) {
	b.steps = append(b.steps, s)
	b.err = cmp.Or(b.err, b.objects.apply(s))
}

// addRetried appends a step of a kind that faults may hit. It is tried again until it
// goes well; what is generated for steps lasts shorter than that.
func (b *builder) addRetried(s Step) {
	if b.faultsHitSteps {
		s = Eventually(10*time.Minute, s)
	}
	b.add(s)
}

// action is something that can happen, with its share of all.
type action struct {
	weight int
	run    func(*builder)
}

// actions is what happens.
func actions() []action {
	return []action{
		{36, (*builder).putObject},
		{14, (*builder).deleteObject},
		{8, (*builder).openWatch},
		{20, (*builder).addFault},
		{12, (*builder).advanceTime},
		{4, func(b *builder) { b.add(Compact()) }},
		{5, func(b *builder) { b.add(Expire()) }},
		{3, (*builder).clearFaults},
	}
}

// addRandomStep chooses by the shares.
func (b *builder) addRandomStep() {
	all := actions()
	sum := 0
	for _, a := range all {
		sum += a.weight
	}
	n := b.r.IntN(sum)
	for _, a := range all {
		if n -= a.weight; n < 0 {
			a.run(b)
			return
		}
	}
}

// putObject creates or changes an object.
func (b *builder) putObject() {
	name := choose(b.r, "alpha", "bravo", "carol", "delta", "echo")
	manifest := ""
	if b.Object != nil {
		manifest = b.Object(b.r, name)
	} else {
		manifest = randomManifest(b.r, name)
	}
	b.files++
	b.addRetried(Apply(fmt.Sprintf("%02d-%s.yaml", b.files, name), manifest))
}

// deleteObject deletes an object that is there; if there is none, it makes one.
func (b *builder) deleteObject() {
	existing := b.objects.existing()
	if len(existing) == 0 {
		b.putObject()
		return
	}
	b.addRetried(Delete(refOf(choose(b.r, existing...))))
}

// watchNames are the names of watches. None begins as another: a user agent
// in a rule is a prefix.
var watchNames = []string{"north", "east", "south", "west"}

// openWatch opens a watch; if there are enough, it lets time pass.
func (b *builder) openWatch() {
	if len(b.watches) == len(watchNames) {
		b.advanceTime()
		return
	}
	name := watchNames[len(b.watches)]
	b.watches = append(b.watches, name)
	of := Collection{Kind: "configmap"}
	switch b.r.IntN(4) {
	case 0:
		of.AllNamespaces = true
	case 1:
		of.Selector = "tier=web"
	}
	b.addRetried(Watch(name, of))
}

// advanceTime lets time pass: a moment, a back-off, the life of a watch.
func (b *builder) advanceTime() {
	b.add(Advance(choose(b.r, 10*time.Millisecond, time.Second, 3*time.Second, 40*time.Second, 2*time.Minute, 7*time.Minute, time.Hour)))
}

// clearFaults ends all faults.
func (b *builder) clearFaults() {
	b.add(ClearFaults())
	b.faultsHitSteps = false
}

// randomManifest is what a Generator without Object makes.
func randomManifest(r *rand.Rand, name string) string {
	kind, data := "ConfigMap", "data"
	if r.IntN(5) == 0 {
		kind, data = "Secret", "stringData"
	}
	labels := ""
	if r.IntN(2) == 0 {
		labels = "\n  labels:\n    tier: " + choose(r, "web", "db")
	}
	text := fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata:\n  name: %s\n  namespace: default%s\n%s:\n  version: \"%d\"\n",
		kind, name, labels, data, r.IntN(1000))
	if r.IntN(3) == 0 {
		text += "  more: " + strings.Repeat("x", 1+r.IntN(200)) + "\n"
	}
	return text
}

// choose chooses.
func choose[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
