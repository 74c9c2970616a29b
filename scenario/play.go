package scenario

import "errors"

// Play runs a scenario from the text format of [Parse], as [Run] does, but without a test, such as
// in an example or a command. name is the name of the file in messages. Play returns the transcript
// in any case.
//
// The error is a [*SyntaxError], a [*Failure] for the step that failed, or another error if the
// server cannot be started or closed or a client under test does not return. The goroutines of such
// a client keep running.
//
// Play creates a testing/synctest bubble, so it must not be called in one.
func Play(name, text string, config Config) (*Transcript, error) {
	s, err := parseScript(name, text)
	if err != nil {
		return nil, err
	}
	return playInBubble(config, s)
}

// PlaySteps is [Play] for steps that are not from a file, which may be of types outside of this
// package.
func PlaySteps(config Config, steps ...Step) (*Transcript, error) {
	return playInBubble(config, newScript(steps))
}

func playInBubble(config Config, s script) (*Transcript, error) {
	log := &Transcript{seed: config.Seed}
	recorder := newTBRecorder()
	ended := runInBubble(func() {
		recorder.addFirst(playTo(log, recorder, recorder.add, config, s))
		recorder.runCleanups()
	})
	return log, errors.Join(recorder.err(), ended)
}
