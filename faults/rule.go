package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/fakeapi/internal/requestinfo"
)

// Rule is a condition on operations and the effects to apply. A Rule is a value: adding it to a
// [Set] does not change it, and [Parse] reads the text that String returns.
type Rule struct {
	// Name identifies the rule in hits and messages. It may be "".
	Name string
	// When is the condition. nil is [Always].
	When Pred
	// Do has the effects, at least one, in the order in which they are applied. An effect that
	// completes the response or the frame must be the last.
	Do []Effect
}

// String returns the text form "NAME: when CONDITION do EFFECT, EFFECT".
func (r Rule) String() string {
	var b strings.Builder
	if r.Name != "" {
		b.WriteString(quote(r.Name) + ": ")
	}
	b.WriteString("when " + r.condition().String() + " do ")
	for i, e := range r.Do {
		if i > 0 {
			b.WriteString(", ")
		}
		if e == nil {
			b.WriteString("nil")
			continue
		}
		b.WriteString(e.String())
	}
	return b.String()
}

func (r Rule) condition() Pred {
	if r.When == nil {
		return Always()
	}
	return r.When
}

// label identifies the rule in messages.
func (r Rule) label() string {
	if r.Name != "" {
		return r.Name
	}
	return r.String()
}

// Validate returns the error with which [Set.Add] would reject the rule: an argument is invalid,
// nothing can match the condition, or an effect does not support the phases of the rule.
func (r Rule) Validate() error {
	_, err := r.activePhases()
	if err != nil {
		return fmt.Errorf("fault rule %q: %w", r.label(), err)
	}
	return nil
}

// activePhases returns the phases in which the rule is active, at least one.
func (r Rule) activePhases() (phaseSet, error) {
	if err := r.condition().check(); err != nil {
		return noPhases, err
	}
	if err := r.checkEffects(); err != nil {
		return noPhases, err
	}
	supported := allPhases
	for _, e := range r.Do {
		supported &= supportedPhases(e)
	}
	if supported == noPhases {
		return noPhases, errors.New("no phase is supported by all of its effects: " + r.describeSupportedPhases())
	}
	possible := matchingPhases(r.condition())
	if possible == noPhases {
		return noPhases, r.unmatchable()
	}
	if err := r.checkWebhookEffects(); err != nil {
		return noPhases, err
	}
	active := possible & supported
	switch {
	case selectsPhase(r.condition()) && active != possible:
		return noPhases, fmt.Errorf("its condition selects: %s; but %s", possible, r.describeSupportedPhases())
	case active == noPhases:
		return noPhases, fmt.Errorf("its condition can match in: %s; but %s", possible, r.describeSupportedPhases())
	case !selectsPhase(r.condition()):
		active = phaseSetOf(active.list()[0])
	}
	return active, r.checkWatchOnly(active)
}

// unmatchable returns the error for a condition that nothing can match.
func (r Rule) unmatchable() error {
	if r.MatchesWebhooks() {
		return errors.New("nothing can match its condition (calls of webhooks have the phases before and committed, " +
			"and are not caused by lists and watches)")
	}
	return errors.New("nothing can match its condition (frames belong to watches, watches have no " +
		"committed phase, event() and initialEventsEnd match frames, code() matches committed responses)")
}

func (r Rule) checkEffects() error {
	if len(r.Do) == 0 {
		return errors.New("it has no effects")
	}
	for i, e := range r.Do {
		if e == nil {
			return errors.New("an effect is nil")
		}
		if err := e.check(); err != nil {
			return err
		}
		if e.isFinal() && i < len(r.Do)-1 && r.Do[i+1] != nil {
			return fmt.Errorf("%s must be the last effect, because it completes the response or the frame: %s cannot follow", e, r.Do[i+1])
		}
	}
	return nil
}

// checkWatchOnly returns an error if a rule with an effect for watches only can match other
// requests.
func (r Rule) checkWatchOnly(active phaseSet) error {
	if !active.has(Before) {
		return nil
	}
	i := slices.IndexFunc(r.Do, func(e Effect) bool { _, ok := e.(watchOnlyEffect); return ok })
	if i < 0 {
		return nil
	}
	if verbs := matchingVerbs(r.condition(), Before); !slices.Equal(verbs, []string{requestinfo.Watch}) {
		return fmt.Errorf("%s is for watches only, and its condition matches other requests too: add verb(watch), "+
			"or use during(stream) to act on frames", r.Do[i])
	}
	return nil
}

// describeSupportedPhases lists the phases that each effect supports.
func (r Rule) describeSupportedPhases() string {
	texts := make([]string, len(r.Do))
	for i, e := range r.Do {
		texts[i] = fmt.Sprintf("%s can be applied in: %s", e, supportedPhases(e))
	}
	return strings.Join(texts, "; ")
}
