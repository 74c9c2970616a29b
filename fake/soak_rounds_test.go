package fakeapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// play is one round: everybody does some things in the midst of trouble, and when there is
// calm again the accounts are settled. It gives what is wrong with them.
func (s *soak) play() []string {
	s.round++
	s.calm.Store(false)
	var clients, trouble sync.WaitGroup
	over := make(chan struct{})
	trouble.Go(func() { s.trouble.make(over) })
	for _, g := range s.groups {
		for _, c := range g.clients {
			clients.Go(func() {
				for range s.ops {
					time.Sleep(time.Duration(c.rng.IntN(6)) * 2 * time.Millisecond) // coarse, so that they meet
					c.act()
				}
			})
		}
	}
	for _, o := range s.onlookers {
		clients.Go(func() {
			for range s.ops {
				time.Sleep(time.Duration(o.rng.IntN(6)) * 2 * time.Millisecond)
				o.look()
			}
		})
	}
	clients.Wait()
	close(over)
	trouble.Wait()
	s.calm.Store(true)
	time.Sleep(time.Second) // whatever a fault holds back has come
	return s.settle()
}

// settlement is all that is known of a round.
type settlement struct {
	kinds       []kind
	since, last uint64
	base, there map[string][]thing
	seen        map[string][]glimpse
	expired     []uint64
	groups      []*group
	lives       map[string][]life
	glances     []glance
}

// settle waits until everybody has seen everything, and checks what they saw.
func (s *soak) settle() (complaints []string) {
	x := settlement{kinds: s.kinds, since: s.since.Load(), last: s.revision(), base: s.base, there: s.inventory(), groups: s.groups, expired: s.expired}
	if x.last > soakHistory {
		x.expired = append(slices.Clone(x.expired), x.last-soakHistory)
	}
	if !within(10*time.Second, func() bool { return s.scribe.count() >= x.last-x.since }) {
		complaints = append(complaints, fmt.Sprintf("uncounted: %d changes were seen, from %d to %d there are more", s.scribe.count(), x.since, x.last))
	}
	complaints = append(complaints, s.laggards(x)...)
	s.collect(&x)
	complaints = append(complaints, s.errors.take()...)
	complaints = append(complaints, s.outside(x.check)...)
	if len(complaints) > 0 {
		return complaints // the rest would follow from that
	}
	complaints = append(complaints, s.leaks()...)
	complaints = append(complaints, s.miscounted(x.there)...)
	complaints = append(complaints, s.unforgotten(x.last)...)
	s.prepare(x)
	return complaints
}

// laggards are those who do not get to know what there is, however long they wait.
func (s *soak) laggards(x settlement) (complaints []string) {
	within(3*time.Minute, func() bool {
		complaints = nil
		for _, o := range s.sentries {
			if pos, ok := o.at(x.last); !ok {
				complaints = append(complaints, fmt.Sprintf("lost: %s knows of nothing after %d, the store is at %d", o.name, pos, x.last))
			}
		}
		for _, i := range s.informers {
			if why := i.unequal(x.there[i.kind.name]); why != "" {
				complaints = append(complaints, why)
			}
		}
		return len(complaints) == 0
	})
	return complaints
}

// collect takes from everybody what they saw.
func (s *soak) collect(x *settlement) {
	x.lives = map[string][]life{}
	for _, o := range s.sentries {
		x.lives[o.tongue.kind.name] = append(x.lives[o.tongue.kind.name], o.take())
	}
	for _, o := range s.onlookers {
		x.glances = append(x.glances, o.glances...)
		o.glances = nil
	}
	x.seen = s.scribe.take()
}

// prepare makes what was the end of this round the beginning of the next.
func (s *soak) prepare(x settlement) {
	for _, g := range s.groups {
		for _, op := range g.history {
			s.total.add(outcome(op.Input.(question), op.Output.(tell)))
		}
		g.history = nil
		for key, now := range g.states(x.there, x.last) {
			g.begin[key] = now
		}
	}
	s.since.Store(x.last)
	raise(&s.told, x.last)
	s.base, s.expired = x.there, nil
}

