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

// comparedHeaders are those of an answer that say something about an API server. Of those in opaqueHeaders only the presence does.
var (
	comparedHeaders = []string{
		"Allow", "Audit-Id", "Cache-Control", "Content-Encoding", "Content-Type", "Etag", "Last-Modified", "Location", "Retry-After", "Vary",
		"Warning", "Www-Authenticate", "X-Content-Type-Options",
	}
	opaqueHeaders = []string{"Audit-Id", "Etag", "Last-Modified"}
)

// ownID stands in names in place of the ID of a run. It is as long, so that no length changes.
const ownID = "xxxxx"

// caseComparison holds the exchanges of a case on both sides against each other.
type caseComparison struct {
	left, right   caseRun
	normalizer    *httpdiff.Normalizer
	placeholders  *httpdiff.Placeholders
	canonicalizer httpdiff.Canonicalizer
	// racing: requests were sent side by side. Who came first is chance, and so is the state from there on.
	racing bool
	result Case
}

// compareCase gives the verdict on a case that was run on both sides.
func compareCase(left, right caseRun, prefix string) Case {
	j := &caseComparison{
		left: left, right: right,
		normalizer: httpdiff.NewNormalizer(
			regexp.MustCompile(regexp.QuoteMeta(prefix)+`-`+ownID+`-(\d+)`),
			regexp.MustCompile(`\bg(\d+)\.`+ownID+`\.conformance\b`)),
		placeholders:  httpdiff.NewPlaceholders("", true),
		canonicalizer: httpdiff.NewCanonicalizer(nil).SortingManagers(),
	}
	of := left.result.Case
	j.result = Case{
		ID: of.ID, Rule: of.Rule(), Level: of.Level.String(), Title: of.Title, Left: outcomeOf(left.result), Right: outcomeOf(right.result),
	}
	skippedLeft, skippedRight := left.result.Outcome == conformance.Skipped, right.result.Outcome == conformance.Skipped
	switch {
	case skippedLeft && skippedRight:
		j.result.Verdict = Neither
	case skippedLeft:
		j.result.Verdict = RightOnly
	case skippedRight:
		j.result.Verdict = LeftOnly
	default:
		j.compare()
	}
	return j.result
}

func outcomeOf(r conformance.Result) Outcome {
	o := Outcome{Outcome: r.Outcome, Reason: r.Reason}
	if r.Err != nil {
		o.Reason = r.Err.Error()
	}
	return o
}

// compare walks through the exchanges until the requests part.
func (j *caseComparison) compare() {
	left, right := sortExchanges(j.left.exchanges), sortExchanges(j.right.exchanges)
	n := 0
	for ; n < min(len(left), len(right)); n++ {
		var d httpdiff.Differences
		j.compareRequests(left[n], right[n], &d)
		parted := len(d) > 0
		if !parted {
			j.compareAnswers(left[n], right[n], &d)
		}
		j.addDifferences(n+1, j.requestLine(left[n]), d)
		if parted {
			break
		}
	}
	j.result.Exchanges = n
	if n == min(len(left), len(right)) {
		j.compareEnds(n, left[n:], right[n:])
	}
	j.result.Verdict = Same
	if len(j.result.Differing) > 0 {
		j.result.Verdict = Different
	}
}

// addDifferences adds an exchange to those that differ, if it does.
func (j *caseComparison) addDifferences(number int, request string, d httpdiff.Differences) {
	if len(d) > 0 {
		later := len(j.result.Differing) > 0
		j.result.Differing = append(j.result.Differing, Exchange{Number: number, Request: request, Later: later, Differences: d})
	}
}

// compareEnds looks at what only one side has sent, and at how the case ended.
func (j *caseComparison) compareEnds(n int, left, right []*exchange) {
	var d httpdiff.Differences
	switch {
	case len(left) > 0:
		d = httpdiff.Differences{{At: "request", Left: j.left.line(left[0]), Note: fmt.Sprintf("%d more on the left", len(left))}}
		j.addDifferences(n+1, j.requestLine(left[0]), d)
	case len(right) > 0:
		d = httpdiff.Differences{{At: "request", Right: j.right.line(right[0]), Note: fmt.Sprintf("%d more on the right", len(right))}}
		j.addDifferences(n+1, j.right.line(right[0]), d)
	case j.result.Left.Outcome != j.result.Right.Outcome:
		d = httpdiff.Differences{{At: "outcome", Left: string(j.result.Left.Outcome), Right: string(j.result.Right.Outcome)}}
		j.addDifferences(n, "the end of the case", d)
	}
}

// requestLine is the method and the path of a request of the left, with symbols.
func (j *caseComparison) requestLine(one *exchange) string {
	return j.normalizer.Text(j.left.line(one))
}

