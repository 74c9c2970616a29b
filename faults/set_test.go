package faults_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/faults"
)

func TestPredicates(t *testing.T) {
	for _, c := range []struct{ request, yes, no string }{
		{"GET /api/v1/namespaces/ns/pods/web-0", "verb(get) && resource(pods) && namespace(ns) && name(web-*)", "name(web) || resource(pods/status)"},
		{"GET /api/v1/namespaces/ns/pods/web-0", "resource(pods.) && resource(*) && resource(a, pods)", "resource(pods.apps) || resource(*/*) || verb(list, watch)"},
		{"PUT /api/v1/namespaces/ns/pods/web-0/status", "verb(update) && resource(pods/status) && resource(pods/*) && resource(*/status)", "resource(pods) || resource(*)"},
		{"GET /apis/apps/v1/deployments?limit=5&labelSelector=a%3Db", "resource(deployments) && resource(deployments.apps) && query(limit) && query(labelSelector, c, \"a=b\")", "namespace(*) || name(*) || query(continue) || query(limit, 6)"},
		{"GET /apis/apps/v1/deployments?continue=", "verb(list)", "query(continue)"},
		{"GET /api/v1/nodes?fieldSelector=metadata.name%3Dn1", "verb(list) && name(n1)", "name(n2)"},
		{"GET /api/v1/nodes?fieldSelector=status.phase%3Dn1", "verb(list)", "name(n1)"},
		{"GET /api/v1/nodes?fieldSelector=%3D%3D%3D", "verb(list)", "name(*)"},
		{"GET /api/v1/nodes/n1?fieldSelector=metadata.name%3Dn2", "name(n1)", "name(n2)"},
		{"GET /api/v1/nodes?watch=1", "verb(watch) && during(before)", "verb(list) || verb(get)"},
		{"GET /readyz", "path(/readyz) && path(/) && userAgent(test)", "verb(get) || resource(*) || path(/api)"},
		{"GET /apis", "path(/apis) && !userAgent(Test)", "verb(get)"},
		{"DELETE /api/v1/namespaces/ns", "verb(delete) && resource(namespaces) && name(ns)", "verb(deletecollection)"},
		{"POST /api/v1/namespaces/ns/pods", "verb(create)", "name(*)"},
	} {
		var method, url string
		_, err := fmt.Sscan(c.request, &method, &url)
		require.NoError(t, err)
		r := httptest.NewRequest(method, url, nil)
		r.Header.Set("User-Agent", "test/v1")
		op := faults.NewOp(r)
		for condition, want := range map[string]bool{c.yes: true, c.no: false, "always": true} {
			rule, err := faults.Parse("when " + condition + " do reset")
			require.NoError(t, err)
			require.Equal(t, want, rule.When.Eval(op), "%s: %s", c.request, condition)
		}
	}
}

