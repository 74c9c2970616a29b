package scenario

import (
	"cmp"
	"fmt"
	"math/rand/v2"
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
	// Patience is the time that a client has in the end; 0 is half an hour, which
	// covers the longest back-off of client-go, 1000 seconds.
	Patience time.Duration
}

// Mirrors gives an [Generator.Expect] for a client that keeps copies of the
// objects of a kind in one namespace in another.
func Mirrors(kind, from, to string) func([]*unstructured.Unstructured) []Step {
	return func([]*unstructured.Unstructured) []Step { return []Step{ExpectSame(kind, from, to)} }
}

// Generate makes the scenario of a seed: always the same steps for the same seed
// and Generator, with any number of other calls at the same time. It prints, and
// parses back; but for what Object and Expect make, which must do that, too.
// An error says that Object gave what is no manifest.
func (g Generator) Generate(seed uint64) ([]Step, error) {
	story, err := g.story(seed)
	if err != nil {
		return nil, err
	}
	return g.tell(story)
}

// tell makes a scenario of what happens in it: what must have been there before,
// and what must be true after. It is an error if it cannot happen, such as the
// deletion of what is not there.
func (g Generator) tell(story []Step) ([]Step, error) {
	var w world
	faulty := false
	for _, s := range story {
		if err := w.take(s); err != nil {
			return nil, err
		}
		_, is := s.(fault)
		faulty = faulty || is
	}
	steps := append(copied(g.Setup), story...)
	if faulty {
		steps = append(steps, ClearFaults())
	}
	steps = append(steps, Advance(cmp.Or(g.Patience, 30*time.Minute)))
	for _, s := range w.expectations() {
		steps = append(steps, Eventually(time.Minute, s))
	}
	if g.Expect != nil {
		for _, s := range g.Expect(w.present()) {
			steps = append(steps, Eventually(time.Minute, s))
		}
	}
	return steps, nil
}

// story is what happens between Setup and the expectations.
func (g Generator) story(seed uint64) ([]Step, error) {
	b := &builder{Generator: g, r: rand.New(rand.NewPCG(seed, 0))}
	starts := b.r.IntN(3) // where the client does
	for i := range cmp.Or(g.Steps, 20) {
		if g.Client != "" && i == starts {
			b.add(RunClient(g.Client))
		}
		b.happen()
	}
	if g.Client != "" && starts >= cmp.Or(g.Steps, 20) {
		b.add(RunClient(g.Client))
	}
	return b.steps, b.err
}

// builder makes one story. All that is random comes from r, in one order.
type builder struct {
	Generator
	r       *rand.Rand
	steps   []Step
	world   world
	files   int
	watches []string // their names
	rules   int
	armed   bool // some rule may be about the steps
	err     error
}

// add appends a step, and keeps the first error.
func (b *builder) add(s Step) {
	b.steps = append(b.steps, s)
	b.err = cmp.Or(b.err, b.world.take(s))
}

// surely appends a step of a kind that faults may hit. It is tried again until it
// goes well; what is generated for steps lasts shorter than that.
func (b *builder) surely(s Step) {
	if b.armed {
		s = Eventually(10*time.Minute, s)
	}
	b.add(s)
}

// action is something that can happen, with its share of all.
type action struct {
	share int
	do    func(*builder)
}

// actions is what happens.
func actions() []action {
	return []action{
		{36, (*builder).put},
		{14, (*builder).remove},
		{8, (*builder).watch},
		{20, (*builder).fault},
		{12, (*builder).pause},
		{4, func(b *builder) { b.add(Compact()) }},
		{5, func(b *builder) { b.add(Expire()) }},
		{3, (*builder).clear},
	}
}

// happen chooses by the shares.
func (b *builder) happen() {
	all := actions()
	sum := 0
	for _, a := range all {
		sum += a.share
	}
	n := b.r.IntN(sum)
	for _, a := range all {
		if n -= a.share; n < 0 {
			a.do(b)
			return
		}
	}
}

// put creates or changes an object.
func (b *builder) put() {
	name := oneOf(b.r, "alpha", "bravo", "carol", "delta", "echo")
	manifest := ""
	if b.Object != nil {
		manifest = b.Object(b.r, name)
	} else {
		manifest = someObject(b.r, name)
	}
	b.files++
	b.surely(Apply(fmt.Sprintf("%02d-%s.yaml", b.files, name), manifest))
}

// remove deletes an object that is there; if there is none, it makes one.
func (b *builder) remove() {
	present := b.world.present()
	if len(present) == 0 {
		b.put()
		return
	}
	b.surely(Delete(refOf(oneOf(b.r, present...))))
}

// watchNames are the names of watches. None begins as another: a user agent
// in a rule is a prefix.
var watchNames = []string{"north", "east", "south", "west"}

// watch opens a watch; if there are enough, it lets time pass.
func (b *builder) watch() {
	if len(b.watches) == len(watchNames) {
		b.pause()
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
	b.surely(Watch(name, of))
}

// pause lets time pass: a moment, a back-off, the life of a watch.
func (b *builder) pause() {
	b.add(Advance(oneOf(b.r, 10*time.Millisecond, time.Second, 3*time.Second, 40*time.Second, 2*time.Minute, 7*time.Minute, time.Hour)))
}

// clear ends all faults.
func (b *builder) clear() {
	b.add(ClearFaults())
	b.armed = false
}

// someObject is what a Generator without Object makes.
func someObject(r *rand.Rand, name string) string {
	kind, data := "ConfigMap", "data"
	if r.IntN(5) == 0 {
		kind, data = "Secret", "stringData"
	}
	labels := ""
	if r.IntN(2) == 0 {
		labels = "\n  labels:\n    tier: " + oneOf(r, "web", "db")
	}
	text := fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata:\n  name: %s\n  namespace: default%s\n%s:\n  version: \"%d\"\n",
		kind, name, labels, data, r.IntN(1000))
	if r.IntN(3) == 0 {
		text += "  more: " + strings.Repeat("x", 1+r.IntN(200)) + "\n"
	}
	return text
}

// oneOf chooses.
func oneOf[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
