package scenario

import (
	"context"
	"fmt"
	"slices"

	fakeapi "example.com/fakeapi/fake"
)

// Replica opens a second API server on the store of the first, as in a cluster with
// several of them on one etcd, whose view may be behind: what it answers from its
// watch cache, which is watches, and reads at resourceVersion "0" or not older than
// one. All else is current, and so are writes. The first server is called "main".
// A replica has its own fault rules.
func Replica(name string, view View) Step { return replicaStep{name, view} }

type replicaStep struct {
	name string
	view View
}

func (kinds) Replica() stepKind {
	return stepKind{"replica NAME [--frozen | --lag N | --delay DURATION]", parseReplica}
}

func parseReplica(a *args) (Step, error) {
	words, given, err := a.wordsAndFlags(frozenFlag, lagFlag+"=", delayFlag+"=")
	if err != nil {
		return nil, err
	}
	names, err := unquoteWords(words, 1, 1)
	if err != nil {
		return nil, err
	}
	if names[0] == "" {
		return nil, fmt.Errorf(`expected a name for the replica, found ""`)
	}
	view, err := parseView(given)
	return replicaStep{names[0], view}, err
}

func (s replicaStep) String() string { return joinWords("replica", quote(s.name), s.view.String()) }

func (s replicaStep) Run(_ context.Context, e *Env) error {
	if slices.Contains(e.serverNames(), s.name) {
		return fmt.Errorf("there is a server %q already", s.name)
	}
	e.waitIdle()
	replica, err := e.servers[0].server.Replica(fakeapi.WithInMemoryNetwork())
	if err != nil {
		return err
	}
	s.view.applyTo(replica)
	return e.addServer(&apiServer{name: s.name, server: replica.Server, replica: replica})
}

// Freeze keeps the view of a replica as it is now.
func Freeze(replica string) Step { return viewStep{"freeze", replica, Frozen()} }

func (kinds) Freeze() stepKind {
	return stepKind{"freeze REPLICA", parseViewStep(Freeze)}
}

// CatchUp makes the view of a replica current.
func CatchUp(replica string) Step { return viewStep{"catch up", replica, Current()} }

func (kinds) CatchUp() stepKind {
	return stepKind{"catch up REPLICA", parseViewStep(CatchUp)}
}

// viewStep is a step that changes the view of a replica.
type viewStep struct {
	command, name string
	view          View
}

func parseViewStep(make func(string) Step) func(*args) (Step, error) {
	return func(a *args) (Step, error) {
		name, err := parseName(a, "a replica")
		return make(name), err
	}
}

func (s viewStep) String() string { return s.command + " " + quote(s.name) }

func (s viewStep) Run(_ context.Context, e *Env) error {
	d, err := e.findServer(s.name)
	if err != nil {
		return err
	}
	if d.replica == nil {
		return fmt.Errorf("expected a replica, found %q, which is always current", s.name)
	}
	e.waitIdle()
	s.view.applyTo(d.replica)
	return nil
}

// On runs a step at a replica, or at "main": its requests go there, and rules, and
// all else that is about a server and not about its store, are that one's.
func On(replica string, step Step) Step { return onServer{replica, step} }

type onServer struct {
	name string
	step Step
}

func (kinds) On() stepKind {
	return stepKind{"on REPLICA STEP", parseOn}
}

func parseOn(a *args) (Step, error) {
	name, err := a.word("the name of a replica")
	if err != nil {
		return nil, err
	}
	step, err := a.parser.parseStep(a.rest)
	return onServer{name, step}, err
}

func (s onServer) String() string { return "on " + quote(s.name) + " " + s.step.String() }

func (s onServer) files() []file { return filesOf(s.step) }

func (s onServer) Run(ctx context.Context, e *Env) error {
	d, err := e.findServer(s.name)
	if err != nil {
		return err
	}
	return e.withServer(d, func() error { return s.step.Run(ctx, e) })
}

func (s onServer) simplifications() []Step {
	return simplifyInner(s.step, func(step Step) Step { return onServer{s.name, step} })
}

// SwitchClient moves a client under test, which must be running, to a replica or to
// "main", as a load balancer does: its connections break, and new ones lead there.
func SwitchClient(client, replica string) Step { return switchClient{client, replica} }

type switchClient struct{ name, to string }

func (kinds) Switch() stepKind {
	return stepKind{"switch CLIENT REPLICA", parseSwitch}
}

func parseSwitch(a *args) (Step, error) {
	words, err := a.words(2, 2)
	if err != nil {
		return nil, err
	}
	return switchClient{words[0], words[1]}, nil
}

func (s switchClient) String() string { return "switch " + quote(s.name) + " " + quote(s.to) }

func (s switchClient) Run(_ context.Context, e *Env) error {
	c, err := e.runningClient(s.name)
	if err != nil {
		return err
	}
	d, err := e.findServer(s.to)
	if err != nil {
		return err
	}
	c.balancer.switchTo(d)
	return nil
}
