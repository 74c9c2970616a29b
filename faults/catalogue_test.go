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

// probe is how a rule of the catalogue shows: what is asked, and what comes.
type probe struct {
	ask    []string
	code   int    // 0: no answer at all
	body   string // exactly, but for "...", which stands for anything
	header string // "NAME: VALUE", one a line
	broken bool
	began  time.Duration // if not 0, exactly
	took   time.Duration // if not 0, exactly
}

const (
	theWatch  = "GET " + pods + "?watch=1&resourceVersion=5"
	theStream = "GET " + pods + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=5"
	theList   = "GET " + pods + "?limit=5&resourceVersionMatch=Exact&resourceVersion=9"
	thePage   = "GET " + pods + "?limit=5&continue=abc"
	theGet    = "GET " + pods + "/a"
	theCreate = "POST " + pods
	theUpdate = "PUT " + pods + "/a"
	theLease  = "PUT /apis/coordination.k8s.io/v1/namespaces/ns/leases/a"
	thePatch  = "PATCH " + pods + "/a"
	theDelete = "DELETE " + pods + "/a"
	theGroups = "GET /apis application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

	allFrames = podA + podB + last + mark
	wait      = "Retry-After: 1"
	plainText = "Content-Type: text/plain; charset=utf-8"
	notFound  = "404 page not found\n"
)

// st is the JSON of a Status; details is "" or JSON.
func st(code int, reason, message, details string) string {
	return stIn(`{}`, code, reason, message, details)
}

func stIn(meta string, code int, reason, message, details string) string {
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

// event is the frame of an ERROR event.
func event(status string) string {
	return `{"type":"ERROR","object":` + strings.TrimSuffix(status, "\n") + "}\n"
}

// edited is text with the first of each pair replaced by the second.
func edited(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func read(ask string, body string) probe { return probe{ask: []string{ask}, code: 200, body: body} }

func refused(ask string, code int, body string, header ...string) probe {
	return probe{ask: []string{ask}, code: code, body: body, header: strings.Join(header, "\n")}
}

func lost(ask string) probe { return probe{ask: []string{ask}, broken: true} }

func (p probe) cut() probe                   { p.broken = true; return p }
func (p probe) in(d time.Duration) probe     { p.took = d; return p }
func (p probe) after(d time.Duration) probe  { p.began = d; return p }
func (p probe) with(h string) probe          { p.header = h; return p }
func (p probe) asked(before ...string) probe { p.ask = append(before, p.ask...); return p }

// TestCatalogue walks CATALOGUE.md: each rule of each case prints as it stands
// there, can be armed, fires, and does to the client what the case says.
func TestCatalogue(t *testing.T) {
	cases := readCatalogue(t)
	probes := catalogueProbes()
	require.Len(t, cases, 116)
	byRule, byServer := 0, 0
	var missing []string
	for i, c := range cases {
		require.Equal(t, strconv.Itoa(i+1), c.number, c.name)
		require.NotEmpty(t, c.name)
		require.True(t, len(c.rules) > 0 || c.server != "" || c.needs != "", "%s has neither rules, nor a server's way, nor a reason", c.name)
		require.Len(t, probes[i+1], len(c.rules), "%s: each rule needs a probe", c.name)
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
				p.check(t, ask(t, rule, p.ask...))
			})
		}
	}
	require.Equal(t, 97, byRule)
	require.Equal(t, 19, byServer)
	require.Empty(t, missing, "what is missing, in whole or in part")
}

func (p probe) check(t *testing.T, g got) {
	require.Equal(t, p.code, g.code)
	require.Equal(t, p.broken, g.broken)
	rest, from := g.body, true
	for part := range strings.SplitSeq(p.body, "...") {
		at := strings.Index(rest, part)
		require.True(t, at == 0 || at > 0 && !from, "expected %q\nfound    %q", p.body, g.body)
		rest, from = rest[at+len(part):], false
	}
	if !strings.HasSuffix(p.body, "...") {
		require.Empty(t, rest, "behind what was expected")
	}
	for line := range strings.Lines(p.header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		require.Equal(t, value, strings.Join(g.header.Values(name), " | "), name)
	}
	if g.code == http.StatusTooManyRequests && !strings.Contains(p.header, "Retry-After") {
		require.Empty(t, g.header.Values("Retry-After"))
	}
	if p.began != 0 {
		require.Equal(t, p.began, g.began)
	}
	if p.took != 0 {
		require.Equal(t, p.took, g.took)
	}
}

// TestCatalogueKnobs: what the catalogue gives a name to in Go is what it says.
func TestCatalogueKnobs(t *testing.T) {
	cases := readCatalogue(t)
	for number, rule := range map[int]faults.Rule{85: faults.TooBusy(time.Second), 90: faults.BadGateway()} {
		rule.Name = ""
		require.Equal(t, cases[number-1].rules[0], rule.String())
	}
}
