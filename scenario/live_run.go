package scenario

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// LiveRun is a scenario on real time, on a server that clients under test reach over the network:
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
	s := &LiveRun{config: config, script: script, traffic: newTrafficMonitor(script, config)}
	if i := slices.IndexFunc(s.traffic.clientNames, func(name string) bool { return strings.HasPrefix(stepUserAgent, name) }); i >= 0 {
		return nil, fmt.Errorf("%s: an external client cannot be called %s, because the user agent of steps begins with that name",
			name, s.traffic.clientNames[i])
	}
	options := append([]fakeapi.Option{fakeapi.WithSeed(config.Seed)}, config.Options...)
	s.server, err = fakeapi.New(append(options, fakeapi.WithMiddleware(s.traffic.handler))...)
	return s, err
}

// Server returns the server.
func (s *LiveRun) Server() *fakeapi.Server { return s.server }

// ExternalClients returns the names of the clients under test that are not in [Config.Clients], in
// the order of the steps that run them.
func (s *LiveRun) ExternalClients() []string { return s.traffic.clientNames }

// Play runs the steps once, or until ctx is done. It writes the transcript to out, which may be
// nil, line by line: the steps and their results, and the requests of clients under test when they
// are answered. It ignores errors of out.
//
// Transcript and error are those of [Play]. If ctx is done, the error is that of the interrupted
// step and matches ctx.Err().
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

// Close closes the server.
func (s *LiveRun) Close() error {
	if err := s.server.Close(); err != nil {
		return fmt.Errorf("scenario: closing the server: %w", err)
	}
	return nil
}
