package scenario

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// LiveRun is a scenario in real time, on a server that clients under test reach over the network:
// in other processes, or written in other languages. The package documentation describes the
// differences.
type LiveRun struct {
	config  Config
	script  script
	server  *fakeapi.Server
	traffic *trafficMonitor
}

// NewLiveRun parses the text of a scenario, as [Play] does, and starts its server, which serves
// requests at once. The server listens on a network unless the options of config prevent it. The
// clients in [Config.Clients] run in this process, and all other clients under test are external.
// An error of the text is a [*SyntaxError]. The caller must close the LiveRun.
func NewLiveRun(name, text string, config Config) (*LiveRun, error) {
	script, err := parseScript(name, text)
	if err != nil {
		return nil, err
	}
	return newLiveRun(name, script, config)
}

// NewLiveRunOfSteps is [NewLiveRun] for steps that are not from a file, which may be of types
// outside of this package.
func NewLiveRunOfSteps(config Config, steps ...Step) (*LiveRun, error) {
	return newLiveRun("steps", newScript(steps), config)
}

func newLiveRun(name string, script script, config Config) (*LiveRun, error) {
	r := &LiveRun{config: config, script: script, traffic: newTrafficMonitor(script, config)}
	if i := slices.IndexFunc(r.traffic.clientNames, func(name string) bool { return strings.HasPrefix(stepUserAgent, name) }); i >= 0 {
		return nil, fmt.Errorf("%s: an external client cannot be called %s, because the user agent of steps begins with that name",
			name, r.traffic.clientNames[i])
	}
	server, err := fakeapi.New(append(script.serverOptions(config), fakeapi.WithMiddleware(r.traffic.handler))...)
	if err != nil {
		return nil, err
	}
	r.server = server
	return r, nil
}

// Server returns the server.
func (r *LiveRun) Server() *fakeapi.Server { return r.server }

// ExternalClients returns the names of the clients under test that are not in [Config.Clients], in
// the order of the steps that run them.
func (r *LiveRun) ExternalClients() []string { return r.traffic.clientNames }

// Play runs the steps once, or until ctx is done. It writes the transcript to out, which may be
// nil, line by line: the steps and their results, and the requests of clients under test when they
// are answered. It ignores errors of out.
//
// Transcript and error are those of [Play]. If ctx is done, the error is that of the interrupted
// step and matches ctx.Err().
func (r *LiveRun) Play(ctx context.Context, out io.Writer) (*Transcript, error) {
	log := &Transcript{seed: r.config.Seed, roundTimes: true}
	if out != nil {
		log.onLine = func(line string) { _, _ = io.WriteString(out, line+"\n") }
	}
	e := newEnv(r.config, r.server, log)
	e.traffic = r.traffic
	e.waitIdleFunc = func() { r.traffic.waitIdle(ctx, r.server) }
	r.traffic.startRecording()
	log.emitSeed()
	recorder := newTBRecorder()
	recorder.addFirst(e.runScript(ctx, recorder.add, r.script))
	return log, recorder.err()
}

// Close closes the server.
func (r *LiveRun) Close() error {
	if err := r.server.Close(); err != nil {
		return fmt.Errorf("scenario: closing the server: %w", err)
	}
	return nil
}
