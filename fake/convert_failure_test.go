package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

const (
	// toV1 and toV2 are the errors of conversions from the other version when the hook is broken.
	toV1 = `conversion webhook for example.com/v2, Kind=Gadget failed: an error on the server ("boom") has prevented the request from succeeding`
	toV2 = `conversion webhook for example.com/v1, Kind=Gadget failed: an error on the server ("boom") has prevented the request from succeeding`
)

// corrupt is what a read says of the Gadget of a name that cannot be converted.
func corrupt(name, revision string) string {
	return "StorageError: corrupt object, Code: 7, Key: /example.com/gadgets/default/" + name +
		", ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=" + revision + ": " + toV2
}

// What the verbs answer while the webhook fails, as read off a real server (see package conversion).
func TestFailingConversions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		one := must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "one", 1)).GetResourceVersion()
		two := must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "two", 2)).GetResourceVersion()
		hook.broken.Store(true)
		before := srv.ResourceVersion()

		for name, write := range map[string]struct{ method, path, body string }{
			"create":        {"POST", gadgetsV2, gadget("v2", "new", 1)},
			"dry run":       {"POST", gadgetsV2 + "?dryRun=All", gadget("v2", "new", 1)},
			"apply a new":   {"PATCH", gadgetsV2 + "/new?fieldManager=me", gadget("v2", "new", 1)},
			"generate name": {"POST", gadgetsV2, `{"apiVersion":"example.com/v2","kind":"Gadget","metadata":{"generateName":"x-"}}`},
		} {
			s := refused(t, srv, 500, write.method, write.path, write.body)
			require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Failure", Code: 500, Message: toV1}, *s, name)
		}
		for name, read := range map[string]struct{ method, path, body string }{
			"get":              {"GET", gadgetsV2 + "/one", ""},
			"get scale":        {"GET", gadgetsV2 + "/one/scale", ""},
			"update":           {"PUT", gadgetsV2 + "/one", gadget("v2", "one", 5)},
			"patch":            {"PATCH", gadgetsV2 + "/one", `{"spec":{"width":5}}`},
			"apply":            {"PATCH", gadgetsV2 + "/one?fieldManager=me", gadget("v2", "one", 5)},
			"delete":           {"DELETE", gadgetsV2 + "/one", ""},
			"deletecollection": {"DELETE", gadgetsV2, ""},
		} {
			s := refused(t, srv, 500, read.method, read.path, read.body)
			require.Equal(t, metav1.StatusReasonInternalError, s.Reason, name)
			require.Equal(t, "Internal error occurred: "+corrupt("one", one), s.Message, name)
			require.Equal(t, []metav1.StatusCause{{Message: corrupt("one", one)}}, s.Details.Causes, name)
		}

		s := refused(t, srv, 500, "GET", gadgetsV2, "")
		inList := func(name, revision string) string {
			return strings.Replace(corrupt(name, revision), "/example.com", "/registry/example.com", 1)
		}
		require.Equal(t, metav1.StatusReasonStoreReadError, s.Reason)
		require.Equal(t, "failed to read one or more gadgets.example.com from the storage: "+inList("one", one)+" (and 1 more)", s.Message)
		require.Equal(t, &metav1.StatusDetails{Name: "list", Group: "example.com", Kind: "gadgets", Causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeUnexpectedServerResponse, Field: "/registry/example.com/gadgets/default/one", Message: inList("one", one)},
			{Type: metav1.CauseTypeUnexpectedServerResponse, Field: "/registry/example.com/gadgets/default/two", Message: inList("two", two)},
		}}, s.Details)

		must(t, srv, 404, "GET", gadgetsV2+"/nothing", "")
		must(t, srv, 404, "DELETE", gadgetsV2+"/nothing", "")
		require.Equal(t, before, srv.ResourceVersion(), "nothing was written")
		require.Len(t, listOf(t, srv, gadgetsV1), 2, "v1 notices nothing")
		must(t, srv, 200, "PATCH", gadgetsV1+"/one", `{"spec":{"size":5}}`)
		must(t, srv, 200, "DELETE", gadgetsV1+"/two", "")
	})
}

// What was converted before can be listed, and got from the watch cache, but not read from the storage.
func TestConvertedBeforeTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		made := must(t, srv, 201, "POST", gadgetsV2, gadget("v2", "one", 1))
		hook.broken.Store(true)
		require.Equal(t, []string{"one"}, listOf(t, srv, gadgetsV2))
		must(t, srv, 200, "GET", gadgetsV2+"/one?resourceVersion=0", "")
		require.Equal(t, "Internal error occurred: "+corrupt("one", made.GetResourceVersion()), refused(t, srv, 500, "GET", gadgetsV2+"/one", "").Message)
		require.Equal(t, metav1.StatusReasonInternalError, refused(t, srv, 500, "DELETE", gadgetsV2+"/one", "").Reason)
		for _, write := range [][2]string{{"PATCH", `{"spec":{"width":5}}`}, {"PUT", gadget("v2", "one", 5)}} {
			if write[0] == "PUT" {
				made.Object["spec"] = map[string]any{"width": 5}
				body, err := json.Marshal(made)
				require.NoError(t, err)
				write[1] = string(body)
			}
			s := refused(t, srv, 500, write[0], gadgetsV2+"/one", write[1])
			require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Failure", Code: 500, Message: toV1}, *s, write[0])
		}
	})
}

