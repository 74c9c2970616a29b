package scenario

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// Stage is a scenario that is to be played in real time, on a server that clients
// under test reach over the network: in other processes, in other languages. The
// package documentation says what is different in real time.
type Stage struct {
	config Config
	script script
	server *fakeapi.Server
	wire   *wire
}

// NewStage reads the text of a scenario, as [Play] does, and makes the server that it
// will play on, which answers requests at once. The server is on a network unless the
// options of config say otherwise; those of [Config.Clients] run in this process, and
// all other clients under test are guests, who come over the network. An error of
// the text is a [*SyntaxError]. Close the Stage.
func NewStage(name, text string, config Config) (*Stage, error) {
	script, err := parseScript(name, text)
	if err != nil {
		return nil, err
	}
	s := &Stage{config: config, script: script, wire: newWire(script, config)}
	if i := slices.IndexFunc(s.wire.names, func(name string) bool { return strings.HasPrefix(stepsAgent, name) }); i >= 0 {
		return nil, fmt.Errorf("%s: no client over the network can be called %s: the requests of steps have a user agent that begins so",
			name, s.wire.names[i])
	}
	options := append([]fakeapi.Option{fakeapi.WithSeed(config.Seed)}, config.Options...)
	s.server, err = fakeapi.New(append(options, fakeapi.WithMiddleware(s.wire.handler))...)
	return s, err
}

// Server is the server of the stage.
func (s *Stage) Server() *fakeapi.Server { return s.server }

// Guests are the names of the clients under test that come over the network, in the
// order of the steps that run them.
func (s *Stage) Guests() []string { return s.wire.names }

// Play runs the steps, once, until ctx ends. Meanwhile it writes the transcript to
// out, which may be nil, a line at a time: the steps and what they led to, and between
// them the requests of clients under test as they are answered. Errors of out do not
// matter.
//
// Transcript and error are those of [Play]. When ctx has ended, the error is that of
// the step that was left, and is ctx.Err() too.
func (s *Stage) Play(ctx context.Context, out io.Writer) (*Transcript, error) {
	log := &Transcript{seed: s.config.Seed, coarse: true}
	if out != nil {
		log.follow = func(line string) { _, _ = io.WriteString(out, line+"\n") }
	}
	e := newEnv(s.config, s.server, log)
	e.wire = s.wire
	e.settled = func() { s.wire.settle(ctx, s.server) }
	s.wire.play()
	log.opening()
	all := newBackstage()
	all.lead(e.run(ctx, all.note, s.script))
	return log, all.result()
}

// Close ends the server.
func (s *Stage) Close() error {
	if err := s.server.Close(); err != nil {
		return fmt.Errorf("scenario: closing the server: %w", err)
	}
	return nil
}
