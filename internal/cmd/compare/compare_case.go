package compare

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"example.com/fakeapi/conformance"
	"example.com/fakeapi/internal/cmd/httpdiff"
	"example.com/fakeapi/internal/frames"
)

// comparedHeaders are the response headers that are compared. Of those in opaqueHeaders only the
// presence is compared.
var (
	comparedHeaders = []string{
		"Allow", "Audit-Id", "Cache-Control", "Content-Encoding", "Content-Type", "Etag", "Last-Modified", "Location", "Retry-After", "Vary",
		"Warning", "Www-Authenticate", "X-Content-Type-Options",
	}
	opaqueHeaders = []string{"Audit-Id", "Etag", "Last-Modified"}
)

// ownID replaces the run ID in names. It has the length of a run ID, so that lengths do not change.
const ownID = "xxxxx"

// caseComparison compares the exchanges of a case on both sides.
type caseComparison struct {
	left, right   caseRun
	normalizer    *httpdiff.Normalizer
	placeholders  *httpdiff.Placeholders
	canonicalizer httpdiff.Canonicalizer
	// racing is set after the first concurrent requests. Their order, and the state they leave, is
	// not deterministic.
	racing bool
	result Case
}

// compareCase compares a case that was run on both sides.
func compareCase(left, right caseRun, prefix string) Case {
	c := &caseComparison{
		left: left, right: right,
		normalizer: httpdiff.NewNormalizer(
			regexp.MustCompile(regexp.QuoteMeta(prefix)+`-`+ownID+`-(\d+)`),
			regexp.MustCompile(`\bg(\d+)\.`+ownID+`\.conformance\b`)),
		placeholders:  httpdiff.NewPlaceholders("", true),
		canonicalizer: httpdiff.NewCanonicalizer(nil).SortingManagers(),
	}
	of := left.result.Case
	c.result = Case{
		ID: of.ID, Rule: of.Rule(), Level: of.Level.String(), Title: of.Title, Left: outcomeOf(left.result), Right: outcomeOf(right.result),
	}
	skippedLeft, skippedRight := left.result.Outcome == conformance.Skipped, right.result.Outcome == conformance.Skipped
	switch {
	case skippedLeft && skippedRight:
		c.result.Verdict = Neither
	case skippedLeft:
		c.result.Verdict = RightOnly
	case skippedRight:
		c.result.Verdict = LeftOnly
	default:
		c.compare()
	}
	return c.result
}

func outcomeOf(r conformance.Result) Outcome {
	o := Outcome{Outcome: r.Outcome, Reason: r.Reason}
	if r.Err != nil {
		o.Reason = r.Err.Error()
	}
	return o
}

// compare compares the exchanges up to the first request that differs.
func (c *caseComparison) compare() {
	left, right := sortExchanges(c.left.exchanges), sortExchanges(c.right.exchanges)
	n := 0
	for ; n < min(len(left), len(right)); n++ {
		var d httpdiff.Differences
		c.compareRequests(left[n], right[n], &d)
		parted := len(d) > 0
		if !parted {
			c.compareAnswers(left[n], right[n], &d)
		}
		c.addDifferences(n+1, c.requestLine(left[n]), d)
		if parted {
			break
		}
	}
	c.result.Exchanges = n
	if n == min(len(left), len(right)) {
		c.compareEnds(n, left[n:], right[n:])
	}
	c.result.Verdict = Same
	if len(c.result.Differing) > 0 {
		c.result.Verdict = Different
	}
}

// addDifferences adds an exchange to the differing ones if d is not empty.
func (c *caseComparison) addDifferences(number int, request string, d httpdiff.Differences) {
	if len(d) > 0 {
		later := len(c.result.Differing) > 0
		c.result.Differing = append(c.result.Differing, Exchange{Number: number, Request: request, Later: later, Differences: d})
	}
}

// compareEnds reports requests that only one side sent, and different outcomes of the case.
func (c *caseComparison) compareEnds(n int, left, right []*exchange) {
	var d httpdiff.Differences
	switch {
	case len(left) > 0:
		d = httpdiff.Differences{{At: "request", Left: c.left.line(left[0]), Note: fmt.Sprintf("%d more on the left", len(left))}}
		c.addDifferences(n+1, c.requestLine(left[0]), d)
	case len(right) > 0:
		d = httpdiff.Differences{{At: "request", Right: c.right.line(right[0]), Note: fmt.Sprintf("%d more on the right", len(right))}}
		c.addDifferences(n+1, c.right.line(right[0]), d)
	case c.result.Left.Outcome != c.result.Right.Outcome:
		d = httpdiff.Differences{{At: "outcome", Left: string(c.result.Left.Outcome), Right: string(c.result.Right.Outcome)}}
		c.addDifferences(n, "the end of the case", d)
	}
}

// requestLine returns the method and the path of a request of the left side, with placeholders.
func (c *caseComparison) requestLine(one *exchange) string {
	return c.normalizer.Text(c.left.line(one))
}

