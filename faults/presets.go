package faults

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/requestinfo"
)

// Expire410 ends watches that resume at a resourceVersion as kube-apiserver does if the version is
// too old: 200 and one ERROR event with 410 Expired (WA-19). Watches without a resourceVersion, at
// "0", or with sendInitialEvents are not affected, so that a client can recover with a new list.
// when restricts the rule; predicates that count come last, as in Expire410(Resource("pods"),
// First(1)).
func Expire410(when ...Pred) Rule {
	resumes := And(Verb(requestinfo.Watch), Query("resourceVersion"),
		Not(Query("resourceVersion", "0")), Not(Query("sendInitialEvents", "true")))
	return Rule{"expire-410", And(append([]Pred{resumes}, when...)...), []Effect{ErrorEvent(Expired())}}
}

// Retry504 responds to gets and lists with 504 Timeout, the cause ResourceVersionTooLarge and a
// Retry-After header (RS-05), as a server does that is behind the resourceVersion of the request.
// when restricts the rule.
func Retry504(retryAfter time.Duration, when ...Pred) Rule {
	reads := Verb(requestinfo.Get, requestinfo.List)
	return Rule{"retry-504", And(append([]Pred{reads}, when...)...), []Effect{Reply(Timeout504(retryAfter))}}
}

// DropBookmarks drops the bookmarks of watches; clients must not rely on them (BM-05). The bookmark
// that ends the initial events is not dropped, because without it an informer does not sync; to
// drop it, use "when initialEventsEnd do drop". when restricts the rule.
func DropBookmarks(when ...Pred) Rule {
	bookmarks := And(Event(watch.Bookmark), Not(InitialEventsEnd()))
	return Rule{"drop-bookmarks", And(append([]Pred{bookmarks}, when...)...), []Effect{Drop()}}
}

// ExpireContinue responds to requests for further pages of a list with 410 Expired without a
// continue token (CH-18). when restricts the rule.
func ExpireContinue(when ...Pred) Rule {
	pages := And(Verb(requestinfo.List), Query("continue"))
	return Rule{"expire-continue", And(append([]Pred{pages}, when...)...), []Effect{Reply(Expired())}}
}

// TooBusy responds to all requests with 429 in plain text and a Retry-After header, as
// kube-apiserver does with too many requests in flight. retryAfter is rounded up to seconds; 0
// omits the header. when restricts the rule.
func TooBusy(retryAfter time.Duration, when ...Pred) Rule {
	headers := []Header{{"X-Content-Type-Options", "nosniff"}}
	if s := TooManyRequests(retryAfter); s.Details != nil {
		headers = append(headers, Header{"Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds))})
	}
	return Rule{"too-busy", And(when...), []Effect{
		Raw(http.StatusTooManyRequests, "text/plain; charset=utf-8", tooManyRequestsMessage+"\n", headers...),
	}}
}

// RealisticLatency returns rules that delay each request, and each event of a watch after the one
// before it, by a random time of 1 to 5 ms, as in a cluster. A write is answered some milliseconds
// before its event arrives, a cache is behind the client's own writes, and two changes of an object
// do not arrive at the same moment. The initial events of a streaming list are not delayed; those
// of other watches are, one by one. Every object has its own random sequences, which depend on seed
// only, so that a run in a synctest bubble can be repeated. when restricts the rules.
//
// It is for tests that lean on the latency of a real server, and for finding those that should not:
//
//	fakeapi.Start(t, fakeapi.WithFaults(faults.RealisticLatency(1)...))
func RealisticLatency(seed uint64, when ...Pred) []Rule {
	delays := func() []Effect { return []Effect{Delay(time.Millisecond), Jitter(4*time.Millisecond, seed)} }
	events := []Pred{During(Stream), Not(InitialEvents())}
	return []Rule{
		{"latency", And(append([]Pred{During(Before)}, when...)...), delays()},
		{"watch-latency", And(append(events, when...)...), delays()},
	}
}

// RevokeFor returns rules for permissions that are revoked now and granted again after d. Until
// then requests are denied as [Forbid] does. Running watches, which keep their permission, end
// regularly at their next event or bookmark, so that the client asks for a new one; that event is
// not lost, because the client continues at an earlier resourceVersion. when restricts the rules:
//
//	srv.Faults().AddFor(t, faults.RevokeFor(5*time.Minute, faults.Resource("secrets"))...)
func RevokeFor(d time.Duration, when ...Pred) []Rule {
	rule := func(name string, phase Phase, effect Effect, on ...Pred) Rule {
		return Rule{name, And(slices.Concat([]Pred{During(phase)}, on, when, []Pred{Not(After(d))})...), []Effect{effect}}
	}
	return []Rule{
		rule("revoked", Before, Forbid()),
		rule("revoked-watch", Stream, End(), Verb(requestinfo.Watch)),
	}
}

// BadGateway responds to all requests with 502 and an HTML page, as a load balancer without a
// backend does. when restricts the rule.
func BadGateway(when ...Pred) Rule {
	const page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n" +
		"<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
	return Rule{"bad-gateway", And(when...), []Effect{Raw(http.StatusBadGateway, "text/html", page)}}
}
