package scenario

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Client is a client under test. It returns when its work is done, or when ctx is done, which is at
// the end of the scenario at the latest. config leads to the server and records the requests in the
// transcript; its user agent is the name of the client. The client may copy and change config, but
// must keep its Dial function and its transport wrapper.
//
// An error that no step expects fails the scenario, unless ctx is done.
type Client func(ctx context.Context, config *rest.Config) error

// RunClient starts a client under test by its name in [Config.Clients]. The step ends when the
// client waits for time to pass; the client continues. A client that has returned or was stopped
// can be run again, with a new context and configuration. Its requests continue the same section of
// the transcript.
func RunClient(name string) Step { return runClient{name: name} }

// RunClientOn is [RunClient] for a client that is connected to a replica, or to "main", the first
// server. In the transcript, its requests to a replica end in "on REPLICA".
func RunClientOn(name, replica string) Step { return runClient{name: name, on: replica} }

// RunClientAs is [RunClient] for a client that is not the administrator. With the user name of an
// existing service account it has a token of the account in a file (BearerTokenFile of its
// configuration), as in a Pod; see [ExpireToken] and [RotateToken]. As another user it has a client
// certificate, for which the server needs fakeapi.WithClientCA or [AuthorizationMode]. user may be
// "". impersonate is the user that the client's requests impersonate, or "".
func RunClientAs(name, user, impersonate string) Step {
	return runClient{name: name, user: user, impersonate: impersonate}
}

// RunOptions are the options of [RunClientWith]. The zero value is that of [RunClient].
type RunOptions struct {
	// On is the replica that the client is connected to; see [RunClientOn].
	On string
	// User and Impersonate are users; see [RunClientAs].
	User, Impersonate string
	// Of is the name in [Config.Clients] of the function that is run. It defaults to the name of the
	// client. With it, a second instance of a client has its own name, and so its own user agent.
	Of string
	// RestartAfter, if not 0, runs the client again when that time has passed after it has returned an
	// error, as a kubelet restarts a container. The error is in the transcript and does not fail
	// the scenario.
	RestartAfter time.Duration
}

// RunClientWith is [RunClient] with options.
func RunClientWith(name string, o RunOptions) Step {
	if o.Of == name {
		o.Of = ""
	}
	return runClient{name, o.On, o.User, o.Impersonate, o.Of, o.RestartAfter}
}

type runClient struct {
	name, on, user, impersonate, of string
	restartAfter                    time.Duration
}

// function returns the name of the function in Config.Clients.
func (s runClient) function() string { return cmp.Or(s.of, s.name) }

// client is a client under test that was started.
type client struct {
	balancer *balancer
	cancel   context.CancelFunc // of its context
	done     chan struct{}      // closed when the client has returned
	err      error              // valid after done is closed
	// external is true for a client outside of this process. It is not known when it returns.
	external bool
	// endExpected is set by steps that expect the error or stop the client. Only the goroutine of
	// the steps uses it.
	endExpected bool
}

func (kinds) Run() stepKind {
	return stepKind{"run CLIENT [--on REPLICA] [--user USER] [--as USER] [--of CLIENT] [--restart-after DURATION]", parseRun}
}

func parseRun(a *args) (Step, error) {
	words, given, err := a.wordsAndFlags("--on=", "--user=", "--as=", "--of=", "--restart-after=")
	if err != nil {
		return nil, err
	}
	names, err := unquoteWords(words, 1, 1)
	if err != nil {
		return nil, err
	}
	if names[0] == "" {
		return nil, fmt.Errorf(`expected the name of a client, found ""`)
	}
	o := RunOptions{On: given["--on"], User: given["--user"], Impersonate: given["--as"], Of: given["--of"]}
	if after, ok := given["--restart-after"]; ok {
		if o.RestartAfter, err = parseDuration(after, 1); err != nil {
			return nil, err
		}
	}
	return RunClientWith(names[0], o), nil
}

func (s runClient) String() string {
	words := []string{"run", quote(s.name)}
	for _, flag := range [][2]string{{"--on", s.on}, {"--user", s.user}, {"--as", s.impersonate}, {"--of", s.of}} {
		if flag[1] != "" {
			words = append(words, flag[0], quote(flag[1]))
		}
	}
	if s.restartAfter > 0 {
		words = append(words, "--restart-after", s.restartAfter.String())
	}
	return joinWords(words...)
}

func (s runClient) Run(ctx context.Context, e *Env) error {
	run, ok := e.config.Clients[s.function()]
	if !ok && e.traffic != nil {
		return e.admitExternal(ctx, s)
	}
	if !ok {
		known := slices.Sorted(maps.Keys(e.config.Clients))
		return fmt.Errorf("there is no client %q in the Config; there are: %s", s.function(), listOrNone(known))
	}
	if run == nil {
		return fmt.Errorf("the client %q in the Config is nil", s.function())
	}
	if err := e.checkCanRun(s.name); err != nil {
		return err
	}
	to := e.current
	if s.on != "" {
		var err error
		if to, err = e.findServer(s.on); err != nil {
			return err
		}
	}
	config, err := e.userConfig(s.user)
	if err != nil {
		return err
	}
	config.Impersonate.UserName = s.impersonate
	ctx, end := context.WithCancel(ctx)
	c := &client{balancer: newBalancer(to), cancel: end, done: make(chan struct{})}
	e.clients[s.name] = c
	e.prepareClientConfig(config, s.name, c.balancer)
	go func() {
		defer close(c.done)
		defer end()
		for {
			c.err = run(ctx, rest.CopyConfig(config))
			if c.err == nil || s.restartAfter == 0 || ctx.Err() != nil {
				return
			}
			e.Note("client %s failed and is run again in %v: %v", s.name, s.restartAfter, c.err)
			c.balancer.closeConns()
			if sleep(ctx, s.restartAfter) != nil {
				return
			}
		}
	}()
	return nil
}

