package scenario

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// LiveRun is a scenario that is to be played in real time, on a server that clients
// under test reach over the network: in other processes, in other languages. The
// package documentation says what is different in real time.
type LiveRun struct {
	config  Config
	script  script
	server  *fakeapi.Server
	traffic *trafficMonitor
}

// NewLiveRun reads the text of a scenario, as [Play] does, and makes the server that it
// will play on, which answers requests at once. The server is on a network unless the
// options of config say otherwise; those of [Config.Clients] run in this process, and
// all other clients under test are guests, who come over the network. An error of
// the text is a [*SyntaxError]. Close the Stage.
func NewLiveRun(name, text string, config Config) (*LiveRun, error) {
	script, err := parseScript(name, text)
	if err != nil {
		return nil, err
	}
	s := &LiveRun{config: config, script: script, traffic: newWire(script, config)}
	if i := slices.IndexFunc(s.traffic.clientNames, func(name string) bool { return strings.HasPrefix(stepUserAgent, name) }); i >= 0 {
		return nil, fmt.Errorf("%s: no client over the network can be called %s: the requests of steps have a user agent that begins so",
			name, s.traffic.clientNames[i])
	}
	options := append([]fakeapi.Option{fakeapi.WithSeed(config.Seed)}, config.Options...)
	s.server, err = fakeapi.New(append(options, fakeapi.WithMiddleware(s.traffic.handler))...)
	return s, err
}

// Server is the server of the stage.
func (s *LiveRun) Server() *fakeapi.Server { return s.server }

// ExternalClients are the names of the clients under test that come over the network, in the
// order of the steps that run them.
func (s *LiveRun) ExternalClients() []string { return s.traffic.clientNames }

// Play runs the steps, once, until ctx ends. Meanwhile it writes the transcript to
// out, which may be nil, a line at a time: the steps and what they led to, and between
// them the requests of clients under test as they are answered. Errors of out do not
// matter.
//
// Transcript and error are those of [Play]. When ctx has ended, the error is that of
// the step that was left, and is ctx.Err() too.
func (s *LiveRun) Play(ctx context.Context, out io.Writer) (*Transcript, error) {
	log := &Transcript{seed: s.config.Seed, roundTimes: true}
	if out != nil {
		log.onLine = func(line string) { _, _ = io.WriteString(out, line+"\n") }
	}
	e := newEnv(s.config, s.server, log)
	e.traffic = s.traffic
	e.waitIdleFunc = func() { s.traffic.waitIdle(ctx, s.server) }
	s.traffic.startRecording()
	log.emitSeed()
	all := newTBRecorder()
	all.addFirst(e.runScript(ctx, all.add, s.script))
	return log, all.err()
}

// Close ends the server.
func (s *LiveRun) Close() error {
	if err := s.server.Close(); err != nil {
		return fmt.Errorf("scenario: closing the server: %w", err)
	}
	return nil
}
