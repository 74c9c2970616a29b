package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fakeapi "example.com/fakeapi/fake"
)

// note adds a webhook that appends its name to the data of a ConfigMap, if it has not yet.
func (h *webhookServer) note(name string) {
	h.review(name, func(request *admissionRequest) *admissionResponse {
		if request.Object.Raw == nil {
			return allow()
		}
		notes := notesOf(request.Object.Raw)
		if strings.Contains(notes, name) {
			return allow()
		}
		data, _ := json.Marshal(map[string]string{"notes": strings.TrimSpace(notes + " " + name)})
		return patchResponse(`[{"op":"add","path":"/data","value":` + string(data) + `}]`)
	})
}

// notesOf returns what note has written into the JSON of a ConfigMap.
func notesOf(raw []byte) string {
	var object struct{ Data map[string]string }
	_ = json.Unmarshal(raw, &object)
	return object.Data["notes"]
}

// notes returns what note has written into a ConfigMap.
func notes(u *unstructured.Unstructured) string {
	notes, _, _ := unstructured.NestedString(u.Object, "data", "notes")
	return notes
}

// Mutating webhooks are called in the order of their configurations' names, and in that of the
// list. Each gets the changes of those before it, and validating webhooks get all.
func TestWebhookOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		for _, name := range []string{"one", "two", "three"} {
			h.note(name)
		}
		var validated []string
		h.review("look", func(request *admissionRequest) *admissionResponse {
			validated = append(validated, notesOf(request.Object.Raw))
			return allow()
		})
		requireCode(t, srv, 201, "POST", validatingPath, configuration("a", h.webhook(t, "look", "")))
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("c", h.webhook(t, "three", "")))
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("b", h.webhook(t, "one", ""), h.webhook(t, "two", "")))
		made := requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"x"}}`)
		require.Equal(t, "one two three", notes(made))
		require.Equal(t, []string{"one: CREATE configmaps x", "two: CREATE configmaps x", "three: CREATE configmaps x", "look: CREATE configmaps x"}, h.takeTexts())
		require.Equal(t, []string{"one two three"}, validated)
		require.Equal(t, made, requireCode(t, srv, 200, "GET", configMapsPath+"/x", ""))

		before := made.GetResourceVersion()
		made = requireCode(t, srv, 200, "PATCH", configMapsPath+"/x", `{"metadata":{"name":"x"}}`)
		require.Equal(t, before, made.GetResourceVersion(), "nothing has changed")
		require.Len(t, h.take(), 4)
	})
}

// A mutating webhook with reinvocationPolicy IfNeeded is called once more if a later one has
// changed the object.
func TestWebhookReinvocation(t *testing.T) {
	for name, tt := range map[string]struct {
		policy string
		later  string // the webhook after it
		want   []string
	}{
		"IfNeeded":             {"IfNeeded", "two", []string{"one", "two", "one"}},
		"IfNeeded, no change":  {"IfNeeded", "allow", []string{"one", "allow"}},
		"Never":                {"Never", "two", []string{"one", "two"}},
		"two that always want": {"IfNeeded", "count", []string{"one", "count", "one", "count"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startWithWebhooks(t)
				for _, name := range []string{"one", "two"} {
					h.note(name)
				}
				calls := 0
				h.review("count", func(*admissionRequest) *admissionResponse {
					calls++
					return patchResponse(fmt.Sprintf(`[{"op":"add","path":"/data","value":{"notes":"%d"}}]`, calls))
				})
				later := ""
				if tt.later == "count" {
					later = `"reinvocationPolicy":"IfNeeded"`
				}
				requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "one", `"reinvocationPolicy":"`+tt.policy+`"`), h.webhook(t, tt.later, later)))
				requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"x"}}`)
				var have []string
				for _, c := range h.take() {
					have = append(have, strings.TrimPrefix(c.path, "/"))
				}
				require.Equal(t, tt.want, have)
			})
		})
	}
}

