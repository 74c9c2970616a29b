package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
)

// probe has requests and the expected last response.
type probe struct {
	requests   []string
	code       int    // 0 if there is no response
	body       string // "..." matches any text
	header     string // "NAME: VALUE" on each line
	incomplete bool
	headerTime time.Duration // not checked if 0
	totalTime  time.Duration // not checked if 0
}

const (
	watchRequest     = "GET " + pods + "?watch=1&resourceVersion=5"
	watchListRequest = "GET " + pods + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=5"
	listRequest      = "GET " + pods + "?limit=5&resourceVersionMatch=Exact&resourceVersion=9"
	continueRequest  = "GET " + pods + "?limit=5&continue=abc"
	getRequest       = "GET " + pods + "/a"
	createRequest    = "POST " + pods
	updateRequest    = "PUT " + pods + "/a"
	leaseRequest     = "PUT /apis/coordination.k8s.io/v1/namespaces/ns/leases/a"
	patchRequest     = "PATCH " + pods + "/a"
	deleteRequest    = "DELETE " + pods + "/a"
	hookCall         = "CALL x.example.com"
	discoveryRequest = "GET /apis application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

	allFrames     = podA + podB + initialEventsEndEvent + bookmark
	retryAfterOne = "Retry-After: 1"
	plainText     = "Content-Type: text/plain; charset=utf-8"
	notFound      = "404 page not found\n"
)

// statusJSON returns the JSON of a Status. details is "" or JSON.
func statusJSON(code int, reason, message, details string) string {
	return statusJSONWithMeta(`{}`, code, reason, message, details)
}

func statusJSONWithMeta(meta string, code int, reason, message, details string) string {
	quoted, err := json.Marshal(message)
	must(err)
	if reason != "" {
		reason = `,"reason":"` + reason + `"`
	}
	if details != "" {
		details = `,"details":` + details
	}
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":%s,"status":"Failure","message":%s%s%s,"code":%d}`+"\n", meta, quoted, reason, details, code)
}

// errorEventJSON returns the frame of an ERROR event.
func errorEventJSON(status string) string {
	return `{"type":"ERROR","object":` + strings.TrimSuffix(status, "\n") + "}\n"
}

// replaceFirst returns text with the first element of each pair replaced by the second, once.
func replaceFirst(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func succeeds(ask string, body string) probe {
	return probe{requests: []string{ask}, code: 200, body: body}
}

func fails(ask string, code int, body string, header ...string) probe {
	return probe{requests: []string{ask}, code: code, body: body, header: strings.Join(header, "\n")}
}

func getsNoResponse(ask string) probe { return probe{requests: []string{ask}, incomplete: true} }

func (p probe) truncated() probe                  { p.incomplete = true; return p }
func (p probe) within(d time.Duration) probe      { p.totalTime = d; return p }
func (p probe) headerAfter(d time.Duration) probe { p.headerTime = d; return p }
func (p probe) withHeader(h string) probe         { p.header = h; return p }
func (p probe) afterRequests(before ...string) probe {
	p.requests = append(before, p.requests...)
	return p
}

// TestCatalogue tests each rule of CATALOGUE.md: it is in canonical form, can be added, is applied,
// and has the expected effect on the client.
func TestCatalogue(t *testing.T) {
	cases := readCatalogue(t)
	probes := catalogueProbes()
	require.Len(t, cases, 133)
	byRule, byServer := 0, 0
	var missing []string
	for i, c := range cases {
		require.Equal(t, strconv.Itoa(i+1), c.number, c.name)
		require.NotEmpty(t, c.name)
		require.True(t, len(c.rules) > 0 || c.server != "" || c.needs != "", "%s has no rules, no Server: and no Needs:", c.name)
		require.Len(t, probes[i+1], len(c.rules), "%s: one probe for each rule", c.name)
		switch {
		case len(c.rules) > 0:
			byRule++
		case c.server != "":
			byServer++
		}
		if c.needs != "" {
			missing = append(missing, c.number)
		}
		for j, rule := range c.rules {
			t.Run(fmt.Sprintf("%s %s/%d", c.number, c.name, j+1), func(t *testing.T) {
				r, err := faults.Parse(rule)
				require.NoError(t, err)
				require.NoError(t, r.Validate())
				require.Equal(t, rule, r.String())
				p := probes[i+1][j]
				p.check(t, sendRequests(t, rule, p.requests...))
			})
		}
	}
	require.Equal(t, 110, byRule)
	require.Equal(t, 23, byServer)
	require.Empty(t, missing, "cases with \"Needs:\"")
}

func (p probe) check(t *testing.T, g response) {
	require.Equal(t, p.code, g.code)
	require.Equal(t, p.incomplete, g.incomplete)
	rest, from := g.body, true
	for part := range strings.SplitSeq(p.body, "...") {
		at := strings.Index(rest, part)
		require.True(t, at == 0 || at > 0 && !from, "expected %q\nfound    %q", p.body, g.body)
		rest, from = rest[at+len(part):], false
	}
	if !strings.HasSuffix(p.body, "...") {
		require.Empty(t, rest, "after the expected body")
	}
	for line := range strings.Lines(p.header) {
		name, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		require.True(t, found, line)
		require.Equal(t, value, strings.Join(g.header.Values(name), " | "), name)
	}
	if g.code == http.StatusTooManyRequests && !strings.Contains(p.header, "Retry-After") {
		require.Empty(t, g.header.Values("Retry-After"))
	}
	if p.headerTime != 0 {
		require.Equal(t, p.headerTime, g.headerTime)
	}
	if p.totalTime != 0 {
		require.Equal(t, p.totalTime, g.totalTime)
	}
}

// TestCataloguePresets tests the rules for which the catalogue names a function.
func TestCataloguePresets(t *testing.T) {
	cases := readCatalogue(t)
	for number, rule := range map[int]faults.Rule{85: faults.TooBusy(time.Second), 90: faults.BadGateway()} {
		rule.Name = ""
		require.Equal(t, cases[number-1].rules[0], rule.String())
	}
	for i, rule := range faults.RevokeFor(5 * time.Minute) {
		rule.Name = ""
		require.Equal(t, cases[127].rules[i], rule.String())
	}
}
