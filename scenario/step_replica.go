package scenario

import (
	"context"
	"fmt"
	"slices"

	fakeapi "example.com/fakeapi/fake"
)

// Replica starts a second API server on the store of the first one, as in a cluster with several
// API servers on one etcd. The view of its watch cache may be behind. That affects watches, and
// reads at resourceVersion "0" or not older than a resourceVersion. Other reads and writes are
// current. The first server is called "main". A replica has its own fault rules.
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

// Freeze freezes the view of a replica at the current state.
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
	server, err := e.findServer(s.name)
	if err != nil {
		return err
	}
	if server.replica == nil {
		return fmt.Errorf("expected a replica, found %q, which is always current", s.name)
	}
	e.waitIdle()
	s.view.applyTo(server.replica)
	return nil
}

// On runs a step on a replica or on "main". Its requests, rules and everything else that does not
// concern the store affect only that server.
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

func (s onServer) inner() Step { return s.step }

func (s onServer) Run(ctx context.Context, e *Env) error {
	server, err := e.findServer(s.name)
	if err != nil {
		return err
	}
	return e.withServer(server, func() error { return s.step.Run(ctx, e) })
}

func (s onServer) simplifications() []Step {
	return simplifyInner(s.step, func(step Step) Step { return onServer{s.name, step} })
}

// SwitchClient moves a running client under test to a replica or to "main", as a load balancer
// does. Its connections are closed, and new ones are made to the other server.
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
	server, err := e.findServer(s.to)
	if err != nil {
		return err
	}
	c.balancer.switchTo(server)
	return nil
}
