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

// inBubble runs f on virtual time, without a test, and returns when f and all
// goroutines that it has started have. If they never do, or f panics, the error
// says so; without this it would be the end of the process.
func inBubble(f func()) error {
	failed := make(chan error, 1)
	go func() {
		var id string // of the bubble
		var err error
		defer func() {
			if what := recover(); what != nil {
				err = errors.Join(err, deadlocked(what, id))
			}
			failed <- err
		}()
		// Nothing of a test is needed for a bubble, only a testing.T. Nobody touches
		// it: it can neither print nor fail.
		synctest.Test(new(testing.T), func(*testing.T) {
			id = bubbleOf(stack(false))
			err = guarded(f)
		})
	}()
	return <-failed
}

// guarded runs f in a goroutine of its own, so that neither a panic nor a Goexit
// gets any further.
func guarded(f func()) error {
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

// deadlocked is the error for a bubble that the runtime has given up, with what
// its goroutines wait for.
func deadlocked(what any, id string) error {
	err, ok := what.(error)
	if !ok || !strings.Contains(err.Error(), "deadlock") {
		return fmt.Errorf("scenario: panic: %v\n%s", what, debug.Stack())
	}
	text := "scenario: what the run has started never ends: it waits, and no timer is left that could wake it. " +
		"A client under test must return, with all that it has started, when its context ends."
	return fmt.Errorf("%s\n%s", text, strings.Join(waiting(stack(true), id), "\n"))
}

// stacksShown bounds how many goroutines such an error has.
const stacksShown = 10

// ownGoroutines begin those that run a scenario and its server, or connect to it: when
// a bubble is stuck they wait for the one that is looked for.
var ownGoroutines = regexp.MustCompile(`\ncreated by (testing/synctest\.|net/http\.|example\.com/fakeapi/(fake\.|fake/|scenario\.guarded |scenario\.inBubble))`)

// waiting picks the goroutines of a bubble from a dump of all.
func waiting(dump, id string) (stacks []string) {
	for goroutine := range strings.SplitSeq(strings.TrimSpace(dump), "\n\n") {
		if id == "" || bubbleOf(goroutine) != id || ownGoroutines.MatchString(goroutine) {
			continue
		}
		if len(stacks) == stacksShown {
			return append(stacks, "    ...")
		}
		stacks = append(stacks, indent(goroutine))
	}
	return stacks
}

// inItsBubble is how the head of a stack names the goroutine's bubble.
var inItsBubble = regexp.MustCompile(`synctest bubble \d+`)

// bubbleOf finds the bubble of the first goroutine in a dump, "" for none.
func bubbleOf(dump string) string {
	head, _, _ := strings.Cut(dump, "\n")
	return inItsBubble.FindString(head)
}

// stack is the dump of this goroutine or of all; a long one is cut off.
func stack(all bool) string {
	buffer := make([]byte, 1<<20)
	return string(buffer[:runtime.Stack(buffer, all)])
}