// Warnings of all webhooks reach the client once, also with a denial.
func TestWebhookWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		warn := func(allowed bool, texts ...string) func(*admissionRequest) *admissionResponse {
			return func(*admissionRequest) *admissionResponse {
				return &admissionResponse{Allowed: allowed, Warnings: texts}
			}
		}
		h.review("first", warn(true, "old", "twice"))
		h.review("second", warn(true, "twice", "", `"quoted"`))
		h.review("no", warn(false, "denied"))
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "first", ""), h.webhook(t, "second", "")))
		warnings := []string{`299 - "old"`, `299 - "twice"`, `299 - "\"quoted\""`}
		require.Equal(t, warnings, warningsOf(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"x"}}`))
		require.Equal(t, warnings, warningsOf(t, srv, 200, "DELETE", configMapsPath+"/x", ""))
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "no", "")))
		require.Equal(t, append(warnings, `299 - "denied"`), warningsOf(t, srv, 400, "POST", configMapsPath, `{"metadata":{"name":"x"}}`))
	})
}

// A webhook is called for a dry run, with dryRun in the request. One with side effects cannot be
// configured.
func TestWebhookDryRun(t *testing.T) {
	for _, sideEffects := range []string{"None", "NoneOnDryRun"} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := startWithWebhooks(t, fakeapi.WithObjects(newConfigMap("there")))
			h.note("one")
			requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "one", `"sideEffects":"`+sideEffects+`"`)))
			require.Equal(t, "one", notes(requireCode(t, srv, 201, "POST", configMapsPath+"?dryRun=All", `{"metadata":{"name":"x"}}`)))
			requireCode(t, srv, 200, "DELETE", configMapsPath+"/there?dryRun=All", "")
			requireCode(t, srv, 404, "GET", configMapsPath+"/x", "")
			requireCode(t, srv, 200, "GET", configMapsPath+"/there", "")
			requireStatus(t, srv, 422, "POST", mutatingPath, configuration("n", h.webhook(t, "one", `"sideEffects":"Some"`)))
			calls := h.take()
			require.Len(t, calls, 2)
			for _, c := range calls {
				require.True(t, *c.DryRun)
			}
			requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"x"}}`)
			require.False(t, *h.take()[0].DryRun)
		})
	}
}

// What a webhook has changed belongs to no field manager. An applier can claim it without a
// conflict.
func TestWebhookChangesHaveNoManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		h.note("one")
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "one", `"rules":[`+rule("CREATE UPDATE", "", "v1", "configmaps")+`]`)))
		const applied = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"a":"b"}}`
		for _, made := range []*unstructured.Unstructured{
			requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"y","labels":{"a":"b"}}}`),
			requireCode(t, srv, 201, "PATCH", configMapsPath+"/x?fieldManager=me", applied+`}`),
		} {
			require.Equal(t, "one", notes(made))
			managed, err := json.Marshal(made.GetManagedFields())
			require.NoError(t, err)
			require.NotContains(t, string(managed), "f:data")
		}
		made := requireCode(t, srv, 200, "PATCH", configMapsPath+"/x?fieldManager=you", applied+`,"data":{"notes":"one, mine"}}`)
		require.Equal(t, "one, mine", notes(made))
		require.Equal(t, "you", made.GetManagedFields()[len(made.GetManagedFields())-1].Manager)
	})
}

// A mutating webhook is called before validation: it can mend an object, and what it breaks is
// reported. A validating one is called after it.
func TestWebhooksAndValidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t, fakeapi.WithObjects(decodeCRD(t, gadgetCRD("v1", `{"strategy":"None"}`))))
		h.review("resize", func(request *admissionRequest) *admissionResponse {
			size := `3`
			if request.Name == "broken" {
				size = `"three"`
			}
			return patchResponse(`[{"op":"add","path":"/spec/size","value":` + size + `}]`)
		})
		gadgets := `"rules":[` + rule("CREATE", "example.com", "v1", "gadgets") + `]`
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "resize", gadgets)))
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", gadgets)))
		made := requireCode(t, srv, 201, "POST", gadgetsV1, `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"mended"},"spec":{"size":"large"}}`)
		require.JSONEq(t, `{"size":3,"ofv1":"set in v1"}`, specJSON(t, made))
		require.Equal(t, []string{"resize: CREATE gadgets mended", "allow: CREATE gadgets mended"}, h.takeTexts())

		s := requireStatus(t, srv, 422, "POST", gadgetsV1, gadgetJSON("v1", "broken", 1))
		require.Contains(t, s.Message, `spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`)
		require.Equal(t, []string{"resize: CREATE gadgets broken"}, h.takeTexts())
	})
}

