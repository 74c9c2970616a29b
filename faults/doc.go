// Package faults injects faults into a Kubernetes API server: lost requests and responses, error
// statuses such as 410 and 504, delays, and watch events that are dropped, duplicated, reordered,
// edited or cut off. Rules select the requests and watch events to act on. The same rules and
// requests produce the same faults in every run.
//
// # When to use it
//
// Use it to test how a client handles failures. The rules work in front of any http.Handler that
// serves the Kubernetes API: usually the server of package fakeapi, which has a Set of its own, or
// a real cluster behind [Proxy] or the command "fakeapi proxy". Rules change responses, never the
// state of the server.
//
// # First steps
//
//	srv := fakeapi.Start(t)
//	srv.Faults().AddFor(t, faults.Expire410(faults.Resource("pods"), faults.First(1)))
//	defer srv.Faults().MustHit(t) // fails the test if the fault was not injected
//
// A [Rule] is a condition and a list of effects. A [Set] holds the active rules, and [Handler] is
// the middleware that applies them:
//
//	var set faults.Set
//	server := faults.Handler(&set, next)
//	remove, err := set.AddText(`lost: when verb(create) && during(committed) && first(1) do reset`)
//
// Rules are values. [Parse] reads the text that [Rule.String] prints and returns an equal rule, so
// rules built in Go and rules written as text are interchangeable.
//
// # Phases
//
// A request has up to three phases:
//
//	before     the request has arrived and has not been handled
//	committed  the request has been handled and none of the response has been sent
//	stream     the request is a watch, and one frame is about to be sent
//
// A watch has no committed phase; other requests have no stream phase. A rule is active in the
// phases that its condition selects: those of during(), stream if it has event(), initialEvents or
// initialEventsEnd, committed if it has code(). A rule without any of these is active in one phase,
// the first in the order above in which its condition can match and which all of its effects
// support. So "when verb(watch) do end" ends watches before they start, and "when verb(watch) do
// drop" drops frames. Adding a rule fails if an effect does not support a phase that the condition
// selects, or if nothing can match the condition.
//
// # Predicates
//
//	verb(V, ...)         get list watch create update patch delete deletecollection
//	resource(R, ...)     pods, deployments.apps, events. (core group), pods/*, */scale
//	namespace(N, ...)    a trailing * matches any suffix
//	name(N, ...)         likewise; a create has no name, a frame has the name of its object
//	userAgent(P, ...)    prefix of the User-Agent
//	path(P, ...)         prefix of the URL path; also matches discovery, /readyz, ...
//	query(K)             parameter K is present and not empty
//	query(K, V, ...)     the first value of K is one of these
//	during(P, ...)       before, committed, stream
//	code(C, ...)         HTTP status code of the response; committed
//	event(T, ...)        ADDED MODIFIED DELETED BOOKMARK ERROR; stream
//	initialEvents        the initial events of a streaming list, with that bookmark; stream
//	initialEventsEnd     the bookmark that ends the initial events; stream
//	webhook(N, ...)      calls of webhooks, and nothing else; see below
//	nth(N)               the Nth evaluation only
//	first(N)             the first N evaluations
//	every(N)             every Nth evaluation
//	chance(P, SEED)      with probability P; one random sequence for each object
//	after(D)             after the duration D has passed since the rule was added
//	always               everything
//	a && b, a || b, !a   evaluated from left to right, with short-circuit evaluation
//
// nth, first, every and chance count how often they are evaluated. As && stops at the first
// predicate that does not match, "verb(update) && resource(pods) && nth(3)" matches the third
// update of a pod. So that they count nothing else, these predicates and after must come last in an
// &&; Add returns an error for a rule in which they do not. The Set keeps the counts. Adding a rule
// starts them at zero, and String prints the configured values.
//
// # Webhooks
//
// The API server calls admission webhooks and conversion webhooks. A rule with webhook() matches
// these calls only, and a rule without it matches none of them:
//
//	when webhook(pods.example.com) do reset
//	when webhook(*.example.com) && verb(create) && resource(pods) && first(1) do delay(11s)
//	when webhook(pods.example.com) && during(committed) do reset
//	when webhook(widgets.shop.example.com) do status(503)
//
// The name is that of the admission webhook, or for conversions that of the
// CustomResourceDefinition; a trailing * matches any suffix. The other predicates are about the
// request that caused the call, such as the write that is admitted: its verb, resource, namespace,
// name, User-Agent, path and query. A write of the server itself has none of these. Neither has a
// conversion: its cause is not known, so that "webhook(widgets.shop.example.com) && verb(update)"
// never matches. code() is about the response of the webhook.
//
// A call has the phases before, in which the webhook has not been called, and committed, in which
// it has been called and its response is not known to the server. The effects are those on a
// response: status, raw, delay, jitter, throttle, hang, reset, truncate, overwrite, set, remove and
// header. Here the server is the client that receives it. In the phase before, reset is a refused
// connection, and in the phase committed a lost answer. A pointer of set and remove begins with
// /response. hang and delay end with the timeoutSeconds of the webhook.
//
// allow, deny and patch answer in place of an admission webhook, which is not called and need not
// exist. Rules of the phase committed act on this answer, too. If several of them match, the last
// one counts:
//
//	when webhook(pods.example.com) do patch("{\"metadata\":{\"labels\":{\"injected\":\"true\"}}}")
//	when webhook(pods.example.com) && during(committed) && first(1) do delay(11s)
//
// The rules are those of the server that makes the call. A conversion is called by the server even
// if a client of its replica needs it.
//
// # Effects
//
//	effect             phases                    what the client receives
//	status(...)        before committed          a Status, with Retry-After if it has retryAfter
//	raw(...)           before committed          any code, Content-Type, body and headers
//	forbid             before                    the 403 of the authorizer for the user
//	redirect(BASE)     before                    307 to SCHEME://HOST; "" is this server
//	delay(D)           before committed stream   the response or frame after the duration D
//	jitter(D, SEED)    before committed stream   likewise, a random time below D, by object
//	throttle(N, D)     committed stream          pieces of N bytes of the body or frame, D apart
//	goaway             before committed          the last response on its connection
//	hang               before committed stream   nothing more until the client disconnects
//	reset              before committed stream   a broken connection
//	truncate(N)        committed stream          N bytes of the body or frame, then a reset
//	overwrite(N, S)    committed stream          the bytes S at offset N
//	set(P, V)          committed stream          the value V at the JSON pointer P
//	remove(P)          committed stream          no value at the JSON pointer P
//	header(H, V, ...)  before committed          this response header; without values, none
//	warn(TEXT, ...)    before committed          one more Warning header for each text
//	skew(D)            before committed          a Date header that is off by D
//	ignore(P, ...)     before                    the response without these parameters
//	requestHeader(H, V, ...)
//	                   before                    the response to a request with this header
//	error(...)         before(*) stream          an ERROR event, then the end of the watch
//	end                before(*) stream          the regular end of the watch
//	lateHeader         before(*)                 the response header with the first frame
//	allow              before(**)                that an admission webhook allows the request
//	deny(MESSAGE)      before(**)                that an admission webhook denies the request
//	patch(MERGEPATCH)  before(**)                that an admission webhook changes the object
//	drop               stream                    the stream without the frame
//	duplicate          stream                    the frame twice
//	reorder            stream                    the frame after the next one
//	inject(S)          stream                    the bytes S, then the frame
//
// (*) only if the condition matches nothing but watches; error and end respond with 200.
// (**) only with webhook(); the webhook is not called.
//
// status, forbid, raw, redirect, throttle, hang, reset, truncate, error, end, drop and reorder
// complete the response or the frame, so they must be the last effect of a rule. All others can be
// followed by further effects. reset in the committed phase is the lost response: the request was
// handled, and the client does not receive the result. header, warn, skew and goaway change the
// response that is sent in the end, also that of a later effect.
//
// The value of set is a string; json(TEXT) is a JSON value, as in set(/items, json(null)). In a
// frame the pointers begin with /type or /object. In protobuf only kind, apiVersion, metadata and
// the type of an event can be edited, and items be removed or emptied. An edit that is not possible
// becomes a 500 with the reason (in a stream an ERROR event), and the hit is marked as not applied.
// A compressed body is decompressed, edited and sent uncompressed. A Status is edited like any
// other response; add code(200) to leave failures unchanged.
//
// status and error take CODE, REASON and MESSAGE, of which the last two are optional, followed by
// any of the options
//
//	retryAfter(D)  cause(TYPE, MESSAGE, FIELD)  kind(K)  group(G)  name(N)  uid(U)  continue(TOKEN)
//
// Missing fields are filled in as kube-apiserver does for the same request: "status(409)" is the
// complete Conflict of the object. raw takes CODE, CONTENTTYPE and BODY, followed by options
// header(NAME, VALUE).
//
// # Grammar
//
//	rules     = { [ line ] newline } .
//	line      = [ value ":" ] ( rule | readyMade ) .
//	rule      = "when" or "do" effect { "," effect } .
//	readyMade = word [ "(" [ ( value | or ) { "," ( value | or ) } ] ")" ] .
//	or        = and { "||" and } .
//	and       = unary { "&&" unary } .
//	unary     = "!" unary | "(" or ")" | predicate .
//	predicate = call .
//	effect    = call .
//	call      = word [ "(" [ arg { "," arg } ] ")" ] .
//	arg       = value | call .
//	value     = word | string .
//
// A word consists of ASCII letters, digits and the characters _ - . / * +. A string is a Go string
// in double quotes. A "#" outside quotes starts a comment. Durations are those of
// [time.ParseDuration]. A [SyntaxError] has the line, the column and what was expected there; for
// an unknown name it lists the known ones.
//
// # Repeatable runs
//
// The only random predicate and effect are chance and jitter. Their results depend on the seed and
// the object only. All waiting uses package time, so rules run on virtual time in a
// testing/synctest bubble. [Set.Hits] returns which rule was applied to which request or frame; the
// lines of [Hit.String] contain no times, so they are the same in every run.
//
// [Set.AddFor] adds rules until the end of a test, and [Set.MustHit] fails the test for each rule
// that was never applied:
//
//	srv.Faults().AddFor(t, faults.Expire410(faults.Resource("pods"), faults.First(1)))
//	defer srv.Faults().MustHit(t)
//
// Clients retry. Go's HTTP client repeats a GET if a reused connection is reset, and client-go
// repeats requests that were answered with a Retry-After header. A rule with first(1) may then be
// applied without a visible effect on the caller.
//
// # Ready-made faults
//
// [Expire410], [Retry504], [DropBookmarks], [ExpireContinue], [TooBusy] and [BadGateway] return
// common rules. [RevokeFor] returns rules for permissions that are missing for some time, and
// [RealisticLatency] rules for the latency of a real cluster, where responses and events take some
// milliseconds. Text has them by their names in lower camel case, with the same arguments, where
// conditions follow the values. [ReadyMade] lists them:
//
//	expire410(resource(pods), first(1))
//	behind: retry504(1s, verb(get) || resource(pods/*))
//	realisticLatency(1)
//
// A line can be several rules, which all have the name of the line.
//
// CATALOGUE.md in this directory lists 133 ways in which API servers break their clients, each with
// the rule, method or option that reproduces it.
//
// # Errors
//
// Text that does not parse results in a [*SyntaxError]. [Set.Add] and [Rule.Validate] return an
// error with the reason for a rule that cannot work: nothing can match its condition, or an effect
// does not support its phase. An effect that turns out to be impossible while a request is served,
// such as an edit that the encoding does not allow, results in a 500 with the reason, which is also
// in [Hit.NotApplied].
//
// # Limits
//
//   - Frames are read in JSON, protobuf and CBOR. A watch in another encoding is answered with 500
//     if a rule could match its frames. A rule that is added later gets a hit that is not applied.
//   - Response bodies in CBOR are not edited.
//   - JSON frames must end with a newline and contain no other, as those of kube-apiserver do.
//   - Rules do not see request bodies.
//   - webhook() needs the server of package fakeapi. [Handler] and [Proxy] do not see the calls of
//     the servers behind them. They do not authenticate requests either: there, the 403 of
//     forbid is for system:anonymous, as that of status(403).
//   - Rules do not change the state of a server. For history that is lost for all clients, stale
//     replicas and restored backups, use the methods of package fakeapi.
//   - GOAWAY is sent with the header of a response, not in the middle of one, and needs a server
//     that speaks HTTP/2; with package fakeapi, one with TLS.
//
// # Adding a predicate or an effect
//
// Write its type and methods in a file of its own. An effect supports the phases that it has
// methods for. Add a line to keywords.go, cases to testdata/rules.txt, a test of the client's side,
// and a row to the table above.
package faults
