package scenario

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/faults"
)

// addFault adds a rule for the client under test, one watch, or the requests of the steps. A rule
// that counts affects only one of them, because the order in which two are served does not depend
// on the seed alone.
func (b *builder) addFault() {
	var targets []func()
	if b.Client != "" {
		targets = append(targets, b.clientFault, b.clientFault, b.clientFault, b.clientFault)
	}
	for _, name := range b.watches {
		targets = append(targets, func() { b.watchStreamFault(stepUserAgent + "/" + name) })
	}
	targets = append(targets, b.stepFault)
	choose(b.r, targets...)()
}

// addRule adds a rule with a unique name.
func (b *builder) addRule(prefix string, when faults.Pred, do ...faults.Effect) {
	b.rules++
	b.add(Fault(faults.Rule{Name: fmt.Sprintf("%s-%d", prefix, b.rules), When: when, Do: do}))
}

// clientFault adds a rule for the client under test.
func (b *builder) clientFault() {
	agent := faults.UserAgent(b.Client)
	switch b.r.IntN(4) {
	case 0:
		b.watchStreamFault(b.Client)
	case 1:
		b.watchStartFault(agent, b.randomFrequency())
	case 2:
		b.requestFault(agent, b.randomFrequency(), "get", "list", "create", "update", "patch", "delete")
	case 3:
		b.lostResponseFault(agent, b.randomFrequency(), "get", "list", "create", "update", "patch", "delete")
	}
}

// stepFault adds a rule for the requests of steps. It ends soon, because steps are retried only for
// some minutes. It does not lose the response of a DELETE, which cannot be retried.
func (b *builder) stepFault() {
	agent := faults.UserAgent(stepUserAgent)
	b.faultsHitSteps = true
	switch b.r.IntN(3) {
	case 0:
		b.watchStartFault(agent, b.fewTimes())
	case 1:
		b.requestFault(agent, b.fewTimes(), "get", "list", "create", "update", "delete")
	case 2:
		b.lostResponseFault(agent, b.fewTimes(), "get", "list", "create", "update")
	}
}

// watchStreamFault adds a rule for the frames of watches. 410 and 504 are rare, because client-go's
// reflector retries without a back-off if the initial events of a watch end with one.
func (b *builder) watchStreamFault(agent string) {
	frames := []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}
	b.r.Shuffle(len(frames), func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
	frames = frames[:1+b.r.IntN(len(frames))]
	slices.Sort(frames)
	when := func(last ...faults.Pred) faults.Pred {
		return faults.And(append([]faults.Pred{faults.UserAgent(agent), faults.Event(frames...)}, last...)...)
	}
	switch b.r.IntN(8) {
	case 0:
		b.addRule("cut", when(b.randomFrequency()), faults.Reset())
	case 1:
		b.addRule("end", when(b.randomFrequency()), faults.End())
	case 2:
		b.addRule("truncated", when(b.randomFrequency()), faults.Truncate(b.r.IntN(120)))
	case 3:
		if b.r.IntN(2) == 0 {
			b.addRule("expired", when(b.fewTimes()), faults.ErrorEvent(choose(b.r, faults.Expired(), faults.Gone(), faults.Timeout504(0))))
			return
		}
		b.addRule("error", when(b.randomFrequency()), faults.ErrorEvent(faults.InternalError()))
	case 4:
		b.addRule("late", when(b.randomFrequency()), faults.Delay(b.randomDelay()))
	case 5:
		b.addRule("jitter", when(), faults.Jitter(b.randomDelay(), b.r.Uint64N(1000)))
	case 6:
		b.addRule("slow", when(b.randomFrequency()), faults.Throttle(20+b.r.IntN(200), b.randomDelay()/20))
	case 7:
		b.add(Fault(faults.DropBookmarks(faults.UserAgent(agent))))
	}
}

