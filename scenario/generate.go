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

// Generator generates random scenarios: objects that are created, changed and deleted, watches,
// faults, time that passes, and history that is forgotten. A correct client passes all of them,
// because the faults end and the client has RecoveryTime before the expectations. The zero value
// generates scenarios without a client under test.
type Generator struct {
	// Steps is the approximate number of random steps. The default is 20.
	Steps int
	// Client is the name of the client under test in [Config.Clients], or "". It is started early,
	// and most faults affect its requests.
	Client string
	// Setup are the first steps, before all faults, such as the creation of namespaces that the
	// client or Object needs.
	Setup []Step
	// Object returns a new version of the manifest of an object with the given name. It may depend
	// only on r. The default generates ConfigMaps and Secrets in namespace "default".
	Object func(r *rand.Rand, name string) string
	// Expect returns the expectations after the last fault and RecoveryTime. objects are the
	// existing objects as in their manifests, sorted by kind, namespace and name. Each step is
	// tried for a minute. Scenarios expect in any case that these objects exist and that deleted
	// ones do not.
	Expect func(objects []*unstructured.Unstructured) []Step
	// RecoveryTime is the time between the last fault and the expectations. The default is half an
	// hour, which covers the longest back-off of client-go, 1000 seconds.
	RecoveryTime time.Duration
}

// ExpectSynced returns a function for [Generator.Expect] for a client that copies the objects of a
// kind from one namespace to another.
func ExpectSynced(kind, from, to string) func([]*unstructured.Unstructured) []Step {
	return func([]*unstructured.Unstructured) []Step { return []Step{ExpectSame(kind, from, to)} }
}

// Generate returns the scenario of a seed. It returns the same steps for the same seed and
// Generator, and may be called concurrently. The steps can be printed and parsed if those of Setup
// and Expect can. Generate returns an error if Object returns an invalid manifest.
func (g Generator) Generate(seed uint64) ([]Step, error) {
	body, err := g.body(seed)
	if err != nil {
		return nil, err
	}
	return g.complete(body)
}

// complete adds Setup and the expectations to the generated steps. It returns an error if the steps
// are not possible, such as the deletion of an object that does not exist.
func (g Generator) complete(body []Step) ([]Step, error) {
	var state objectState
	hasFault := false
	for _, s := range body {
		if err := state.apply(s); err != nil {
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
	for _, s := range state.expectations() {
		steps = append(steps, Eventually(time.Minute, s))
	}
	if g.Expect != nil {
		for _, s := range g.Expect(state.existing()) {
			steps = append(steps, Eventually(time.Minute, s))
		}
	}
	return steps, nil
}

// body returns the random steps between Setup and the expectations.
func (g Generator) body(seed uint64) ([]Step, error) {
	b := &builder{Generator: g, r: rand.New(rand.NewPCG(seed, 0))}
	startAt := b.r.IntN(3) // position of the step that runs the client
	for i := range cmp.Or(g.Steps, 20) {
		if g.Client != "" && i == startAt {
			b.add(RunClient(g.Client))
		}
		b.addRandomStep()
	}
	if g.Client != "" && startAt >= cmp.Or(g.Steps, 20) {
		b.add(RunClient(g.Client))
	}
	return b.steps, b.err
}

// runsClient reports whether the steps run the client under test, if there is one. Without it every
// scenario fails.
func (g Generator) runsClient(steps []Step) bool {
	return g.Client == "" || slices.Contains(steps, RunClient(g.Client))
}

// builder builds the steps of one scenario. All random decisions use r, in a fixed order.
type builder struct {
	Generator
	r              *rand.Rand
	steps          []Step
	objects        objectState
	files          int
	watches        []string // by name
	rules          int
	faultsHitSteps bool // a rule may affect the requests of steps
	err            error
}

// add appends a step and records the first error.
func (b *builder) add(s Step) {
	b.steps = append(b.steps, s)
	b.err = cmp.Or(b.err, b.objects.apply(s))
}

// addRetried appends a step that faults may affect. If they do, it is wrapped in [Eventually];
// faults for steps last for a shorter time.
func (b *builder) addRetried(s Step) {
	if b.faultsHitSteps {
		s = Eventually(10*time.Minute, s)
	}
	b.add(s)
}

// action is a random action and its weight.
type action struct {
	weight int
	run    func(*builder)
}

// actions returns all random actions.
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

// addRandomStep runs an action chosen by weight.
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

// deleteObject deletes an existing object, or creates one if there is none.
func (b *builder) deleteObject() {
	existing := b.objects.existing()
	if len(existing) == 0 {
		b.putObject()
		return
	}
	b.addRetried(Delete(refOf(choose(b.r, existing...))))
}

// watchNames are the names of watches. None is a prefix of another one, because rules match
// prefixes of user agents.
var watchNames = []string{"north", "east", "south", "west"}

// openWatch opens a watch, or advances the time if there are enough watches.
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

// advanceTime advances the time: less than a back-off, by a back-off, or longer than a watch lasts.
func (b *builder) advanceTime() {
	b.add(Advance(choose(b.r, 10*time.Millisecond, time.Second, 3*time.Second, 40*time.Second, 2*time.Minute, 7*time.Minute, time.Hour)))
}

// clearFaults removes all rules.
func (b *builder) clearFaults() {
	b.add(ClearFaults())
	b.faultsHitSteps = false
}

// randomManifest is the default of Generator.Object.
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

// choose returns a random element of from.
func choose[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
