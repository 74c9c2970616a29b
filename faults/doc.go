// Package faults makes a Kubernetes API server misbehave on purpose: it loses
// requests and replies, answers 410 and 504, holds back, drops, doubles and
// breaks off the frames of watches, and does it again, the same way, tomorrow.
//
// # When to use it
//
// In tests that want to see what a client makes of one refusal, loss or delay, or of many: of
// any handler that speaks the Kubernetes API, the server of package fake above all, or of a real
// cluster, in front of which [Proxy] and the command fakeapi proxy put the rules. It changes what
// is sent, never what is stored.
//
// # First steps
//
//	srv := fakeapi.Start(t)
//	srv.Faults().AddFor(t, faults.Expire410(faults.Resource("pods"), faults.First(1)))
//	defer srv.Faults().MustHit(t) // a fault that did not happen fails the test
//
// A [Rule] is a condition on operations and a list of effects. A [Set] holds the
// rules that are armed, and [Handler] is the middleware that obeys them:
//
//	var set faults.Set
//	server := faults.Handler(&set, next)
//	remove, err := set.AddText(`lost: when verb(create) && resource(pods) && during(committed) && first(1) do reset`)
//
// next is any handler that speaks the API. The package knows nothing about how
// it works, and next nothing about the rules.
//
// Rules are values. What [Rule.String] prints, [Parse] reads back as the same
// rule; rules built in Go and rules written as text are alike.
//
// # Phases
//
// A request is looked at up to three times:
//
//	before     it has arrived, nothing has been done
//	committed  it has been carried out, and nothing of the answer is sent
//	stream     it is a watch, and one frame is about to be sent
//
// A rule is armed in the phases that its condition is about: those of during(),
// the stream if it speaks of event() or initialEventsEnd, committed if it speaks
// of code(). A rule that says nothing of the kind is armed in the first phase, in
// the order above, that its condition can match in and that all of its effects
// fit: "when verb(watch) do end" ends watches before they start, "when
// verb(watch) do drop" drops frames. What cannot work is refused when the rule is
// added, with the reason: an effect that does not fit a phase the rule asks for,
// a condition that nothing can match.
//
// # Predicates
//
//	verb(V, ...)         get list watch create update patch delete deletecollection; objects only
//	resource(R, ...)     pods, deployments.apps, events. (core group only), pods/status, pods/*, */scale
//	namespace(N, ...)    a trailing * matches any rest
//	name(N, ...)         likewise; a create has no name, a frame that of its object
//	userAgent(P, ...)    prefix of the User-Agent
//	path(P, ...)         prefix of the URL path; also discovery, /readyz, ...
//	query(K)             parameter K is given and not empty
//	query(K, V, ...)     its first value is one of these
//	during(P, ...)       before, committed, stream
//	code(C, ...)         HTTP code of the answer; committed
//	event(T, ...)        ADDED MODIFIED DELETED BOOKMARK ERROR; stream
//	initialEventsEnd     the bookmark that ends the initial events; stream
//	nth(N)               the N-th time it is asked, and no other
//	first(N)             the first N times
//	every(N)             each N-th time
//	chance(P, SEED)      with probability P; one random sequence for each object
//	after(D)             once D has passed since the rule was added
//	always               everything
//	a && b, a || b, !a   asked from left to right, no further than needed
//
// nth, first, every and chance count how often they are asked. Because && stops
// at the first part that says no, "verb(update) && resource(pods) && nth(3)" is
// the third update of a pod. So that nothing else is counted, they and after come
// last in an &&; a rule in which they do not is refused. Counts belong to the
// set: adding a rule starts them at zero, and printing shows what was configured.
//
// # Effects
//
//	effect             phases                    what the client sees
//	status(...)        before committed          a Status, and Retry-After if it has retryAfter
//	raw(...)           before committed          any code, Content-Type, body, headers
//	redirect(BASE)     before                    307 to the same path at SCHEME://HOST; "" is here
//	delay(D)           before committed stream   all of it, D later
//	jitter(D, SEED)    before committed stream   likewise, a random time below D; a sequence for each object
//	throttle(N, D)     committed stream          the body or frame in pieces of N bytes, D apart
//	goaway             before committed          the answer, and no other on its connection
//	hang               before committed stream   nothing (more), for as long as it cares to wait
//	reset              before committed stream   a connection that breaks
//	truncate(N)        committed stream          N bytes of the body or frame, then a break
//	overwrite(N, S)    committed stream          other bytes from offset N on
//	set(P, V)          committed stream          a value in place of what JSON pointer P leads to
//	remove(P)          committed stream          nothing there
//	header(H, V, ...)  before committed          these values of a header; none takes it away
//	warn(TEXT, ...)    before committed          a Warning header more for each
//	skew(D)            before committed          a Date that is D ahead, or behind if D is negative
//	ignore(P, ...)     before                    what a server does that does not know these parameters
//	requestHeader(H, V, ...)
//	                   before                    what a server does that is sent this
//	error(...)         before(*) stream          an ERROR event with a Status, then the end of the watch
//	end                before(*) stream          the end of the watch, clean and without a word
//	lateHeader         before(*)                 nothing of a watch, not even its header, before its first frame
//	drop               stream                    a stream without the frame
//	duplicate          stream                    the frame twice
//	reorder            stream                    the next frame first
//	inject(S)          stream                    any bytes, and then the frame
//
// (*) if the condition is for watches only; error and end answer with 200.
//
// status, raw, redirect, throttle, hang, reset, truncate, error, end, drop and
// reorder leave nothing to act on and come last; the others can be followed by
// further effects. reset in the committed phase is the lost reply: carried out,
// never heard of. header, warn, skew and goaway act on whatever the answer will be,
// also on that of an effect behind them.
//
// The value of set is a text; json(TEXT) says it in JSON: set(/items, json(null)).
// In a frame the pointers begin with /type and /object. In protobuf only kind,
// apiVersion, metadata and the type of an event can be edited, and items be
// removed or emptied; what cannot be done is answered with a 500 that says so (in
// a stream an ERROR event), and noted in the hits as not applied. A compressed body
// is edited, and sent without compression. A Status is edited like any other
// answer; code(200) spares the failures.
//
// status and error take CODE, REASON and MESSAGE, the latter two optional, and
// then any of the options
//
//	retryAfter(D)  cause(TYPE, MESSAGE, FIELD)  kind(K)  group(G)  name(N)  uid(U)  continue(TOKEN)
//
// What is left out is filled in as a real server would word it for the operation
// at hand: "status(409)" is the whole Conflict of the object. raw takes CODE,
// CONTENTTYPE and BODY, and options header(NAME, VALUE).
//
// # Grammar
//
//	rules     = { [ rule ] newline } .
//	rule      = [ value ":" ] "when" or "do" effect { "," effect } .
//	or        = and { "||" and } .
//	and       = unary { "&&" unary } .
//	unary     = "!" unary | "(" or ")" | predicate .
//	predicate = call .
//	effect    = call .
//	call      = word [ "(" [ arg { "," arg } ] ")" ] .
//	arg       = value | call .
//	value     = word | string .
//
// A word is made of letters, digits and any of _ - . / * +, all ASCII; a string is
// a Go string in double quotes. A "#" outside quotes begins a comment. Durations
// are those of [time.ParseDuration]. A [SyntaxError] tells line and column, what
// was expected there, and, where a name is not known, those that are.
//
// # Repeatable
//
// Nothing here is random but chance, and that follows from its seed and the
// object. Time is the time package's, so that all of it runs on virtual time in a
// testing/synctest bubble. [Set.Hits] tells which rule did what to which request;
// the lines of [Hit.String] have no times in them and are the same in each run.
//
// [Set.MustHit] fails a test for each rule that never fired, and [Set.AddFor]
// arms rules until the test ends:
//
//	srv.Faults().AddFor(t, faults.Expire410(faults.Resource("pods"), faults.First(1)))
//	defer srv.Faults().MustHit(t)
//
// Mind that clients retry, too: Go's HTTP client repeats a GET by itself when a
// connection it has used before is reset, and client-go repeats what has a
// Retry-After. A rule with first(1) may then be hit without anybody noticing.
//
// # Knobs
//
// [Expire410], [Retry504], [DropBookmarks], [ExpireContinue], [TooBusy] and
// [BadGateway] are the rules that are wanted most, as functions.
//
// CATALOGUE.md, beside this file, lists 116 ways in which servers break their
// clients, with the rule, method or option for each.
//
// # Errors
//
// What cannot be read is a [*SyntaxError] with line and column. A rule that can be read and cannot
// work (nothing can match its condition, an effect does not fit the phase) is refused by [Set.Add] and
// [Rule.Validate] with the reason. What turns out to be impossible while a request is served, such as
// an edit that an encoding does not allow, is answered with a 500 that says so, and [Hit.NotApplied] has it.
//
// # Limits
//
// Frames are those of JSON, protobuf and CBOR. A watch in another encoding is
// answered with 500 if a rule could match its frames; a rule that comes later is
// noted in the hits as not applied. Bodies in CBOR are not edited. JSON frames must end with a newline and
// contain no other, which those of API servers do. Rules do not see the bodies
// of requests, and do not change the state of a server: history that is lost for
// every client, stale replicas and restored backups are no faults of a request.
// A GOAWAY comes with the header of an answer, not in the middle of one, and needs
// a server that speaks HTTP/2: with package fakeapi, one with TLS.
//
// # To add a predicate or an effect
//
// Write its type with its methods in a file of its own (an effect fits the phases
// it has methods for), a line in vocabulary.go, cases in testdata/rules.txt, a
// test of what a client sees, and a row above.
package faults