// states are the states of the objects of a group, as a list has shown them.
func (g *group) states(there map[string][]thing, last uint64) map[string]state {
	states := map[string]state{}
	for _, key := range g.keys() {
		states[key] = nothing(last)
	}
	for _, o := range there[g.kind.name] {
		namespace, key, _ := strings.Cut(o.key, "/")
		if namespace != g.namespace {
			continue
		}
		uid, content, err := parseObject(o.content)
		if err != nil {
			panic(err) // thingOf has written it
		}
		states[key] = state{there: true, uid: uid, rv: o.rev, next: last + 1, content: content}
	}
	return states
}

// check holds everything that was seen against everything else.
func (x settlement) check() (complaints []string) {
	writes := recorded(x.seen)
	records := map[string]*chronicle{}
	for _, k := range x.kinds {
		c, wrong := newChronicle(k.name, x.base[k.name], x.since, x.last, writes)
		c.expired = x.expired
		records[k.name] = c
		complaints = append(complaints, wrong...)
		if there := c.at(x.last, func(thing) bool { return true }); !slices.EqualFunc(there, x.there[k.name], thing.is) {
			complaints = append(complaints, fmt.Sprintf("wrong end: there is %v, by what happened there should be %v", x.there[k.name], there))
		}
		for _, change := range c.changes {
			complaints = append(complaints, unlawful(k, change)...)
		}
	}
	var history []porcupine.Operation
	for _, g := range x.groups {
		history = append(history, g.history...)
		complaints = append(complaints, unaccounted(g.namespace, g.history, g.writes(records))...)
		complaints = append(complaints, g.unordered(g.states(x.there, x.last), x.last)...)
	}
	complaints = append(complaints, stamped(history)...)
	complaints = append(complaints, belied(records, x.glances)...)
	return append(complaints, witnessed(records, x.lives)...)
}

// writes are those to the objects of the group.
func (g *group) writes(records map[string]*chronicle) (writes []write) {
	for _, c := range records[g.kind.name].changes {
		if !strings.HasPrefix(c.key, g.namespace+"/") {
			continue
		}
		switch {
		case c.was == nil:
			writes = append(writes, write{thing: *c.is, verb: "create"})
		case c.is == nil:
			gone := *c.was
			gone.rev = c.rev
			writes = append(writes, write{thing: gone, verb: "delete"})
		default:
			writes = append(writes, write{thing: *c.is, verb: "update"})
		}
	}
	return writes
}

// unordered tells for which objects there is no order in which the clients can have done
// what they did, from how it began to how it ended.
func (g *group) unordered(ends map[string]state, last uint64) (complaints []string) {
	history := slices.Clone(g.history)
	for key, end := range ends {
		a := tell{code: http.StatusOK, object: end.there, uid: end.uid, rv: end.rv, content: end.content, at: last}
		history = append(history, porcupine.Operation{ClientId: -1, Input: question{key: key, verb: "list"}, Output: a, Call: forever - 2, Return: forever - 1})
	}
	for _, part := range byKey(history) {
		key := part[0].Input.(question).key
		m := model(g.begin[key])
		result, info := porcupine.CheckOperationsVerbose(m, part, time.Minute)
		if result != porcupine.Ok {
			complaints = append(complaints, fmt.Sprintf("not linearizable (%s): %s %s/%s, which began as %+v:\n%s", result, g.kind.plural, g.namespace, key, g.begin[key], stuck(part, info)))
		}
	}
	return complaints
}

// end ends all that live as long as the server.
func (s *soak) end() {
	s.scribe.close()
	for _, o := range s.sentries {
		o.close()
	}
	for _, x := range s.informers {
		x.close()
	}
	for _, g := range s.wires {
		g.next.CloseIdleConnections()
	}
}
