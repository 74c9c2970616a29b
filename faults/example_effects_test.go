package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/faults"
)

// The error statuses of an API server. Missing fields are filled in.
func ExampleReply() {
	for _, status := range []metav1.Status{
		faults.Unauthorized(), faults.Forbidden(), faults.Conflict(), faults.Gone(), faults.Expired(),
		faults.TooManyRequests(time.Second), faults.InternalError(), faults.Unavailable(5 * time.Second), faults.Timeout504(time.Second),
	} {
		var set faults.Set
		if _, err := set.Add(faults.Rule{Do: []faults.Effect{faults.Reply(status)}}); err != nil {
			fmt.Println(err)
		}
		recorder := httptest.NewRecorder()
		faults.Handler(&set, serve()).ServeHTTP(recorder, httptest.NewRequest(http.MethodPut, "/api/v1/namespaces/default/pods/web", nil))
		_, reason, _ := strings.Cut(recorder.Body.String(), `"reason":"`)
		reason, _, _ = strings.Cut(reason, `"`)
		fmt.Printf("%d %s %q\n", recorder.Code, reason, recorder.Header()["Retry-After"])
	}
	// Output:
	// 401 Unauthorized []
	// 403 Forbidden []
	// 409 Conflict []
	// 410 Gone []
	// 410 Expired []
	// 429 TooManyRequests ["1"]
	// 500 InternalError []
	// 503 ServiceUnavailable ["5"]
	// 504 Timeout ["1"]
}

// threeFrames returns a handler of a watch with three events.
func threeFrames() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, name := range []string{"a", "b", "c"} {
			_, _ = fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":%q}}}`+"\n", name)
			_ = http.NewResponseController(w).Flush()
		}
	})
}

// The effects on a watch, here on its second frame.
func ExampleDrop() {
	for _, effects := range [][]faults.Effect{
		{faults.Drop()},
		{faults.Duplicate()},
		{faults.Reorder()},
		{faults.SetField("/object/metadata/name", "z")},
		{faults.RemoveField("/object/metadata")},
		{faults.Overwrite(9, "OTHER"), faults.Delay(time.Millisecond)},
		{faults.Inject("noise\n"), faults.Throttle(16, time.Microsecond)},
		{faults.End()},
		{faults.ErrorEvent(faults.Expired())},
		{faults.Truncate(16)},
		{faults.Reset()},
	} {
		var set faults.Set
		if _, err := set.Add(faults.Rule{When: faults.And(faults.During(faults.Stream), faults.Name("b")), Do: effects}); err != nil {
			fmt.Println(err)
		}
		server := httptest.NewServer(faults.Handler(&set, threeFrames()))
		resp, err := http.Get(server.URL + "/api/v1/namespaces/default/pods?watch=true")
		if err != nil {
			fmt.Println(err)
			return
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		server.Close()
		short := strings.NewReplacer(`{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"`, "+", `"}}}`, "", "\n", " ").Replace(string(body))
		fmt.Println(effects, short, err)
	}
	// Output:
	// [drop] +a +c  <nil>
	// [duplicate] +a +b +b +c  <nil>
	// [reorder] +a +c +b  <nil>
	// [set(/object/metadata/name, z)] +a +z +c  <nil>
	// [remove(/object/metadata)] +a {"type":"ADDED","object":{"kind":"Pod"}} +c  <nil>
	// [overwrite(9, OTHER) delay(1ms)] +a {"type":"OTHER","object":{"kind":"Pod","metadata":{"name":"b +c  <nil>
	// [inject("noise\n") throttle(16, 1µs)] +a noise +b +c  <nil>
	// [end] +a  <nil>
	// [error(410, Expired)] +a {"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}  <nil>
	// [truncate(16)] +a {"type":"ADDED", unexpected EOF
	// [reset] +a  unexpected EOF
}

// Effects that delay a watch.
func ExampleHang() {
	for _, effect := range []faults.Effect{faults.Hang(), faults.LateHeader(), faults.Jitter(time.Millisecond, 1)} {
		fmt.Println(faults.Rule{Name: "slow", When: faults.Verb("watch"), Do: []faults.Effect{effect}})
	}
	// Output:
	// slow: when verb(watch) do hang
	// slow: when verb(watch) do lateHeader
	// slow: when verb(watch) do jitter(1ms, 1)
}

// The effects on requests and on the headers of responses.
func ExampleSetHeader() {
	var set faults.Set
	if _, err := set.Add(
		faults.Rule{When: faults.Verb("list"), Do: []faults.Effect{
			faults.Ignore("limit"), faults.SetRequestHeader("Accept", "application/json"),
			faults.SetHeader("X-Proxy", "old"), faults.Warn("this API is old"), faults.Skew(24 * time.Hour), faults.GoAway(),
		}},
		faults.Rule{When: faults.Verb("get"), Do: []faults.Effect{faults.Redirect("https://other.example.com")}},
	); err != nil {
		fmt.Println(err)
	}
	server := faults.Handler(&set, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Printf("handled: %q %s\n", r.URL.RawQuery, r.Header.Get("Accept"))
	}))
	for _, path := range []string{"/api/v1/pods?limit=5", "/api/v1/nodes/n"} {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
		header := recorder.Header()
		date, _ := http.ParseTime(header.Get("Date"))
		fmt.Println(recorder.Code, header.Get("X-Proxy"), header.Get("Warning"), header.Get("Location"), header.Get("Connection"), time.Until(date) > time.Hour)
	}
	// Output:
	// handled: "" application/json
	// 200 old 299 - "this API is old"  close true
	// 307   https://other.example.com/api/v1/nodes/n  false
}

// Rules in front of another API server.
func ExampleProxy() {
	cluster := httptest.NewServer(serve())
	defer cluster.Close()
	base, err := url.Parse(cluster.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	var set faults.Set
	proxy := faults.Proxy(&set, base, http.DefaultTransport)
	request(proxy, "GET", "/api/v1/namespaces/default/pods/web")
	if _, err := set.AddText("when verb(get) do status(429, retryAfter(1s))"); err != nil {
		fmt.Println(err)
	}
	request(proxy, "GET", "/api/v1/namespaces/default/pods/web")
	// Output:
	// 200 all is well
	// 429 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Too many requests, please try again later.","reason":"TooManyRequests","details":{"retryAfterSeconds":1},"code":429}
}

// The server denies a request as it does a user without the permission.
func ExampleForbid() {
	var set faults.Set
	if _, err := set.AddText("when verb(list, watch) && resource(secrets) && first(3) do forbid"); err != nil {
		fmt.Println(err)
	}
	// A handler that is not the server's does not authenticate.
	recorder := httptest.NewRecorder()
	faults.Handler(&set, serve()).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/api/v1/secrets", nil))
	_, message, _ := strings.Cut(recorder.Body.String(), `"message":`)
	message, _, _ = strings.Cut(message, `,"reason"`)
	fmt.Println(recorder.Code, message)
	// Output:
	// 403 "secrets is forbidden: User \"system:anonymous\" cannot list resource \"secrets\" in API group \"\" at the cluster scope"
}

// A permission that is missing for five minutes. The rules can also be written as text.
func ExampleRevokeFor() {
	for _, rule := range faults.RevokeFor(5*time.Minute, faults.Resource("secrets"), faults.UserAgent("my-controller")) {
		fmt.Println(rule)
	}
	// Output:
	// revoked: when during(before) && resource(secrets) && userAgent(my-controller) && !after(5m0s) do forbid
	// revoked-watch: when during(stream) && verb(watch) && resource(secrets) && userAgent(my-controller) && !after(5m0s) do end
}
