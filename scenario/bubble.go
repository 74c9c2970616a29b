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

// runInBubble runs f in a testing/synctest bubble without a test. It returns when f and all
// goroutines that it started have returned. It returns an error if f panics or the bubble is
// deadlocked, which would otherwise end the process.
func runInBubble(f func()) error {
	failed := make(chan error, 1)
	go func() {
		var id string // of the bubble
		var err error
		defer func() {
			if recovered := recover(); recovered != nil {
				err = errors.Join(err, bubbleError(recovered, id))
			}
			failed <- err
		}()
		// A bubble needs a testing.T, but this one is never used: it can neither log nor fail.
		synctest.Test(new(testing.T), func(*testing.T) {
			id = bubbleID(dumpGoroutines(false))
			err = runIsolated(f)
		})
	}()
	return <-failed
}

// runIsolated runs f in a goroutine and turns a panic or runtime.Goexit into an error.
func runIsolated(f func()) error {
	done := make(chan error)
	go func() {
		err := errors.New("scenario: the goroutine of the steps called runtime.Goexit, as t.FailNow does; return an error instead")
		defer func() {
			if recovered := recover(); recovered != nil {
				err = fmt.Errorf("scenario: panic: %v\n%s", recovered, debug.Stack())
			}
			done <- err
		}()
		f()
		err = nil
	}()
	return <-done
}

// bubbleError returns the error for a panic in a bubble. For a deadlock it has the stacks of the
// goroutines that wait.
func bubbleError(recovered any, id string) error {
	err, ok := recovered.(error)
	if !ok || !strings.Contains(err.Error(), "deadlock") {
		return fmt.Errorf("scenario: panic: %v\n%s", recovered, debug.Stack())
	}
	text := "scenario: the run is deadlocked: its goroutines wait, and there is no timer that could wake them. " +
		"A client under test must return, and end all goroutines that it has started, when its context is done."
	return fmt.Errorf("%s\n%s", text, strings.Join(blockedGoroutines(dumpGoroutines(true), id), "\n"))
}

// maxStacks limits the number of stacks in the error.
const maxStacks = 10

// ownGoroutine matches the stacks of goroutines of this module, net/http and synctest. In a
// deadlock they wait for the goroutine that is the cause.
var ownGoroutine = regexp.MustCompile(`\ncreated by (testing/synctest\.|net/http\.|example\.com/fakeapi/(fake\.|fake/|scenario\.runIsolated |scenario\.runInBubble))`)

// blockedGoroutines returns the stacks of the goroutines of a bubble from a dump, without those of
// ownGoroutine.
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

// bubblePattern matches the name of the bubble in the first line of a stack.
var bubblePattern = regexp.MustCompile(`synctest bubble \d+`)

// bubbleID returns the name of the bubble of the first goroutine in a dump, or "".
func bubbleID(dump string) string {
	head, _, _ := strings.Cut(dump, "\n")
	return bubblePattern.FindString(head)
}

// dumpGoroutines returns the stack of this goroutine or of all, limited to 1 MiB.
func dumpGoroutines(all bool) string {
	buffer := make([]byte, 1<<20)
	return string(buffer[:runtime.Stack(buffer, all)])
}