// codes sends n GETs of an object and returns the status codes.
func codes(set *faults.Set, n int, path string) (got []int) {
	h := faults.Handler(set, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for range n {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		got = append(got, w.Code)
	}
	return got
}

func TestCounting(t *testing.T) {
	for condition, want := range map[string][]int{
		"nth(2)":   {200, 409, 200, 200, 200, 200},
		"first(2)": {409, 409, 200, 200, 200, 200},
		"every(2)": {200, 409, 200, 409, 200, 409},
		// Each counts only what the one before it matches.
		"every(2) && nth(2)": {200, 200, 200, 409, 200, 200},
		"!first(4)":          {200, 200, 200, 200, 409, 409},
	} {
		var set faults.Set
		_, err := set.AddText("when verb(get) && name(x) && " + condition + " do status(409)")
		require.NoError(t, err)
		var got []int
		for range want {
			got = append(got, codes(&set, 1, pods+"/x")...)
			require.Equal(t, []int{200, 200}, codes(&set, 2, pods+"/y"), "other objects are not counted")
		}
		require.Equal(t, want, got, condition)
	}
}

// TestRuleIsNotConsumed tests that a rule can be added several times and prints its configured
// count.
func TestRuleIsNotConsumed(t *testing.T) {
	rule := faults.Rule{When: faults.First(1), Do: []faults.Effect{faults.Reply(faults.Conflict())}}
	for range 2 {
		var set faults.Set
		for range 2 {
			_, err := set.Add(rule)
			require.NoError(t, err)
		}
		require.Equal(t, []int{409, 409, 200}, codes(&set, 3, pods+"/x"))
		require.Equal(t, "when first(1) do status(409, Conflict)", set.Rules()[0].String())
	}
}

// TestRulesAreCopied tests that neither the rule that was added nor one that Rules returned is that
// of the set.
func TestRulesAreCopied(t *testing.T) {
	var set faults.Set
	added := faults.Rule{Do: []faults.Effect{faults.Reset()}}
	_, err := set.Add(added)
	require.NoError(t, err)
	added.Do[0] = faults.Hang()
	set.Rules()[0].Do[0] = faults.Hang()
	require.Equal(t, "when always do reset", set.Rules()[0].String())
}

// TestFirstFinalRuleWins tests that the rules after it are not evaluated and do not count.
func TestFirstFinalRuleWins(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when first(2) do status(409)\nwhen first(1) do status(410)")
	require.NoError(t, err)
	require.Equal(t, []int{409, 409, 410, 200}, codes(&set, 4, pods+"/x"))
}

// TestChanceIsPerObject tests that the sequence of an object does not depend on requests for
// others.
func TestChanceIsPerObject(t *testing.T) {
	run := func(seed int, others bool) (got []int) {
		var set faults.Set
		_, err := set.AddText(fmt.Sprintf("when chance(0.5, %d) do status(409)", seed))
		require.NoError(t, err)
		for range 64 {
			if others {
				codes(&set, 3, pods+"/other")
			}
			got = append(got, codes(&set, 1, pods+"/x")...)
		}
		return got
	}
	alone := run(7, false)
	require.Equal(t, alone, run(7, true))
	require.NotEqual(t, alone, run(8, false))
	require.Contains(t, alone, 200)
	require.Contains(t, alone, 409)

	var set faults.Set
	_, err := set.AddText("when chance(0, 1) do status(409)\nwhen chance(1, 1) do status(410)")
	require.NoError(t, err)
	require.Equal(t, []int{410, 410}, codes(&set, 2, pods+"/x"))
}

func TestAfterOutsideSet(t *testing.T) {
	require.False(t, faults.After(0).Eval(faults.Op{}))
}

// TestInvalidCountsMatchNothing tests counts that a set does not accept.
func TestInvalidCountsMatchNothing(t *testing.T) {
	for _, p := range []faults.Pred{faults.Nth(0), faults.First(0), faults.Every(0), faults.Every(-1)} {
		require.False(t, p.Eval(faults.Op{}), p.String())
	}
}

func TestAddIsAllOrNothing(t *testing.T) {
	var set faults.Set
	good := faults.ExpireContinue()
	_, err := set.Add(good, faults.Rule{Name: "bad", When: faults.Verb("list"), Do: []faults.Effect{faults.Drop()}})
	require.ErrorContains(t, err, `fault rule "bad": its condition can match in: before, committed; but drop can be applied in: stream`)
	require.Empty(t, set.Rules())
	_, err = set.AddText("when always do reset\nwhen verb(lost) do reset")
	require.ErrorContains(t, err, "line 2, column 11")
	require.Empty(t, set.Rules())
}

func TestRemoveFuncRemovesOwnRules(t *testing.T) {
	var set faults.Set
	rule := faults.ExpireContinue()
	first, err := set.Add(rule, faults.DropBookmarks())
	require.NoError(t, err)
	_, err = set.Add(rule)
	require.NoError(t, err)
	first()
	first()
	require.Len(t, set.Rules(), 1)
	require.Equal(t, "expire-continue", set.Rules()[0].Name)
	set.Clear()
	require.Empty(t, set.Rules())
}

func TestHitsAreBounded(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when verb(get) do status(409)")
	require.NoError(t, err)
	require.Empty(t, set.Hits())
	codes(&set, 1000, pods+"/x")
	require.Len(t, set.Hits(), 1000)
	codes(&set, 100, pods+"/x")
	hits := set.Hits()
	require.Len(t, hits, 1024)
	for i, h := range hits {
		require.EqualValues(t, 77+i, h.Seq)
	}
}

func TestOpString(t *testing.T) {
	for want, op := range map[string]faults.Op{
		"request /apis":                  {Path: "/apis"},
		"get deployments.apps web in ns": {Verb: "get", Group: "apps", Resource: "deployments", Namespace: "ns", Name: "web"},
		"update nodes/status n":          {Verb: "update", Resource: "nodes", Subresource: "status", Name: "n"},
		"watch pods ADDED a in ns":       {Verb: "watch", Resource: "pods", Event: watch.Added, Name: "a", Namespace: "ns"},
		"request pods":                   {Resource: "pods"},
		"webhook widgets.example.com":    {Webhook: "widgets.example.com", Phase: faults.Committed, Code: 200},
		"webhook w for create pods in ns": {
			Webhook: "w", Path: "/api/v1/namespaces/ns/pods", Verb: "create", Resource: "pods", Namespace: "ns",
		},
	} {
		require.Equal(t, want, op.String())
	}
	require.Equal(t, "unknown", faults.Phase(9).String())
}

func TestConcurrentUse(t *testing.T) {
	var set faults.Set
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				remove, err := set.Add(faults.Rule{
					When: faults.And(faults.Verb("get"), faults.Chance(0.5, uint64(i)), faults.Every(2)),
					Do:   []faults.Effect{faults.Reply(faults.Conflict())},
				})
				if err != nil {
					t.Error(err)
					return
				}
				codes(&set, 5, pods+"/x")
				set.Hits()
				set.Rules()
				remove()
			}
		})
	}
	wg.Wait()
	require.Empty(t, set.Rules())
}

func TestRemove(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("a: when always do reset\nb: when always do hang\na: when verb(get) do hang\nwhen always do hang")
	require.NoError(t, err)
	require.Zero(t, set.Remove("c"))
	require.Equal(t, 2, set.Remove("a"))
	require.Zero(t, set.Remove("a"))
	require.Equal(t, 1, set.Remove(""), "rules without a name")
	require.Equal(t, []string{"b"}, []string{set.Rules()[0].Name})
}