// prepareClientConfig makes config the configuration of a client under test.
func (e *Env) prepareClientConfig(config *rest.Config, name string, network *balancer) {
	config.UserAgent = name
	config.Dial = network.dial
	log := e.log.clientLog(name)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return observedTransport{next, log, network.label} })
}

// checkCanRun returns an error if a client still runs, or has failed and no step expected that.
func (e *Env) checkCanRun(name string) error {
	if e.clients[name] == nil {
		return nil
	}
	c, returned, err := e.startedClient(name)
	want := "client " + name + " to have returned, so that it can be run again"
	switch {
	case err != nil:
		return err
	case !returned:
		return mismatch{want, "it still runs"}
	case c.err != nil && !c.endExpected:
		return mismatch{want + " without an error", c.err.Error()}
	}
	return nil
}

// StopClient cancels the context of a running client under test and waits until it has returned,
// for at most a minute. It closes the connections that the client has left open, as at the end of a
// process, and ignores the error that the client returns.
func StopClient(name string) Step { return stopClient{name} }

type stopClient struct{ name string }

func (kinds) Stop() stepKind {
	return stepKind{"stop CLIENT", parseStop}
}

func parseStop(a *args) (Step, error) {
	name, err := parseName(a, "a client")
	return stopClient{name}, err
}

func (s stopClient) String() string { return "stop " + quote(s.name) }

func (s stopClient) Run(ctx context.Context, e *Env) error {
	c, err := e.runningClient(s.name)
	if err != nil {
		return err
	}
	if err := e.end(ctx, c, s.name); err != nil {
		return err
	}
	c.balancer.closeConns()
	return nil
}

// end cancels the context of a client and waits until it has returned, for at most a minute.
func (e *Env) end(ctx context.Context, c *client, name string) error {
	c.cancel()
	c.endExpected = true
	ctx, cancel := e.withRequestTimeout(ctx)
	defer cancel()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return mismatch{"client " + name + " to return when its context ends", fmt.Sprintf("it still runs %v later", requestTimeout)}
	}
}

// ExpectDone expects that a client under test has returned without an error.
func ExpectDone(client string) Step { return expectDone{client} }

type expectDone struct{ name string }

func (kinds) ExpectDone() stepKind {
	return stepKind{"expect done CLIENT", parseExpectDone}
}

func parseExpectDone(a *args) (Step, error) {
	name, err := parseName(a, "a client")
	return expectDone{name}, err
}

func (s expectDone) String() string { return "expect done " + quote(s.name) }

func (s expectDone) Run(_ context.Context, e *Env) error {
	c, returned, err := e.startedClient(s.name)
	want := "client " + s.name + " to have returned without an error"
	switch {
	case err != nil:
		return err
	case !returned:
		return mismatch{want, c.runningText()}
	case c.err != nil:
		return mismatch{want, c.err.Error()}
	}
	return nil
}

// ExpectFailed expects that a client under test has returned an error that contains text, which may
// be "".
func ExpectFailed(client, text string) Step { return expectFailed{client, text} }

type expectFailed struct{ name, text string }

func (kinds) ExpectFailed() stepKind {
	return stepKind{"expect failed CLIENT [TEXT]", parseExpectFailed}
}

func parseExpectFailed(a *args) (Step, error) {
	words, err := a.words(1, 2)
	if err != nil {
		return nil, err
	}
	return expectFailed{words[0], strings.Join(words[1:], "")}, nil
}

func (s expectFailed) String() string {
	text := ""
	if s.text != "" {
		text = quote(s.text)
	}
	return joinWords("expect failed", quote(s.name), text)
}

func (s expectFailed) Run(_ context.Context, e *Env) error {
	c, returned, err := e.startedClient(s.name)
	want := "client " + s.name + " to have failed with " + quote(s.text)
	switch {
	case err != nil:
		return err
	case !returned:
		return mismatch{want, c.runningText()}
	case c.err == nil:
		return mismatch{want, "it returned without an error"}
	case !strings.Contains(c.err.Error(), s.text):
		return mismatch{want, c.err.Error()}
	}
	c.endExpected = true
	return nil
}

// runningClient returns a client that has not returned.
func (e *Env) runningClient(name string) (*client, error) {
	c, returned, err := e.startedClient(name)
	switch {
	case err != nil:
		return nil, err
	case c.external:
		return nil, fmt.Errorf("client %s is external and cannot be controlled by steps", name)
	case !returned:
		return c, nil
	}
	saw := "it has returned without an error"
	if c.err != nil {
		saw = "it has returned: " + c.err.Error()
	}
	return nil, mismatch{"client " + name + " to run", saw}
}

// runningText describes why a client has not returned.
func (c *client) runningText() string {
	if c.external {
		return "it is external, and its return is not known"
	}
	return "it still runs"
}

// startedClient returns a client that was started and reports whether it has returned.
func (e *Env) startedClient(name string) (c *client, returned bool, err error) {
	c = e.clients[name]
	if c == nil {
		return nil, false, fmt.Errorf("no client %q was started", name)
	}
	e.waitIdle()
	select {
	case <-c.done:
		return c, true, nil
	default:
		return c, false, nil
	}
}
