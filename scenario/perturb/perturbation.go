package perturb

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/fakeapi/faults"
	"example.com/fakeapi/scenario"
)

// perturbation is one disturbance of one place.
type perturbation interface {
	// kind returns the name of its kind, a row of [Kinds].
	kind() string
	// where describes the place. Kind and place identify a perturbation.
	where() string
	// additions returns the steps that it adds to the workload.
	additions() additions
	// tolerance returns what a correct controller may do because of it.
	tolerance() tolerance
	// cost orders the perturbations: the most promising have the lowest.
	cost() int
}

// additions are the steps of a perturbation.
type additions struct {
	// before are run before the controllers.
	before []scenario.Step
	// at are run before the steps of the workload, by their numbers from 1. The number after the
	// last step is the end of the workload.
	at map[int][]scenario.Step
	// rules are the names of the rules that must be applied.
	rules []string
}

// tolerance is what a correct controller may do because of a perturbation.
type tolerance struct {
	// stale is true if the controller acts on an earlier state for some time, so that it may create
	// objects again that it deletes later.
	stale bool
	// foreign is true if somebody else writes, so that objects are written more often.
	foreign bool
	// quiet are the same writes at times at which nothing else happens. Their results are accepted.
	quiet []perturbation
	// lasting is true if the result of the write stays, so that the final state of the reference is
	// not accepted.
	lasting bool
	// instances is true if there are more instances of a controller than in the reference.
	instances bool
}

// Kind is a kind of perturbations.
type Kind struct {
	// Name is its name in findings.
	Name string
	// Imitates says what it imitates in production.
	Imitates string
	// Catalogue has the numbers of the cases in faults/CATALOGUE.md.
	Catalogue []int
	// find returns the perturbations of the kind. If full is true, it returns also those that
	// usually cannot matter.
	find func(r *reference, full bool) []perturbation
}

// Kinds returns the kinds of perturbations, in the order of this table.
func Kinds() []Kind {
	return []Kind{
		crashKind(), failKind(), expireKind(), missKind(), cutKind(), delayKind(), staleKind(), editKind(), deleteKind(), leaseKind(), bookmarkKind(), twinKind(),
	}
}

// kindNamed returns the kind with a name.
func kindNamed(name string) Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	return Kind{Name: name}
}

// id identifies a perturbation.
func id(p perturbation) string { return p.kind() + " " + p.where() }

// ruleName is the name of the rule of a perturbation.
const ruleName = "perturb"

// when returns the condition of a rule for the place. during is a phase, or "".
func (p *place) when(during string) string {
	var all []string
	if p.namespace != "" {
		all = append(all, "namespace("+strconv.Quote(p.namespace)+")")
	}
	if p.name != "" {
		all = append(all, "name("+strconv.Quote(p.name)+")")
	}
	if p.event != "" {
		all = append(all, "event("+p.event+")")
	}
	if during != "" {
		all = append(all, "during("+during+")")
	}
	return p.condition(append(all, fmt.Sprintf("nth(%d)", p.nth))...)
}

// condition returns the condition for the client, the verb and the resource of the place, and
// others.
func (p *place) condition(others ...string) string {
	all := []string{"userAgent(" + strconv.Quote(p.client) + ")", "verb(" + p.verb + ")", "resource(" + strconv.Quote(p.groupResource()) + ")"}
	return strings.Join(append(all, others...), " && ")
}

// rule returns the step that adds a rule with the name ruleName.
func rule(when, do string) scenario.Step { return namedRule(ruleName, when, do) }

// namedRule returns the step that adds a rule.
func namedRule(name, when, do string) scenario.Step {
	parsed, err := faults.Parse(name + ": when " + when + " do " + do)
	if err != nil {
		panic(fmt.Sprintf("perturb: %s: %v", when, err)) // the texts are those of this package
	}
	return scenario.Fault(parsed)
}

// atHit returns the steps that run others when the rule is applied.
func atHit(steps ...scenario.Step) []scenario.Step {
	var all []scenario.Step
	for _, s := range steps {
		all = append(all, scenario.AtHit(ruleName, s))
	}
	return all
}

// runController returns the step that runs a controller.
func runController(name string) scenario.Step {
	return scenario.RunClientWith(name, scenario.RunOptions{RestartAfter: restartAfter})
}

// gap returns the time from a place until a little after the begin of the next phase, or a second
// if there is none.
func (r *reference) gap(p *place) time.Duration {
	if p.phase+1 < len(r.phases) {
		return r.phases[p.phase+1].Sub(r.begin) - p.at + time.Second
	}
	return time.Second
}
