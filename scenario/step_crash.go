package scenario

import "context"

// CrashClient ends a running client under test as a process that is killed: its connections are cut
// and no request of it reaches the server any more, not even those of its clean-up. Then its
// context is canceled, and the step waits until it has returned, for at most a minute. The error
// that the client returns is ignored. It can be run again.
func CrashClient(name string) Step { return crashClient{name} }

type crashClient struct{ name string }

func (kinds) Crash() stepKind {
	return stepKind{"crash CLIENT", parseCrash}
}

func parseCrash(a *args) (Step, error) {
	name, err := parseName(a, "a client")
	return crashClient{name}, err
}

func (s crashClient) String() string { return "crash " + quote(s.name) }

func (s crashClient) Run(ctx context.Context, e *Env) error {
	c, err := e.runningClient(s.name)
	if err != nil {
		return err
	}
	c.balancer.refuse()
	return e.end(ctx, c, s.name)
}
