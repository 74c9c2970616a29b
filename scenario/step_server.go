package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// NotReady makes the server reinitialize its watch cache for d. All watches end. Until then new
// watches, and lists that the cache would answer, are answered 429 with a Retry-After. 0 ends an
// initialization.
func NotReady(d time.Duration) Step { return notReady{d} }

type notReady struct{ d time.Duration }

func (kinds) NotReady() stepKind {
	return stepKind{"not ready DURATION", parseNotReady}
}

func parseNotReady(a *args) (Step, error) {
	d, err := parseDurationOnly(a, 0)
	return notReady{d}, err
}

func (s notReady) String() string { return "not ready " + s.d.String() }

func (s notReady) Run(_ context.Context, e *Env) error {
	e.Server().ReinitializeCache(s.d)
	return nil
}

func (s notReady) simplifications() []Step {
	return shorterDurations(s.d, func(d time.Duration) Step { return notReady{d} })
}

// Skew sets the server's clock ahead by d, or behind if d is negative. Durations are not affected.
func Skew(d time.Duration) Step { return skew{d} }

type skew struct{ d time.Duration }

func (kinds) Skew() stepKind {
	return stepKind{"skew DURATION", parseSkew}
}

func parseSkew(a *args) (Step, error) {
	d, err := parseDurationOnly(a, math.MinInt64)
	return skew{d}, err
}

func (s skew) String() string { return "skew " + s.d.String() }

func (s skew) Run(_ context.Context, e *Env) error {
	e.Server().SkewClock(s.d)
	return nil
}

// parseDurationOnly parses a line of one duration of at least least.
func parseDurationOnly(a *args, least time.Duration) (time.Duration, error) {
	d, err := a.duration(least)
	if err == nil {
		_, err = a.words(0, 0)
	}
	return d, err
}

// Shutdown shuts the server down gracefully. Watches end, requests in flight may finish, and
// connections are refused until [Restart]. The server keeps its objects.
func Shutdown() Step { return shutdown{} }

type shutdown struct{}

func (kinds) Shutdown() stepKind {
	return stepKind{"shutdown", parseBare(Shutdown())}
}

func (shutdown) String() string { return "shutdown" }

func (shutdown) Run(_ context.Context, e *Env) error { return e.Server().Shutdown() }

// Restart lets the server serve again. For the duration startup it answers 503 with a Retry-After,
// as a server that is starting.
func Restart(startup time.Duration) Step { return restart{startup} }

type restart struct{ startup time.Duration }

func (kinds) Restart() stepKind {
	return stepKind{"restart [STARTUP]", parseRestart}
}

func parseRestart(a *args) (Step, error) {
	words, err := a.words(0, 1)
	if err != nil || len(words) == 0 {
		return restart{}, err
	}
	d, err := parseDuration(words[0], 0)
	return restart{d}, err
}

func (s restart) String() string {
	if s.startup == 0 {
		return "restart"
	}
	return "restart " + s.startup.String()
}

func (s restart) Run(_ context.Context, e *Env) error { return e.Server().Restart(s.startup) }

func (s restart) simplifications() []Step {
	if s.startup == 0 {
		return nil
	}
	return append([]Step{restart{}}, shorterDurations(s.startup, func(d time.Duration) Step { return restart{d} })...)
}

// Feature enables or disables a feature of the server by the name of its Kubernetes feature gate,
// such as fakeapi.WatchList.
func Feature(f fakeapi.Feature, on bool) Step { return feature{f, on} }

type feature struct {
	name fakeapi.Feature
	on   bool
}

func (kinds) Feature() stepKind {
	return stepKind{"feature NAME on|off", parseFeature}
}

func parseFeature(a *args) (Step, error) {
	words, err := a.words(2, 2)
	if err != nil {
		return nil, err
	}
	if words[1] != "on" && words[1] != "off" {
		return nil, fmt.Errorf("expected on or off, found %q", words[1])
	}
	return feature{fakeapi.Feature(words[0]), words[1] == "on"}, nil
}

func (s feature) String() string {
	to := "off"
	if s.on {
		to = "on"
	}
	return "feature " + quote(string(s.name)) + " " + to
}

func (s feature) Run(_ context.Context, e *Env) error { return e.Server().SetFeature(s.name, s.on) }

// Discovery makes the discovery of API groups faulty. action names a method of fakeapi.Discovery:
// hide, fail, stale or flap. The action reset ends that, without groups for all of them.
func Discovery(action string, groups ...string) Step {
	return discoveryStep{action, cloneSlice(groups)}
}

type discoveryStep struct {
	action string
	groups []string
}

// discoveryActions returns the methods of d by the names of the actions.
func discoveryActions(d *fakeapi.Discovery) map[string]func(...string) error {
	return map[string]func(...string) error{"hide": d.Hide, "fail": d.Fail, "stale": d.MarkStale, "flap": d.Flap, "reset": d.Reset}
}

func (kinds) Discovery() stepKind {
	return stepKind{"discovery hide|fail|stale|flap|reset [GROUP ...]", parseDiscovery}
}

func parseDiscovery(a *args) (Step, error) {
	words, err := a.words(1, -1)
	if err != nil {
		return nil, err
	}
	s := discoveryStep{words[0], cloneSlice(words[1:])}
	return s, s.validate()
}

func (s discoveryStep) validate() error {
	if known := discoveryActions(nil); known[s.action] == nil {
		return fmt.Errorf("expected one of %s, found %q", strings.Join(slices.Sorted(maps.Keys(known)), ", "), s.action)
	}
	if s.action != "reset" && len(s.groups) == 0 {
		return errors.New("expected an API group, found none")
	}
	return nil
}

func (s discoveryStep) String() string {
	return joinWords("discovery", quote(s.action), strings.Join(quoteAll(s.groups), " "))
}

func (s discoveryStep) Run(_ context.Context, e *Env) error {
	if err := s.validate(); err != nil {
		return err
	}
	return discoveryActions(e.Server().Discovery())[s.action](s.groups...)
}

func (s discoveryStep) simplifications() (steps []Step) {
	for i := range s.groups {
		if len(s.groups) > 1 { // reset without groups is for all
			steps = append(steps, discoveryStep{s.action, slices.Concat(s.groups[:i], s.groups[i+1:])})
		}
	}
	return steps
}
