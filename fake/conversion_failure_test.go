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
	// toV1Error and toV2Error are the errors of conversions from the other version while the
	// webhook fails.
	toV1Error = `conversion webhook for example.com/v2, Kind=Gadget failed: an error on the server ("boom") has prevented the request from succeeding`
	toV2Error = `conversion webhook for example.com/v1, Kind=Gadget failed: an error on the server ("boom") has prevented the request from succeeding`
)

// corruptObjectMessage returns the message of a read of a Gadget that cannot be converted.
func corruptObjectMessage(name, revision string) string {
	return "StorageError: corrupt object, Code: 7, Key: /example.com/gadgets/default/" + name +
		", ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=" + revision + ": " + toV2Error
}

// The responses of the verbs while the webhook fails, as recorded of a real server (see package
// conversion).
func TestConversionFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		one := requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "one", 1)).GetResourceVersion()
		two := requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "two", 2)).GetResourceVersion()
		hook.failing.Store(true)
		before := srv.ResourceVersion()

		for name, write := range map[string]struct{ method, path, body string }{
			"create":        {"POST", gadgetsV2, gadgetJSON("v2", "new", 1)},
			"dry run":       {"POST", gadgetsV2 + "?dryRun=All", gadgetJSON("v2", "new", 1)},
			"apply a new":   {"PATCH", gadgetsV2 + "/new?fieldManager=me", gadgetJSON("v2", "new", 1)},
			"generate name": {"POST", gadgetsV2, `{"apiVersion":"example.com/v2","kind":"Gadget","metadata":{"generateName":"x-"}}`},
		} {
			s := requireStatus(t, srv, 500, write.method, write.path, write.body)
			require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Failure", Code: 500, Message: toV1Error}, *s, name)
		}
		for name, read := range map[string]struct{ method, path, body string }{
			"get":       {"GET", gadgetsV2 + "/one", ""},
			"get scale": {"GET", gadgetsV2 + "/one/scale", ""},
			"delete":    {"DELETE", gadgetsV2 + "/one", ""},
		} {
			s := requireStatus(t, srv, 500, read.method, read.path, read.body)
			require.Equal(t, metav1.StatusReasonInternalError, s.Reason, name)
			require.Equal(t, "Internal error occurred: "+corruptObjectMessage("one", one), s.Message, name)
			require.Equal(t, []metav1.StatusCause{{Message: corruptObjectMessage("one", one)}}, s.Details.Causes, name)
		}

		for name, write := range map[string]struct{ method, path, body string }{
			"update":       {"PUT", gadgetsV2 + "/one", gadgetJSON("v2", "one", 5)},
			"patch":        {"PATCH", gadgetsV2 + "/one", `{"spec":{"width":5}}`},
			"patch status": {"PATCH", gadgetsV2 + "/one/status", `{"status":{}}`},
			"apply":        {"PATCH", gadgetsV2 + "/one?fieldManager=me", gadgetJSON("v2", "one", 5)},
		} {
			s := requireStatus(t, srv, 500, write.method, write.path, write.body)
			require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Failure", Code: 500,
				Message: "object not decodable revision=" + one + ": " + toV2Error}, *s, name)
		}

		inList := func(name, revision string) string {
			return strings.Replace(corruptObjectMessage(name, revision), "/example.com", "/registry/example.com", 1)
		}
		for _, method := range []string{"GET", "DELETE"} {
			s := requireStatus(t, srv, 500, method, gadgetsV2, "")
			require.Equal(t, metav1.StatusReasonStoreReadError, s.Reason, method)
			require.Equal(t, "failed to read one or more gadgets.example.com from the storage: "+inList("one", one)+" (and 1 more)", s.Message)
			require.Equal(t, &metav1.StatusDetails{Name: "list", Group: "example.com", Kind: "gadgets", Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeUnexpectedServerResponse, Field: "/registry/example.com/gadgets/default/one", Message: inList("one", one)},
				{Type: metav1.CauseTypeUnexpectedServerResponse, Field: "/registry/example.com/gadgets/default/two", Message: inList("two", two)},
			}}, s.Details)
		}

		requireCode(t, srv, 404, "GET", gadgetsV2+"/nothing", "")
		requireCode(t, srv, 404, "DELETE", gadgetsV2+"/nothing", "")
		require.Equal(t, before, srv.ResourceVersion(), "the resourceVersion after the failed requests")
		require.Len(t, listNames(t, srv, gadgetsV1), 2, "v1 needs no conversion")
		requireCode(t, srv, 200, "PATCH", gadgetsV1+"/one", `{"spec":{"size":5}}`)
		requireCode(t, srv, 200, "DELETE", gadgetsV1+"/two", "")
	})
}

// Objects that were converted before can be listed and read from the watch cache, but not from the
// storage.
func TestConversionFailureAfterCaching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		made := requireCode(t, srv, 201, "POST", gadgetsV2, gadgetJSON("v2", "one", 1))
		hook.failing.Store(true)
		require.Equal(t, []string{"one"}, listNames(t, srv, gadgetsV2))
		requireCode(t, srv, 200, "GET", gadgetsV2+"/one?resourceVersion=0", "")
		require.Equal(t, "Internal error occurred: "+corruptObjectMessage("one", made.GetResourceVersion()), requireStatus(t, srv, 500, "GET", gadgetsV2+"/one", "").Message)
		for _, path := range []string{gadgetsV2, gadgetsV2 + "/one"} {
			require.Equal(t, metav1.StatusReasonInternalError, requireStatus(t, srv, 500, "DELETE", path, "").Reason, path)
		}
		for _, write := range [][2]string{{"PATCH", `{"spec":{"width":5}}`}, {"PUT", gadgetJSON("v2", "one", 5)}} {
			if write[0] == "PUT" {
				made.Object["spec"] = map[string]any{"width": 5}
				body, err := json.Marshal(made)
				require.NoError(t, err)
				write[1] = string(body)
			}
			s := requireStatus(t, srv, 500, write[0], gadgetsV2+"/one", write[1])
			require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Failure", Code: 500, Message: toV1Error}, *s, write[0])
		}
	})
}

