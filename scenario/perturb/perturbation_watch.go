package perturb

import (
	"time"

	"example.com/fakeapi/scenario"
)

// streamed is a perturbation of a watch at an event.
type streamed struct {
	*place
	name, variant, effect string
	then                  []scenario.Step // run when the rule is applied
	order                 int
	// quiet are quiet forms.
	quiet []perturbation
}

func (s streamed) kind() string         { return s.name }
func (s streamed) cost() int            { return s.order }
func (s streamed) tolerance() tolerance { return tolerance{quiet: s.quiet} }

func (s streamed) where() string {
	if s.variant == "" {
		return s.String()
	}
	return s.variant + ": " + s.String()
}

func (s streamed) additions() additions {
	return additions{before: append([]scenario.Step{rule(s.when(""), s.effect)}, atHit(s.then...)...), rules: []string{ruleName}}
}

// expireKind returns the kind that ends a watch at an event when the history is forgotten, so that
// the client gets 410 Expired for its resourceVersion.
func expireKind() Kind {
	return Kind{
		Name:      "expire",
		Imitates:  "a watch breaks and the history is compacted before the client is back, so that its resourceVersion is too old",
		Catalogue: []int{1, 2, 48},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, p := range r.notable(full) {
				if full || !p.initial {
					all = append(all, streamed{p, "expire", "", "delay(1s), end", []scenario.Step{scenario.Expire()}, 1, nil})
				}
			}
			return all
		},
	}
}

// missKind returns the kind in which a client does not see an event, and maybe those after it, but
// lists again: states in between are not seen, and deletions only by the absence of the object.
func missKind() Kind {
	return Kind{
		Name:      "miss",
		Imitates:  "the client is away while objects change, and lists again: states in between are missed, a deletion is only visible as a tombstone",
		Catalogue: []int{22, 23},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, p := range r.notable(full) {
				all = append(all, streamed{p, "miss", "", "error(410)", nil, 0, nil})
				if gap := r.gap(p); gap > time.Second {
					all = append(all, streamed{p, "miss", "until the next step", "delay(" + gap.String() + "), error(410)", nil, 1, r.downtimes(p)})
				}
			}
			return all
		},
	}
}

// cutKind returns the kind that breaks a watch at an event, which the client gets after it has
// connected again.
func cutKind() Kind {
	return Kind{
		Name:      "cut",
		Imitates:  "a watch breaks: a connection that is reset, a server that restarts, a timeout",
		Catalogue: []int{4, 6, 17},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, p := range r.notable(full) {
				if full || !p.initial {
					all = append(all, streamed{p, "cut", "", "reset", nil, 3, nil})
				}
				if full {
					all = append(all, streamed{p, "cut", "cleanly", "end", nil, 4, nil})
				}
			}
			return all
		},
	}
}

// delayKind returns the kind that delays one watch, so that the client sees the changes of
// resources in another order.
func delayKind() Kind {
	return Kind{
		Name:      "delay",
		Imitates:  "one watch is behind the others, so that changes of two resources are seen in the wrong order",
		Catalogue: []int{15, 46},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, p := range r.notable(full) {
				if gap := r.gap(p); gap > time.Second {
					all = append(all, streamed{p, "delay", "until the next step", "delay(" + gap.String() + ")", nil, 1, nil})
				}
				all = append(all, streamed{p, "delay", "for 3s", "delay(3s)", nil, 2, nil})
			}
			return all
		},
	}
}

// bookmarkKind returns the kind in which a client gets no bookmarks.
func bookmarkKind() Kind {
	return Kind{
		Name:      "bookmarks",
		Imitates:  "a server or proxy that sends no bookmarks, so that resourceVersions of quiet resources get old",
		Catalogue: []int{27},
		find: func(r *reference, _ bool) (all []perturbation) {
			type watched struct{ client, resource string }
			seen := map[watched]bool{}
			for _, p := range r.requests {
				key := watched{p.client, p.groupResource()}
				if p.verb != "watch" || seen[key] {
					continue
				}
				seen[key] = true
				all = append(all, noBookmarks{p})
			}
			return all
		},
	}
}

type noBookmarks struct{ *place }

func (b noBookmarks) kind() string         { return "bookmarks" }
func (b noBookmarks) where() string        { return b.groupResource() + " for " + b.client }
func (b noBookmarks) cost() int            { return 3 }
func (b noBookmarks) tolerance() tolerance { return tolerance{} }

func (b noBookmarks) additions() additions {
	p := place{client: b.client, verb: "watch", group: b.group, resource: b.resource, nth: 1}
	when := p.condition("event(BOOKMARK)", "!initialEventsEnd")
	return additions{before: []scenario.Step{rule(when, "drop")}}
}
