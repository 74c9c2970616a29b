package scenario

import (
	"fmt"
	"strconv"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// View is how far the view of a replica is behind the store. [Current], [Frozen], [Lag] and [Delay]
// return one. The zero value is Current.
type View struct {
	mode  string // "" or the flag
	lag   uint
	delay time.Duration
}

// Flags of a View.
const (
	frozenFlag = "--frozen"
	lagFlag    = "--lag"
	delayFlag  = "--delay"
)

// Current returns a view that is not behind.
func Current() View { return View{} }

// Frozen returns a view that stays at the current state.
func Frozen() View { return View{mode: frozenFlag} }

// Lag returns a view that is behind by a number of changes.
func Lag(changes uint) View { return View{mode: lagFlag, lag: changes} }

// Delay returns a view that is behind by a duration.
func Delay(d time.Duration) View { return View{mode: delayFlag, delay: d} }

// String returns the flag with its value, or "" for Current.
func (v View) String() string {
	switch v.mode {
	case lagFlag:
		return lagFlag + " " + strconv.FormatUint(uint64(v.lag), 10)
	case delayFlag:
		return delayFlag + " " + v.delay.String()
	}
	return v.mode
}

// parseView parses the flags of a view, of which at most one is allowed.
func parseView(given flags) (View, error) {
	if len(given) > 1 {
		return View{}, fmt.Errorf("expected one of %s, %s and %s, found more", frozenFlag, lagFlag, delayFlag)
	}
	if _, ok := given[frozenFlag]; ok {
		return Frozen(), nil
	}
	if text, ok := given[lagFlag]; ok {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return View{}, fmt.Errorf("expected a number of changes after %s, found %q", lagFlag, text)
		}
		return Lag(uint(n)), nil
	}
	if text, ok := given[delayFlag]; ok {
		d, err := parseDuration(text, 0)
		return Delay(d), err
	}
	return Current(), nil
}

func (v View) applyTo(r *fakeapi.Replica) {
	switch v.mode {
	case frozenFlag:
		r.Freeze()
	case lagFlag:
		r.Lag(v.lag)
	case delayFlag:
		r.Delay(v.delay)
	default:
		r.CatchUp()
	}
}