// If a created object cannot be converted for the response, it is stored and the response is 500
// without a reason.
func TestCreateWithFailingResponseConversion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		calls := 0
		hook.before = func() {
			calls++
			hook.failing.Store(calls == 2)
		}
		srv := startWithGadgets(t, hook)
		s := requireStatus(t, srv, 500, "POST", gadgetsV2, gadgetJSON("v2", "one", 1))
		stored := requireCode(t, srv, 200, "GET", gadgetsV1+"/one", "")
		require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Failure", Code: 500,
			Message: "object not decodable revision=" + stored.GetResourceVersion() + ": " + toV2Error}, *s)
	})
}

// An event that cannot be converted is delayed, with all later events, until it can be.
func TestWatchDuringConversionFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "one", 1))
		v1 := watchGadgets(t, srv, gadgetsV1+"?watch=true")
		v2 := watchGadgets(t, srv, gadgetsV2+"?watch=true&allowWatchBookmarks=true")
		require.Equal(t, "ADDED one 1", v1.next(t))
		require.Equal(t, "ADDED one 1", v2.next(t))
		behind := srv.ResourceVersion()

		hook.failing.Store(true)
		requireCode(t, srv, 200, "PATCH", gadgetsV1+"/one", `{"spec":{"size":2}}`)
		requireCode(t, srv, 200, "PATCH", gadgetsV1+"/one", `{"spec":{"size":3}}`)
		require.Equal(t, "MODIFIED one 2", v1.next(t))
		require.Equal(t, "MODIFIED one 3", v1.next(t))
		require.Equal(t, "BOOKMARK  <nil>", v2.next(t), "a bookmark of the previous revision after a minute")

		start := time.Now()
		late := watchGadgets(t, srv, gadgetsV2+"?watch=true")
		require.Equal(t, "ERROR Timeout: Too large resource version: "+srv.ResourceVersion()+", current: "+
			previousVersion(t, srv.ResourceVersion()), late.next(t))
		require.Equal(t, "EOF", late.next(t))
		require.Equal(t, 3*time.Second, time.Since(start))
		known := watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+behind)

		hook.failing.Store(false)
		for _, w := range []*gadgetWatch{v2, known} {
			require.Equal(t, "MODIFIED one 2", w.next(t))
			require.Equal(t, "MODIFIED one 3", w.next(t))
		}
		requireCode(t, srv, 200, "DELETE", gadgetsV1+"/one", "")
		require.Equal(t, "DELETED one 3", v2.next(t))
	})
}

// previousVersion returns the resourceVersion before another.
func previousVersion(t *testing.T, resourceVersion string) string {
	t.Helper()
	return strconv.FormatUint(parseVersion(t, resourceVersion)-1, 10)
}

// A webhook that does not respond delays only requests that need a conversion, for thirty seconds.
func TestBlockedWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "one", 1))
		hook.blockCalls()
		start := time.Now()
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
		requireCode(t, srv, 200, "PATCH", gadgetsV1+"/one", `{"spec":{"size":2}}`)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "two", 1))
		require.Zero(t, time.Since(start))
		for range 2 {
			resp := <-answered
			require.NotNil(t, resp)
			require.Equal(t, 500, resp.StatusCode)
			require.NoError(t, resp.Body.Close())
		}
		require.Equal(t, 30*time.Second, time.Since(start))
	})
}

// Close does not wait for webhooks.
func TestCloseWithBlockedWebhook(t *testing.T) {
	for name, path := range map[string]string{"get": gadgetsV2 + "/one", "watch": gadgetsV2 + "?watch=true"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hook := &gadgetWebhook{}
				srv := startWithGadgets(t, hook)
				requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "one", 1))
				hook.blockCalls()
				done := make(chan struct{})
				go func() {
					defer close(done)
					if resp, err := srv.Client().Get(srv.URL() + path); err == nil {
						_ = resp.Body.Close()
					}
				}()
				synctest.Wait()
				require.EqualValues(t, 1, hook.calls.Load(), "the request waits for the webhook")
				start := time.Now()
				require.NoError(t, srv.Close())
				<-done
				require.Less(t, time.Since(start), time.Second)
			})
		})
	}
}

// A webhook may read from the API while it converts, also the objects that it converts.
func TestWebhookReadsFromServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		var srv *fakeapi.Server
		hook.before = func() {
			for _, path := range []string{gadgetsV1, crdsPath + "/gadgets.example.com", "/api/v1/namespaces"} {
				resp, err := srv.Client().Get(srv.URL() + path)
				if err != nil || resp.StatusCode != 200 {
					hook.failing.Store(true)
					return
				}
				_ = resp.Body.Close()
			}
		}
		srv = startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV2, gadgetJSON("v2", "one", 1))
		requireCode(t, srv, 200, "PATCH", gadgetsV2+"/one", `{"spec":{"width":2}}`)
		require.Equal(t, []string{"one"}, listNames(t, srv, gadgetsV2))
		requireCode(t, srv, 200, "DELETE", gadgetsV2+"/one", "")
	})
}
