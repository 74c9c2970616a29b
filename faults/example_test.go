package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"example.com/fakeapi/faults"
)

// serve returns a handler in place of an API server.
func serve() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "all is well\n")
	})
}

func request(h http.Handler, method, url string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, url, nil))
	fmt.Print(w.Code, " ", w.Body)
}

func Example() {
	var set faults.Set
	server := faults.Handler(&set, serve())

	remove, err := set.Add(faults.Rule{
		Name: "busy",
		When: faults.And(faults.Verb("get"), faults.Resource("pods"), faults.Nth(2)),
		Do:   []faults.Effect{faults.Raw(429, "text/plain", "later\n", faults.Header{Name: "Retry-After", Value: "1"})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		request(server, "GET", "/api/v1/namespaces/default/pods/web")
	}
	remove()
	for _, hit := range set.Hits() {
		fmt.Println(hit)
	}
	// Output:
	// 200 all is well
	// 429 later
	// 200 all is well
	// busy: before get pods web in default: raw(429, text/plain, "later\n", header(Retry-After, 1))
}

func ExampleParse() {
	rule, err := faults.Parse(`lost: when verb(create) && during(committed) && first(1) do delay(500ms), reset`)
	fmt.Println(rule, err)

	_, err = faults.Parse(`when verb(list) and name(web) do reset`)
	fmt.Println(err)
	// Output:
	// lost: when verb(create) && during(committed) && first(1) do delay(500ms), reset <nil>
	// fault rule, line 1, column 17: expected "&&", "||" or "do", found "and"
}

func ExampleExpire410() {
	fmt.Println(faults.Expire410(faults.Resource("pods"), faults.First(1)))
	fmt.Println(faults.DropBookmarks())
	fmt.Println(faults.ExpireContinue())
	// Output:
	// expire-410: when verb(watch) && query(resourceVersion) && !query(resourceVersion, 0) && !query(sendInitialEvents, true) && resource(pods) && first(1) do error(410, Expired)
	// drop-bookmarks: when event(BOOKMARK) && !initialEventsEnd do drop
	// expire-continue: when verb(list) && query(continue) do status(410, Expired)
}

func ExampleRealisticLatency() {
	for _, rule := range faults.RealisticLatency(7) {
		fmt.Println(rule)
	}
	// Output:
	// latency: when during(before) do delay(1ms), jitter(4ms, 7)
	// watch-latency: when during(stream) && !initialEvents do delay(1ms), jitter(4ms, 7)
}

// reporter is a TB that prints errors.
type reporter struct{ ended []func() }

func (r *reporter) Helper()                           {}
func (r *reporter) Cleanup(f func())                  { r.ended = append(r.ended, f) }
func (r *reporter) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (r *reporter) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func ExampleSet_MustHit() {
	t := &reporter{}
	var set faults.Set
	set.AddFor(t, faults.Retry504(time.Second, faults.Resource("pods")), faults.ExpireContinue())

	request(faults.Handler(&set, serve()), "GET", "/api/v1/namespaces/default/configmaps/a")
	set.MustHit(t)
	for _, end := range t.ended { // at the end of the test
		end()
	}
	fmt.Println(len(set.Rules()), "rules are left")
	// Output:
	// 200 all is well
	// this fault rule was never applied: retry-504: when verb(get, list) && resource(pods) do status(504, Timeout, cause(ResourceVersionTooLarge, "Too large resource version"), retryAfter(1s))
	// this fault rule was never applied: expire-continue: when verb(list) && query(continue) do status(410, Expired)
	// 0 rules are left
}

func ExampleSetField() {
	var set faults.Set
	pods := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"abc"},"items":[]}`+"\n")
	})
	rule := faults.Rule{When: faults.Verb("list"), Do: []faults.Effect{
		faults.RemoveField("/metadata/continue"), faults.SetField("/items", nil), faults.Warn("this is old"),
	}}
	fmt.Println(rule)
	if _, err := set.Add(rule); err != nil {
		fmt.Println(err)
	}
	request(faults.Handler(&set, pods), "GET", "/api/v1/pods")
	// Output:
	// when verb(list) do remove(/metadata/continue), set(/items, json(null)), warn("this is old")
	// 200 {"kind":"PodList","metadata":{"resourceVersion":"7"},"items":null}
}

func ExampleSet_AddText() {
	var set faults.Set
	_, err := set.AddText(`
# an overloaded server
when verb(update) && chance(0.1, 42) do status(409)
when verb(list) && every(5) do delay(2s), status(504)
`)
	if err != nil {
		fmt.Println(err)
	}
	for _, rule := range set.Rules() {
		fmt.Println(rule)
	}
	_, err = set.AddText("when verb(list) do duplicate")
	fmt.Println(err)
	// Output:
	// when verb(update) && chance(0.1, 42) do status(409)
	// when verb(list) && every(5) do delay(2s), status(504)
	// fault rule "when verb(list) do duplicate": its condition can match in: before, committed; but duplicate can be applied in: stream
}