// A generated name is not known to mutating webhooks, but to validating ones. A webhook may set it.
func TestWebhooksAndGeneratedNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		h.review("rename", func(request *admissionRequest) *admissionResponse {
			var object metav1.PartialObjectMetadata
			if json.Unmarshal(request.Object.Raw, &object) != nil || object.GenerateName != "named-" {
				return allow()
			}
			return patchResponse(`[{"op":"add","path":"/metadata/name","value":"named-by-webhook"}]`)
		})
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "rename", "")))
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", "")))
		made := requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"generateName":"x-"}}`)
		require.Equal(t, []string{"rename: CREATE configmaps ", "allow: CREATE configmaps " + made.GetName()}, h.takeTexts())
		made = requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"generateName":"named-"}}`)
		require.Equal(t, "named-by-webhook", made.GetName())
	})
}

// A write that fails anyway is refused before webhooks or after them, as on a real server.
func TestWebhooksOfFailedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t, fakeapi.WithObjects(newConfigMap("there")))
		mutating, validating := h.webhook(t, "allow", `"name":"m.example.com"`), h.webhook(t, "allow", `"name":"v.example.com"`)
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", mutating))
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", validating))
		for _, tt := range []struct {
			what               string
			code               int
			method, path, body string
			calls              int
		}{
			{"existing name", 409, "POST", "", `{"metadata":{"name":"there"}}`, 2},
			{"stale update", 409, "PUT", "/there", `{"metadata":{"name":"there","resourceVersion":"1"}}`, 1},
			{"other uid", 409, "PUT", "/there", `{"metadata":{"name":"there","uid":"u"}}`, 0},
			{"changed uid", 422, "PATCH", "/there", `{"metadata":{"uid":"u"}}`, 1},
			{"invalid name", 422, "POST", "", `{"metadata":{"name":"Invalid"}}`, 1},
			{"failed precondition", 409, "DELETE", "/there", `{"preconditions":{"uid":"u"}}`, 0},
			{"missing object", 404, "PATCH", "/missing", `{}`, 0},
			{"missing object", 404, "DELETE", "/missing", ``, 0},
			{"unknown field", 400, "POST", "?fieldValidation=Strict", `{"metadata":{"name":"x"},"datum":{}}`, 0},
			{"missing namespace", 404, "POST", "-", `{"metadata":{"name":"x"}}`, 0},
		} {
			path := configMapsPath + tt.path
			if tt.path == "-" {
				path = "/api/v1/namespaces/missing/configmaps"
			}
			requireCode(t, srv, tt.code, tt.method, path, tt.body)
			require.Len(t, h.take(), tt.calls, tt.what)
		}
	})
}

// A webhook for one version of a built-in type is also called for the others. It gets the object in
// its version, and what it changes gets the defaults of that version.
func TestWebhookOfAnotherBuiltinVersion(t *testing.T) {
	const path = "/apis/autoscaling/%s/namespaces/default/horizontalpodautoscalers"
	for served, other := range map[string]string{"v1": "v2", "v2": "v1"} {
		t.Run(served, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startWithWebhooks(t)
				h.review("remove", func(request *admissionRequest) *admissionResponse {
					return patchResponse(`[{"op":"replace","path":"/spec/maxReplicas","value":4},{"op":"remove","path":"/spec/minReplicas"}]`)
				})
				rules := `"rules":[` + rule("CREATE", "autoscaling", other, "horizontalpodautoscalers") + `]`
				requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "remove", rules)))
				requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", rules)))
				made := requireCode(t, srv, 201, "POST", fmt.Sprintf(path, served), `{"metadata":{"name":"x"},
					"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"minReplicas":2,"maxReplicas":3}}`)
				calls := h.take()
				require.Len(t, calls, 2)
				for i, spec := range []map[string]any{{"minReplicas": 2., "maxReplicas": 3.}, {"minReplicas": 1., "maxReplicas": 4.}} {
					var got struct {
						APIVersion string
						Spec       map[string]any
					}
					require.NoError(t, json.Unmarshal(calls[i].Object.Raw, &got))
					require.Equal(t, "autoscaling/"+other, got.APIVersion)
					require.Subset(t, got.Spec, spec)
				}
				require.Subset(t, made.Object["spec"], map[string]any{"minReplicas": int64(1), "maxReplicas": int64(4)})
				require.Equal(t, "autoscaling/"+served, made.GetAPIVersion())
			})
		})
	}
}
