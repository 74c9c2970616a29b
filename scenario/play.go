package scenario

import "errors"

// Play runs a scenario, in the text form that [Parse] reads, as [Run] does, but
// without a test: in an example, or in a command. name is what messages call the
// text, usually the path of its file. The transcript is there also if the error
// is not nil.
//
// An error is a [*SyntaxError], a [*Failure], which names the step that failed, or
// says what else went wrong: a server that could not be started or closed, a client
// under test that never returns. Goroutines of such a client are left behind.
//
// It must not be called from within a testing/synctest bubble, since it makes one.
func Play(name, text string, config Config) (*Transcript, error) {
	s, err := parseScript(name, text)
	if err != nil {
		return nil, err
	}
	return playInBubble(config, s)
}

func playInBubble(config Config, s script) (*Transcript, error) {
	log := &Transcript{seed: config.Seed}
	b := newTBRecorder()
	ended := runInBubble(func() {
		b.addFirst(playTo(log, b, b.add, config, s))
		b.runCleanups()
	})
	return log, errors.Join(b.err(), ended)
}
