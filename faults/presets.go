package faults

import (
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/requestinfo"
)

// Expire410 makes watches that resume at a revision find it too old: 200, one
// ERROR event with 410 Expired, end (rule WA-19). Watches that start afresh,
// without a resourceVersion, at "0", or with sendInitialEvents, are spared, so
// that a client can recover by listing anew. when narrows the rule; what counts
// comes last: Expire410(Resource("pods"), First(1)).
func Expire410(when ...Pred) Rule {
	resumes := And(Verb(requestinfo.Watch), Query("resourceVersion"),
		Not(Query("resourceVersion", "0")), Not(Query("sendInitialEvents", "true")))
	return Rule{"expire-410", And(append([]Pred{resumes}, when...)...), []Effect{ErrorEvent(Expired())}}
}

// Retry504 answers gets and lists with 504 Timeout, ResourceVersionTooLarge, and
// Retry-After (rule RS-05), as a server does that is behind what the client has
// seen. when narrows the rule.
func Retry504(retryAfter time.Duration, when ...Pred) Rule {
	reads := Verb(requestinfo.Get, requestinfo.List)
	return Rule{"retry-504", And(append([]Pred{reads}, when...)...), []Effect{Reply(Timeout504(retryAfter))}}
}

// DropBookmarks withholds the bookmarks of watches (rule BM-05: clients cannot
// count on any), but for the one that ends the initial events: without it an
// informer never gets ready, which is a fault of its own
// ("when initialEventsEnd do drop"). when narrows the rule.
func DropBookmarks(when ...Pred) Rule {
	bookmarks := And(Event(watch.Bookmark), Not(InitialEventsEnd()))
	return Rule{"drop-bookmarks", And(append([]Pred{bookmarks}, when...)...), []Effect{Drop()}}
}

// ExpireContinue answers further pages of lists with 410 Expired and no token to
// go on with (rule CH-18). when narrows the rule.
func ExpireContinue(when ...Pred) Rule {
	pages := And(Verb(requestinfo.List), Query("continue"))
	return Rule{"expire-continue", And(append([]Pred{pages}, when...)...), []Effect{Reply(Expired())}}
}

// TooBusy answers everything with the 429 of a server that has too many requests
// in flight: a text, no Status, and Retry-After, rounded up to whole seconds. With
// 0 there is no such header. when narrows the rule.
func TooBusy(retryAfter time.Duration, when ...Pred) Rule {
	headers := []Header{{"X-Content-Type-Options", "nosniff"}}
	if s := TooManyRequests(retryAfter); s.Details != nil {
		headers = append(headers, Header{"Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds))})
	}
	return Rule{"too-busy", And(when...), []Effect{
		Raw(http.StatusTooManyRequests, "text/plain; charset=utf-8", tooManyRequestsMessage+"\n", headers...),
	}}
}

// BadGateway answers everything with 502 and a page of HTML, as a load balancer
// does whose API server is gone. when narrows the rule.
func BadGateway(when ...Pred) Rule {
	const page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n" +
		"<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
	return Rule{"bad-gateway", And(when...), []Effect{Raw(http.StatusBadGateway, "text/html", page)}}
}