// compareRequests compares the requests of an exchange.
func (c *caseComparison) compareRequests(left, right *exchange, d *httpdiff.Differences) {
	c.placeholders.CompareText("request", c.requestLine(left), c.right.line(right), d)
	if left.purpose.ConcurrentIndex > 0 { // the order is that of the response codes
		return
	}
	c.placeholders.CompareHeaders([]string{"Accept", "Content-Type"}, c.normalizer.Headers(left.header), right.header, d)
	if l, r := left.request(), right.request(); (l == nil) == (r == nil) {
		c.placeholders.Compare("request", c.normalizer.Value(c.left.body(left.header, l)), c.right.body(right.header, r), d)
	}
	for i := range *d {
		if at := (*d)[i].At; !strings.HasPrefix(at, "request") {
			(*d)[i].At = "request " + at
		}
	}
}

// compareAnswers compares the responses. For set-up requests, and after the first concurrent
// request, it compares only the status codes and reads the rest for placeholder values.
func (c *caseComparison) compareAnswers(left, right *exchange, d *httpdiff.Differences) {
	if left.code != right.code {
		*d = append(*d, httpdiff.Difference{At: "code", Left: c.left.beginning(left), Right: c.right.beginning(right)})
		return
	}
	if left.code == 0 {
		return
	}
	var found httpdiff.Differences
	c.placeholders.CompareHeaders(comparedHeaders, c.normalizer.Headers(left.answer, opaqueHeaders...), right.answer, &found)
	if left.isStream() {
		c.compareStreams(left, right, &found)
	} else {
		l, _ := left.response()
		r, _ := right.response()
		c.placeholders.Compare("body", c.normalizer.Value(c.canonicalizer.Body(c.left.body(left.answer, l))), c.canonicalizer.Body(c.right.body(right.answer, r)), &found)
	}
	c.racing = c.racing || left.purpose.ConcurrentIndex > 0
	if !left.purpose.Setup && !c.racing {
		*d = append(*d, found...)
	}
}

// compareStreams compares the watch events that both sides have read. The number of events may
// differ, because the case stops reading at an arbitrary event, unless the shorter stream was ended
// by its server.
func (c *caseComparison) compareStreams(left, right *exchange, d *httpdiff.Differences) {
	l, leftEnded := left.response()
	r, rightEnded := right.response()
	lefts := httpdiff.DecodeEvents(left.answer.Get("Content-Type"), c.left.normalizeID(httpdiff.Gunzip(left.answer, l)))
	rights := httpdiff.DecodeEvents(right.answer.Get("Content-Type"), c.right.normalizeID(httpdiff.Gunzip(right.answer, r)))
	for i := range min(len(lefts), len(rights)) {
		at := fmt.Sprintf("event %d", i)
		c.placeholders.Compare(at, c.normalizer.Value(c.canonicalizer.Event(lefts[i])), c.canonicalizer.Event(rights[i]), d)
	}
	if leftEnded && len(rights) > len(lefts) || rightEnded && len(lefts) > len(rights) {
		*d = append(*d, httpdiff.Difference{At: "events", Left: fmt.Sprint(len(lefts)), Right: fmt.Sprint(len(rights))})
	}
}

// isStream reports whether the response is a watch stream.
func (e *exchange) isStream() bool {
	watched := e.method == http.MethodGet && (strings.Contains(e.path, "watch=") || strings.Contains(e.path, "/watch/"))
	return watched && e.code == http.StatusOK && frames.NewSplitter(frames.MediaType(e.answer.Get("Content-Type"))) != nil
}

// normalizeID replaces the run ID in a body or path.
func (r caseRun) normalizeID(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte(r.run), []byte(ownID))
	return bytes.ReplaceAll(body, []byte(upperID(r.run)), []byte(upperID(ownID)))
}

// upperID returns the ID as it is written in OpenAPI identifiers.
func upperID(id string) string { return strings.ToUpper(id[:1]) + id[1:] }

// body decodes a body and replaces the run ID and the host.
func (r caseRun) body(header http.Header, body []byte) any {
	return r.withoutHost(httpdiff.DecodeBody(header, r.normalizeID(httpdiff.Gunzip(header, body))))
}

// webhookURL matches the beginning of the URLs of the suite's webhook. Each run has a port of its
// own.
var webhookURL = regexp.MustCompile(`https://127\.0\.0\.1:[0-9]{4,5}/`)

// withoutHost replaces the addresses of the server and of the suite's webhook in all strings of v,
// and the certificates of webhooks.
func (r caseRun) withoutHost(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = r.withoutHost(x)
		}
		if _, found := v["caBundle"]; found {
			v["caBundle"] = "CA"
		}
	case []any:
		for i, x := range v {
			v[i] = r.withoutHost(x)
		}
	case string:
		return webhookURL.ReplaceAllString(strings.ReplaceAll(v, r.host, "HOST"), "https://WEBHOOK/")
	}
	return v
}

// line returns the method and the path of a request.
func (r caseRun) line(one *exchange) string {
	return one.method + " " + string(r.normalizeID([]byte(one.path)))
}

// beginning returns the status code of a response and the beginning of its body.
func (r caseRun) beginning(one *exchange) string {
	if one.code == 0 {
		return "no response: " + one.err.Error()
	}
	got, _ := one.response()
	text := httpdiff.Short(r.body(one.answer, got))
	if status, ok := r.body(one.answer, got).(map[string]any); ok && status["kind"] == "Status" {
		text = fmt.Sprintf("%v: %v", status["reason"], status["message"])
	}
	return fmt.Sprintf("%d %s", one.code, text)
}