// compareRequests tells whether the case has asked the same on both sides.
func (j *caseComparison) compareRequests(left, right *exchange, d *httpdiff.Differences) {
	j.placeholders.CompareText("request", j.requestLine(left), j.right.line(right), d)
	if left.purpose.ConcurrentIndex > 0 { // they stand in the order of their answers
		return
	}
	j.placeholders.CompareHeaders([]string{"Accept", "Content-Type"}, j.normalizer.Headers(left.header), right.header, d)
	if l, r := left.request(), right.request(); (l == nil) == (r == nil) {
		j.placeholders.Compare("request", j.normalizer.Value(j.left.body(left.header, l)), j.right.body(right.header, r), d)
	}
	for i := range *d {
		if at := (*d)[i].At; !strings.HasPrefix(at, "request") {
			(*d)[i].At = "request " + at
		}
	}
}

// compareAnswers looks at the answers. Of those to set-up, and from requests on that were
// sent side by side, only the codes are compared, the rest is read for its symbols.
func (j *caseComparison) compareAnswers(left, right *exchange, d *httpdiff.Differences) {
	if left.code != right.code {
		*d = append(*d, httpdiff.Difference{At: "code", Left: j.left.beginning(left), Right: j.right.beginning(right)})
		return
	}
	if left.code == 0 {
		return
	}
	var found httpdiff.Differences
	j.placeholders.CompareHeaders(comparedHeaders, j.normalizer.Headers(left.answer, opaqueHeaders...), right.answer, &found)
	if left.isStream() {
		j.compareStreams(left, right, &found)
	} else {
		l, _ := left.response()
		r, _ := right.response()
		j.placeholders.Compare("body", j.normalizer.Value(j.canonicalizer.Body(j.left.body(left.answer, l))), j.canonicalizer.Body(j.right.body(right.answer, r)), &found)
	}
	j.racing = j.racing || left.purpose.ConcurrentIndex > 0
	if !left.purpose.Setup && !j.racing {
		*d = append(*d, found...)
	}
}

// compareStreams compares the events that both sides have read. How many more a side has read before the case left is chance,
// unless the other's stream ended there.
func (j *caseComparison) compareStreams(left, right *exchange, d *httpdiff.Differences) {
	l, leftEnded := left.response()
	r, rightEnded := right.response()
	lefts := decodeEvents(left.answer.Get("Content-Type"), j.left.normalizeID(gunzip(left.answer, l)))
	rights := decodeEvents(right.answer.Get("Content-Type"), j.right.normalizeID(gunzip(right.answer, r)))
	for i := range min(len(lefts), len(rights)) {
		at := fmt.Sprintf("event %d", i)
		j.placeholders.Compare(at, j.normalizer.Value(j.canonicalizer.Event(lefts[i])), j.canonicalizer.Event(rights[i]), d)
	}
	if leftEnded && len(rights) > len(lefts) || rightEnded && len(lefts) > len(rights) {
		*d = append(*d, httpdiff.Difference{At: "events", Left: fmt.Sprint(len(lefts)), Right: fmt.Sprint(len(rights))})
	}
}

// isStream reports whether the answer is a watch.
func (e *exchange) isStream() bool {
	watched := e.method == http.MethodGet && (strings.Contains(e.path, "watch=") || strings.Contains(e.path, "/watch/"))
	return watched && e.code == http.StatusOK && frames.NewSplitter(frames.MediaType(e.answer.Get("Content-Type"))) != nil
}

// normalizeID is what one side sent or got without the ID of its run, and without its own address.
func (t caseRun) normalizeID(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte(t.run), []byte(ownID))
	return bytes.ReplaceAll(body, []byte(upperID(t.run)), []byte(upperID(ownID)))
}

// upperID is the ID as it stands in the identifiers of OpenAPI.
func upperID(id string) string { return strings.ToUpper(id[:1]) + id[1:] }

// body is the value of a body.
func (t caseRun) body(header http.Header, body []byte) any {
	return t.withoutHost(decodeBody(header, t.normalizeID(gunzip(header, body))))
}

// withoutHost replaces the address of the server.
func (t caseRun) withoutHost(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = t.withoutHost(x)
		}
	case []any:
		for i, x := range v {
			v[i] = t.withoutHost(x)
		}
	case string:
		return strings.ReplaceAll(v, t.host, "HOST")
	}
	return v
}

// line is the method and the path of a request.
func (t caseRun) line(one *exchange) string {
	return one.method + " " + string(t.normalizeID([]byte(one.path)))
}

// beginning is the code of an answer and the first part of it.
func (t caseRun) beginning(one *exchange) string {
	if one.code == 0 {
		return "no answer: " + one.err.Error()
	}
	got, _ := one.response()
	text := httpdiff.Short(t.body(one.answer, got))
	if status, ok := t.body(one.answer, got).(map[string]any); ok && status["kind"] == "Status" {
		text = fmt.Sprintf("%v: %v", status["reason"], status["message"])
	}
	return fmt.Sprintf("%d %s", one.code, text)
}
