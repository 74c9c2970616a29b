package scenario

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/faults"
)

// fault arms a rule: about the client under test, about one watch, or about the
// requests of the steps. A rule that counts is about one of them, since which of
// two is served first is not decided by the seed.
func (b *builder) fault() {
	var victims []func()
	if b.Client != "" {
		victims = append(victims, b.clientFault, b.clientFault, b.clientFault, b.clientFault)
	}
	for _, name := range b.watches {
		victims = append(victims, func() { b.streamFault(stepsAgent + "/" + name) })
	}
	victims = append(victims, b.stepsFault)
	oneOf(b.r, victims...)()
}

// arm adds a rule, under a name of its own.
func (b *builder) arm(what string, when faults.Pred, do ...faults.Effect) {
	b.rules++
	b.add(Fault(faults.Rule{Name: fmt.Sprintf("%s-%d", what, b.rules), When: when, Do: do}))
}

// clientFault is about the client under test.
func (b *builder) clientFault() {
	who := faults.UserAgent(b.Client)
	switch b.r.IntN(4) {
	case 0:
		b.streamFault(b.Client)
	case 1:
		b.opening(who, b.often())
	case 2:
		b.refusal(who, b.often(), "get", "list", "create", "update", "patch", "delete")
	case 3:
		b.lostReply(who, b.often(), "get", "list", "create", "update", "patch", "delete")
	}
}

// stepsFault is about the requests of the steps, each of which is tried again for
// some minutes. So it does not last. A DELETE whose reply was lost cannot be
// tried again, and is spared.
func (b *builder) stepsFault() {
	who := faults.UserAgent(stepsAgent)
	b.armed = true
	switch b.r.IntN(3) {
	case 0:
		b.opening(who, b.few())
	case 1:
		b.refusal(who, b.few(), "get", "list", "create", "update", "delete")
	case 2:
		b.lostReply(who, b.few(), "get", "list", "create", "update")
	}
}

// streamFault is about the frames of watches. A 410 or a 504 does not come often:
// client-go's reflector asks again at once, without a back-off, when the initial
// events of a watch end with one.
func (b *builder) streamFault(agent string) {
	frames := []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}
	b.r.Shuffle(len(frames), func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
	frames = frames[:1+b.r.IntN(len(frames))]
	slices.Sort(frames)
	when := func(last ...faults.Pred) faults.Pred {
		return faults.And(append([]faults.Pred{faults.UserAgent(agent), faults.Event(frames...)}, last...)...)
	}
	switch b.r.IntN(8) {
	case 0:
		b.arm("cut", when(b.often()), faults.Reset())
	case 1:
		b.arm("end", when(b.often()), faults.End())
	case 2:
		b.arm("truncated", when(b.often()), faults.Truncate(b.r.IntN(120)))
	case 3:
		if b.r.IntN(2) == 0 {
			b.arm("expired", when(b.few()), faults.ErrorEvent(oneOf(b.r, faults.Expired(), faults.Gone(), faults.Timeout504(0))))
			return
		}
		b.arm("error", when(b.often()), faults.ErrorEvent(faults.InternalError()))
	case 4:
		b.arm("late", when(b.often()), faults.Delay(b.delay()))
	case 5:
		b.arm("jitter", when(), faults.Jitter(b.delay(), b.r.Uint64N(1000)))
	case 6:
		b.arm("slow", when(b.often()), faults.Throttle(20+b.r.IntN(200), b.delay()/20))
	case 7:
		b.add(Fault(faults.DropBookmarks(faults.UserAgent(agent))))
	}
}

// opening is about watches that begin.
func (b *builder) opening(who faults.Pred, often faults.Pred) {
	when := faults.And(faults.Verb("watch"), who, faults.During(faults.Before), often)
	switch b.r.IntN(6) {
	case 0:
		b.add(Fault(faults.Expire410(who, often)))
	case 1:
		gone := faults.And(faults.Verb("watch"), who, faults.During(faults.Before), b.few())
		b.arm("gone", gone, faults.Reply(faults.Expired()))
	case 2:
		b.arm("no-watch", when, b.busy())
	case 3:
		b.arm("cut-watch", when, faults.Reset())
	case 4:
		b.arm("late-watch", when, faults.Delay(b.delay()))
	case 5:
		b.arm("empty-watch", when, faults.End())
	}
}

// refusal is about requests that are not carried out.
func (b *builder) refusal(who, often faults.Pred, verbs ...string) {
	when := faults.And(faults.Verb(b.some(verbs)...), who, faults.During(faults.Before), often)
	switch b.r.IntN(5) {
	case 0, 1:
		b.arm("busy", when, b.busy())
	case 2:
		b.arm("lost", when, faults.Reset())
	case 3:
		b.arm("late", when, faults.Delay(b.delay()))
	case 4:
		writes := faults.And(faults.Verb("update", "patch"), who, often)
		b.arm("conflict", writes, faults.Reply(faults.Conflict()))
	}
}

// lostReply is about requests that are carried out, and whose client does not
// hear of it.
func (b *builder) lostReply(who, often faults.Pred, verbs ...string) {
	when := faults.And(faults.Verb(b.some(verbs)...), who, faults.During(faults.Committed), often)
	switch b.r.IntN(4) {
	case 0:
		b.arm("lost-reply", when, faults.Reset())
	case 1:
		b.arm("cut-reply", when, faults.Truncate(b.r.IntN(80)))
	case 2:
		b.arm("bad-reply", when, faults.Reply(oneOf(b.r, faults.InternalError(), faults.Timeout504(time.Second), faults.Unavailable(0))))
	case 3:
		b.arm("late-reply", when, faults.Delay(b.delay()))
	}
}

// busy is an answer of a server that is in trouble, or of what stands before it.
func (b *builder) busy() faults.Effect {
	after := time.Duration(b.r.IntN(8)) * time.Second
	return oneOf(b.r,
		faults.Reply(faults.TooManyRequests(after)),
		faults.Reply(faults.Unavailable(after)),
		faults.Reply(faults.InternalError()),
		faults.Reply(faults.Timeout504(after+time.Second)), // without advice client-go's reflector would not wait
		faults.TooBusy(after).Do[0],
		faults.BadGateway().Do[0],
	)
}

// delay is less than steps and clients wait for an answer.
func (b *builder) delay() time.Duration {
	return oneOf(b.r, 50*time.Millisecond, time.Second, 5*time.Second, 25*time.Second)
}

// often says how often a fault happens: seldom, for some time, or always.
func (b *builder) often() faults.Pred {
	switch b.r.IntN(4) {
	case 0:
		return faults.Every(2 + b.r.IntN(3))
	case 1:
		return faults.Not(faults.After(oneOf(b.r, 2*time.Second, time.Minute, 10*time.Minute)))
	case 2:
		return faults.Chance(0.1+0.1*float64(b.r.IntN(6)), b.r.Uint64N(1000))
	}
	return b.few()
}

// few is a few times.
func (b *builder) few() faults.Pred {
	if b.r.IntN(3) == 0 {
		return faults.Nth(1 + b.r.IntN(3))
	}
	return faults.First(1 + b.r.IntN(3))
}

// some are some of the words, at least one, in their order.
func (b *builder) some(words []string) []string {
	some := slices.DeleteFunc(slices.Clone(words), func(string) bool { return b.r.IntN(2) == 0 })
	if len(some) == 0 {
		return []string{oneOf(b.r, words...)}
	}
	return some
}