// watchStartFault adds a rule for the start of watches.
func (b *builder) watchStartFault(agent faults.Pred, frequency faults.Pred) {
	when := faults.And(faults.Verb("watch"), agent, faults.During(faults.Before), frequency)
	switch b.r.IntN(7) {
	case 0:
		b.add(Fault(faults.Expire410(agent, frequency)))
	case 1:
		gone := faults.And(faults.Verb("watch"), agent, faults.During(faults.Before), b.fewTimes())
		b.addRule("gone", gone, faults.Reply(faults.Expired()))
	case 2:
		b.addRule("no-watch", when, b.overloadResponse())
	case 3:
		b.addRule("cut-watch", when, faults.Reset())
	case 4:
		b.addRule("late-watch", when, faults.Delay(b.randomDelay()))
	case 5:
		b.addRule("empty-watch", when, faults.End())
	case 6:
		b.addRule("no-permission", when, faults.Forbid())
	}
}

// requestFault adds a rule for requests that are not executed.
func (b *builder) requestFault(agent, frequency faults.Pred, verbs ...string) {
	when := faults.And(faults.Verb(b.subset(verbs)...), agent, faults.During(faults.Before), frequency)
	switch b.r.IntN(6) {
	case 0, 1:
		b.addRule("busy", when, b.overloadResponse())
	case 2:
		b.addRule("lost", when, faults.Reset())
	case 3:
		b.addRule("late", when, faults.Delay(b.randomDelay()))
	case 4:
		writes := faults.And(faults.Verb("update", "patch"), agent, frequency)
		b.addRule("conflict", writes, faults.Reply(faults.Conflict()))
	case 5:
		b.addRule("forbidden", when, faults.Forbid())
	}
}

// lostResponseFault adds a rule for requests that are executed, but whose response is lost.
func (b *builder) lostResponseFault(agent, frequency faults.Pred, verbs ...string) {
	when := faults.And(faults.Verb(b.subset(verbs)...), agent, faults.During(faults.Committed), frequency)
	switch b.r.IntN(4) {
	case 0:
		b.addRule("lost-reply", when, faults.Reset())
	case 1:
		b.addRule("cut-reply", when, faults.Truncate(b.r.IntN(80)))
	case 2:
		b.addRule("bad-reply", when, faults.Reply(choose(b.r, faults.InternalError(), faults.Timeout504(time.Second), faults.Unavailable(0))))
	case 3:
		b.addRule("late-reply", when, faults.Delay(b.randomDelay()))
	}
}

// overloadResponse returns a response of an overloaded server or of a proxy.
func (b *builder) overloadResponse() faults.Effect {
	after := time.Duration(b.r.IntN(8)) * time.Second
	return choose(b.r,
		faults.Reply(faults.TooManyRequests(after)),
		faults.Reply(faults.Unavailable(after)),
		faults.Reply(faults.InternalError()),
		faults.Reply(faults.Timeout504(after+time.Second)), // without retryAfterSeconds client-go's reflector does not wait
		faults.TooBusy(after).Do[0],
		faults.BadGateway().Do[0],
	)
}

// randomDelay returns a delay shorter than the timeouts of steps and clients.
func (b *builder) randomDelay() time.Duration {
	return choose(b.r, 50*time.Millisecond, time.Second, 5*time.Second, 25*time.Second)
}

// randomFrequency returns a condition for how often a rule applies: some of the times, for some
// time, or a few times.
func (b *builder) randomFrequency() faults.Pred {
	switch b.r.IntN(4) {
	case 0:
		return faults.Every(2 + b.r.IntN(3))
	case 1:
		return faults.Not(faults.After(choose(b.r, 2*time.Second, time.Minute, 10*time.Minute)))
	case 2:
		return faults.Chance(0.1+0.1*float64(b.r.IntN(6)), b.r.Uint64N(1000))
	}
	return b.fewTimes()
}

// fewTimes returns a condition for a rule that applies a few times.
func (b *builder) fewTimes() faults.Pred {
	if b.r.IntN(3) == 0 {
		return faults.Nth(1 + b.r.IntN(3))
	}
	return faults.First(1 + b.r.IntN(3))
}

// subset returns a random subset of the words in their order, with at least one.
func (b *builder) subset(words []string) []string {
	some := slices.DeleteFunc(slices.Clone(words), func(string) bool { return b.r.IntN(2) == 0 })
	if len(some) == 0 {
		return []string{choose(b.r, words...)}
	}
	return some
}
