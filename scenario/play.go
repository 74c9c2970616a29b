package scenario

import (
	"cmp"
	"errors"
	"testing"
	"testing/synctest"
)

// Play runs a scenario, in the text form that [Parse] reads, as [Run] does, but
// without a test: in an example, or in a command. name is what messages call the
// text, usually the path of its file. The transcript is there also if the error,
// which names the step that failed, is not nil.
//
// It must not be called from within a testing/synctest bubble, since it makes one.
func Play(name, text string, config Config) (*Transcript, error) {
	s, err := parseScript(name, text)
	if err != nil {
		return nil, err
	}
	var log *Transcript
	var late error
	stuck := func(message string) { late = errors.New(message) }
	ended := inBubble(func(t *testing.T) { log, err = play(t, stuck, config, s) })
	return log, cmp.Or(err, late, ended)
}

// inBubble runs f on virtual time. Nothing of a test is needed for that, only a
// testing.T; if that one fails, the error says so.
func inBubble(f func(*testing.T)) error {
	failed := make(chan error, 1)
	go func() {
		err := errors.New("scenario: the bubble did not end well")
		defer func() { failed <- err }()
		synctest.Test(new(testing.T), f)
		err = nil
	}()
	return <-failed
}
