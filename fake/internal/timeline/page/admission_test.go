package page_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"example.com/fakeapi/fake/internal/timeline"
)

// newReviewedTimeline returns the timeline of a write that a webhook changed, a policy warned about
// and another webhook denied.
func newReviewedTimeline() timeline.Timeline {
	tl := newTimeline(newBody("a", "b"), newBody("a", "b"))
	e := &tl.Exchanges[0]
	e.StatusCode, e.ResourceVersion = 403, ""
	e.Admission = []timeline.AdmissionDecision{
		{
			Plugin: "MutatingAdmissionWebhook", Configuration: "defaults", Name: "size.example.com", Operation: "CREATE", Object: "configmaps default/",
			Begin: start.Add(5 * time.Millisecond), Duration: 3 * time.Millisecond, Outcome: "allowed", Code: 200,
			Changes: []timeline.AdmissionChange{{Op: "add", Path: "/metadata/labels/size", Value: `"xl"`}, {Op: "remove", Path: "/data/old"}},
		},
		{Plugin: "MutatingAdmissionWebhook", Configuration: "defaults", Name: "idle.example.com", Outcome: "allowed", Code: 200},
		{Plugin: "MutatingAdmissionWebhook", Configuration: "defaults", Name: "down.example.com", Outcome: "ignored", Code: 503, Message: "refused"},
		{
			Plugin: "ValidatingAdmissionPolicy", Configuration: "bind", Name: "pol", Outcome: "warned", Message: "not good",
			Warnings: []string{"old"}, AuditAnnotations: map[string]string{"pol/k": "v"}, Dropped: 2,
		},
		{Plugin: "ValidatingAdmissionWebhook", Configuration: "checks", Name: "owner.example.com", Outcome: "denied", Code: 403, Message: "no owner"},
	}
	e.DecisionsDropped = 4
	return tl
}

// The page shows who changed which field and who denied a write: in the text of the mark, in the
// details and in the table.
func TestPageShowsDecisions(t *testing.T) {
	page := render(t, newReviewedTimeline(), "x")
	require.Contains(t, page.data().Marks[0].Text, ", 403 Forbidden, webhook defaults/size.example.com changed it, "+
		"webhook defaults/down.example.com failed, ignored, policy pol (binding bind) warned, webhook checks/owner.example.com denied, at +0s")

	type decision struct {
		By, Title, Outcome, When, About, Message string
		Changes                                  []struct{ Op, Path, Value string }
		Texts                                    []string
	}
	var data struct {
		Exchanges []struct {
			Admission     []decision
			DecisionsLost int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(content(page.byID("data"))), &data))
	require.Equal(t, 4, data.Exchanges[0].DecisionsLost)
	all := data.Exchanges[0].Admission
	require.Len(t, all, 5)
	require.Equal(t, decision{
		By: "webhook defaults/size.example.com", Title: "webhook defaults/size.example.com allowed in 3ms", Outcome: "allowed", When: "+5ms",
		About:   "CREATE configmaps default/",
		Changes: []struct{ Op, Path, Value string }{{"add", "/metadata/labels/size", `"xl"`}, {"remove", "/data/old", ""}},
	}, all[0])
	require.Equal(t, "webhook defaults/down.example.com failed, ignored with 503", all[2].Title)
	require.Equal(t, []string{"warning: old", "audit annotation pol/k: v", "2 more were dropped"}, all[3].Texts)
	require.Equal(t, "no owner", all[4].Message)

	row := content(page.byID("e1"))
	require.Contains(t, row, "webhook defaults/size.example.com changed /metadata/labels/size /data/old, webhook defaults/idle.example.com allowed, ")
	require.Contains(t, row, "webhook checks/owner.example.com denied")
	count := func(in *html.Node, tag string) (n int) {
		for d := range in.Descendants() {
			if d.Type == html.ElementNode && d.Data == tag {
				n++
			}
		}
		return n
	}
	require.Equal(t, count(page.byID("rows"), "th"), count(page.byID("e1"), "td"), "a cell for each heading")
	require.Contains(t, page.text, "9 decisions of admission")
	require.NotContains(t, render(t, newTimeline(newBody("a", "b"), newBody("a", "b")), "x").text, "decisions of admission</span>")
}

// The details, the filter and the buttons of refusals in a real browser.
func TestPageDecisionsInBrowser(t *testing.T) {
	b := openBrowser(t)
	b.open(newReviewedTimeline(), "x", "#e1")
	b.eventually(`document.querySelectorAll("#detail .decision").length === 5`)
	require.Equal(t, "add /metadata/labels/size: \"xl\"", b.text(`document.querySelector("#detail .decision.changed li").textContent`))
	require.Contains(t, b.text(`document.querySelector("#detail .decision.denied").textContent`), "no owner")
	require.Contains(t, b.text(`document.getElementById("chips").textContent`), "webhook checks/owner.example.com refused")
	for filter, want := range map[string]string{"idle.example.com": "1 of 1", "/metadata/labels/size": "1 of 1", "elsewhere": "0 of 1"} {
		b.value(`(() => { const f = document.getElementById("filter"); f.value = "` + filter + `"; f.dispatchEvent(new Event("input")) })()`)
		require.Contains(t, b.text(`document.getElementById("live").textContent`), want, filter)
	}
	require.Empty(t, b.errorMessages())
}