// An object that was stored and cannot be shown is there, and the answer is 500 without a reason.
func TestStoredAndNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		calls := 0
		hook.before = func() {
			calls++
			hook.broken.Store(calls == 2)
		}
		srv := gadgets(t, hook)
		s := refused(t, srv, 500, "POST", gadgetsV2, gadget("v2", "one", 1))
		stored := must(t, srv, 200, "GET", gadgetsV1+"/one", "")
		require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Failure", Code: 500,
			Message: "object not decodable revision=" + stored.GetResourceVersion() + ": " + toV2}, *s)
	})
}

// An event that cannot be converted is held back, with all behind it, until it can be.
func TestWatchOfFailingConversions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "one", 1))
		v1 := watchGadgets(t, srv, gadgetsV1+"?watch=true")
		v2 := watchGadgets(t, srv, gadgetsV2+"?watch=true&allowWatchBookmarks=true")
		require.Equal(t, "ADDED one 1", v1.next(t))
		require.Equal(t, "ADDED one 1", v2.next(t))
		behind := srv.ResourceVersion()

		hook.broken.Store(true)
		must(t, srv, 200, "PATCH", gadgetsV1+"/one", `{"spec":{"size":2}}`)
		must(t, srv, 200, "PATCH", gadgetsV1+"/one", `{"spec":{"size":3}}`)
		require.Equal(t, "MODIFIED one 2", v1.next(t))
		require.Equal(t, "MODIFIED one 3", v1.next(t))
		require.Equal(t, "BOOKMARK  <nil>", v2.next(t), "of the revision before, after a minute in silence")

		begin := time.Now()
		late := watchGadgets(t, srv, gadgetsV2+"?watch=true")
		require.Equal(t, "ERROR Timeout: Too large resource version: "+srv.ResourceVersion()+", current: "+
			before(t, srv.ResourceVersion()), late.next(t))
		require.Equal(t, "EOF", late.next(t))
		require.Equal(t, 3*time.Second, time.Since(begin))
		known := watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+behind)

		hook.broken.Store(false)
		for _, w := range []*gadgetWatch{v2, known} {
			require.Equal(t, "MODIFIED one 2", w.next(t))
			require.Equal(t, "MODIFIED one 3", w.next(t))
		}
		must(t, srv, 200, "DELETE", gadgetsV1+"/one", "")
		require.Equal(t, "DELETED one 3", v2.next(t))
	})
}

// before is the resourceVersion before another.
func before(t *testing.T, resourceVersion string) string {
	t.Helper()
	return strconv.FormatUint(number(t, resourceVersion)-1, 10)
}

// A webhook that hangs holds up nobody but those who ask it, and those for thirty seconds.
func TestHangingWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "one", 1))
		hook.hang()
		begin := time.Now()
		answered := make(chan *http.Response, 2)
		for _, r := range []struct{ method, body string }{{"GET", ""}, {"DELETE", ""}} {
			go func() {
				req, err := http.NewRequestWithContext(t.Context(), r.method, srv.URL()+gadgetsV2+"/one", strings.NewReader(r.body))
				if err == nil {
					resp, _ := srv.Client().Do(req)
					answered <- resp
				}
			}()
		}
		synctest.Wait()
		must(t, srv, 200, "PATCH", gadgetsV1+"/one", `{"spec":{"size":2}}`)
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "two", 1))
		require.Zero(t, time.Since(begin))
		for range 2 {
			resp := <-answered
			require.NotNil(t, resp)
			require.Equal(t, 500, resp.StatusCode)
			require.NoError(t, resp.Body.Close())
		}
		require.Equal(t, 30*time.Second, time.Since(begin))
	})
}

// Close does not wait for webhooks.
func TestCloseWithHangingWebhook(t *testing.T) {
	for name, path := range map[string]string{"get": gadgetsV2 + "/one", "watch": gadgetsV2 + "?watch=true&resourceVersion=1"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hook := &gadgetHook{}
				srv := gadgets(t, hook)
				must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "one", 1))
				hook.hang()
				done := make(chan struct{})
				go func() {
					defer close(done)
					if resp, err := srv.Client().Get(srv.URL() + path); err == nil {
						_ = resp.Body.Close()
					}
				}()
				synctest.Wait()
				begin := time.Now()
				require.NoError(t, srv.Close())
				<-done
				require.Less(t, time.Since(begin), time.Second)
			})
		})
	}
}

// A webhook may read from the API while it converts, what it converts included.
func TestWebhookThatReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		var srv *fakeapi.Server
		hook.before = func() {
			for _, path := range []string{gadgetsV1, crdsPath + "/gadgets.example.com", "/api/v1/namespaces"} {
				resp, err := srv.Client().Get(srv.URL() + path)
				if err != nil || resp.StatusCode != 200 {
					hook.broken.Store(true)
					return
				}
				_ = resp.Body.Close()
			}
		}
		srv = gadgets(t, hook)
		must(t, srv, 201, "POST", gadgetsV2, gadget("v2", "one", 1))
		must(t, srv, 200, "PATCH", gadgetsV2+"/one", `{"spec":{"width":2}}`)
		require.Equal(t, []string{"one"}, listOf(t, srv, gadgetsV2))
		must(t, srv, 200, "DELETE", gadgetsV2+"/one", "")
	})
}
