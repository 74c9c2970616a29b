package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
)

// runInBubble runs f on virtual time, without a test, and returns when f and all
// goroutines that it has started have. If they never do, or f panics, the error
// says so; without this it would be the end of the process.
func runInBubble(f func()) error {
	failed := make(chan error, 1)
	go func() {
		var id string // of the bubble
		var err error
		defer func() {
			if what := recover(); what != nil {
				err = errors.Join(err, bubbleError(what, id))
			}
			failed <- err
		}()
		// Nothing of a test is needed for a bubble, only a testing.T. Nobody touches
		// it: it can neither print nor fail.
		synctest.Test(new(testing.T), func(*testing.T) {
			id = bubbleID(dumpGoroutines(false))
			err = runIsolated(f)
		})
	}()
	return <-failed
}

// runIsolated runs f in a goroutine of its own, so that neither a panic nor a Goexit
// gets any further.
func runIsolated(f func()) error {
	done := make(chan error)
	go func() {
		err := errors.New("scenario: a goroutine of the steps has left early, as t.FailNow does; return an error instead")
		defer func() {
			if what := recover(); what != nil {
				err = fmt.Errorf("scenario: panic: %v\n%s", what, debug.Stack())
			}
			done <- err
		}()
		f()
		err = nil
	}()
	return <-done
}

// bubbleError is the error for a bubble that the runtime has given up, with what
// its goroutines wait for.
func bubbleError(what any, id string) error {
	err, ok := what.(error)
	if !ok || !strings.Contains(err.Error(), "deadlock") {
		return fmt.Errorf("scenario: panic: %v\n%s", what, debug.Stack())
	}
	text := "scenario: what the run has started never ends: it waits, and no timer is left that could wake it. " +
		"A client under test must return, with all that it has started, when its context ends."
	return fmt.Errorf("%s\n%s", text, strings.Join(blockedGoroutines(dumpGoroutines(true), id), "\n"))
}

// maxStacks bounds how many goroutines such an error has.
const maxStacks = 10

// ownGoroutine begin those that run a scenario and its server, or connect to it: when
// a bubble is stuck they wait for the one that is looked for.
var ownGoroutine = regexp.MustCompile(`\ncreated by (testing/synctest\.|net/http\.|example\.com/fakeapi/(fake\.|fake/|scenario\.runIsolated |scenario\.runInBubble))`)

// blockedGoroutines picks the goroutines of a bubble from a dump of all.
func blockedGoroutines(dump, id string) (stacks []string) {
	for goroutine := range strings.SplitSeq(strings.TrimSpace(dump), "\n\n") {
		if id == "" || bubbleID(goroutine) != id || ownGoroutine.MatchString(goroutine) {
			continue
		}
		if len(stacks) == maxStacks {
			return append(stacks, "    ...")
		}
		stacks = append(stacks, indent(goroutine))
	}
	return stacks
}

// bubblePattern is how the head of a stack names the goroutine's bubble.
var bubblePattern = regexp.MustCompile(`synctest bubble \d+`)

// bubbleID finds the bubble of the first goroutine in a dump, "" for none.
func bubbleID(dump string) string {
	head, _, _ := strings.Cut(dump, "\n")
	return bubblePattern.FindString(head)
}

// dumpGoroutines is the dump of this goroutine or of all; a long one is cut off.
func dumpGoroutines(all bool) string {
	buffer := make([]byte, 1<<20)
	return string(buffer[:runtime.Stack(buffer, all)])
}
