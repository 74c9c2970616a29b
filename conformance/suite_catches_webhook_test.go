package conformance_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// webhookFaults break rules about webhooks by other configurations than those of the client, and by
// other responses.
var webhookFaults = []faultyServer{
	// Matching.
	{"calls webhooks for all operations", changeRules("operations", []string{"*"}), `^WH-01/typed$`},
	{"calls webhooks for all groups", changeRules("apiGroups", []string{"*"}), `^WH-(02/typed)$`},
	{"calls webhooks for all versions", changeRules("apiVersions", []string{"*"}), `^WH-(03/typed|20)$`},
	{"calls webhooks for all resources", changeRules("resources", []string{"*/*"}), `^WH-(04/typed|05)$`},
	{"calls webhooks for objects of any scope", changeRules("scope", "*"), `^WH-07$`},
	{"calls no webhooks for cluster-scoped objects", changeRules("scope", "Namespaced"), `^WH-(07|10|11)$`},
	{"applies the first rule only", changeWebhooks(func(hook map[string]any) { hook["rules"] = hook["rules"].([]any)[:1] }), `^WH-06$`},
	{"calls webhooks for reads", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/a/status") {
			r.Method = http.MethodPatch
			r.Header.Set("Content-Type", "application/merge-patch+json")
			r.Body, r.ContentLength = http.NoBody, 0
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status")
			setBody(r, `{}`)
		}
	}), `^WH-08$`},
	{"ignores namespaceSelector", withoutWebhookField("namespaceSelector"), `^WH-(09/typed|10|12)$`},
	{"ignores objectSelector", withoutWebhookField("objectSelector"), `^WH-(13/typed|14/typed|15)$`},
	{"ignores matchConditions", withoutWebhookField("matchConditions"), `^WH-(16/typed|17/typed|18)$`},
	{"matches exactly", setWebhookField("matchPolicy", "Exact"), `^WH-(19|20|21)$`},
	{"matches equivalent versions", setWebhookField("matchPolicy", "Equivalent"), `^WH-20$`},
	{"calls one webhook of a configuration", changeConfigs(func(hooks []any) []any { return hooks[:min(2, len(hooks))] }), `^WH-(01|02|03|13|39|40|59|81)(/typed)?$`},
	{"calls webhooks in the wrong order", changeConfigs(func(hooks []any) []any {
		for i, j := 1, len(hooks)-1; i < j; i, j = i+1, j-1 {
			hooks[i], hooks[j] = hooks[j], hooks[i]
		}
		return hooks
	}), `^WH-(39/typed|47/typed|52)$`},

	// Calls and failures.
	{"sends the review version v1 only", setWebhookField("admissionReviewVersions", []string{"v1"}), `^WH-23$`},
	{"ignores failures", setWebhookField("failurePolicy", "Ignore"), `^WH-(18|49|6[0-6]|68)$`},
	{"never ignores failures", setWebhookField("failurePolicy", "Fail"), `^WH-(18|49|6[0-6]|60/next|68)$`},
	{"ignores timeoutSeconds", withoutWebhookField("timeoutSeconds"), `^WH-(62|69)$`},
	{"reinvokes no webhooks", withoutWebhookField("reinvocationPolicy"), `^WH-(47/typed|47/again)$`},
	{"reinvokes all webhooks", setMutatingField("reinvocationPolicy", "IfNeeded"), `^WH-(47/typed)$`},
	{"changes the paths of URLs", changeRequestBody(isWebhookConfig, replaceText("/x//y", "/xy")), `^WH-80$`},
	{"never changes the webhooks of a configuration", changeRequest(func(r *http.Request) {
		if isWebhookConfig(r) && r.Method == http.MethodPatch {
			r.URL.RawQuery = "dryRun=All"
		}
	}), `^WH-78$`},
	{"increments no generation of configurations", changeBody(isWebhookConfig, replacePattern(`"generation":\d+`, `"generation":1`)), `^WH-79$`},
	{"answers 501 instead of 504 when a webhook hangs", withoutCode(504), `^WH-70$`},
	{"denies changes of configurations", changeResponse(hasPathSuffix("-exempt"), func(r *http.Response) { r.StatusCode = 400 }), `^WH-75$`},
	{"answers 501 to invalid configurations", withoutCode(422), `^WH-(41/schema|41/typed|83|84|85|86|87)$`},

	// Responses.
	{"changes the message of internal errors", changeBody(anyRequest, replaceText("Internal error occurred: ", "Oops: ")), `^WH-(49|50|6[0-8])$`},
	{"sets no Retry-After for denials", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("Retry-After") }), `^WH-57$`},
	{"adds a warning", changeResponse(anyRequest, func(r *http.Response) { r.Header.Add("Warning", `299 - "x"`) }), `^WH-(71|72|73|76)$`},
	{"accepts another namespace", withoutCode(400), `^WH-(44|53/typed|55|56|58/typed|77/typed)$`},
	{"reports managed fields of webhooks", changeBody(isNotWatch, replaceText(`"f:k":{}`, `"f:k":{},"f:hook":{}`)), `^WH-45/typed$`},
	{"claims fields of webhooks with a conflict", changeResponse(hasMethod(http.MethodPatch), func(r *http.Response) {
		if r.Request.URL.Query().Get("fieldManager") == "applier" {
			r.StatusCode = http.StatusConflict
		}
	}), `^WH-45/typed$`},
	{"does not repeat equal updates", answerEqualPatches, `^WH-46/again$`},
	{"increments the resourceVersion without a change", increaseVersionOnWrite, `^WH-(46|58)/typed$`},
}

// increaseVersionOnWrite returns a higher resourceVersion with each patch.
func increaseVersionOnWrite(next http.RoundTripper) http.RoundTripper {
	writes := 0
	return changeBody(func(r *http.Request) bool { return r.Method == http.MethodPatch || r.Method == http.MethodGet }, func(s string) string {
		writes++
		return addToNumber(`"resourceVersion":"`, writes)(s)
	})(next)
}

// answerEqualPatches answers a patch that is equal to the one before with the object.
func answerEqualPatches(next http.RoundTripper) http.RoundTripper {
	last := ""
	return changeRequest(func(r *http.Request) {
		if r.Method != http.MethodPatch {
			return
		}
		this := r.URL.Path + readBody(r)
		if this == last {
			r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
		}
		last = this
	})(next)
}

// changeConfigs changes the webhooks of configurations. The first one tells when a configuration is
// effective.
func changeConfigs(change func(hooks []any) []any) fault {
	return changeRequestBody(isWebhookConfig, func(body string) string {
		var config map[string]any
		if json.Unmarshal([]byte(body), &config) != nil {
			return body
		}
		hooks, ok := config["webhooks"].([]any)
		if !ok {
			return body
		}
		config["webhooks"] = change(hooks)
		changed, _ := json.Marshal(config)
		return string(changed)
	})
}

// changeWebhooks changes each webhook of configurations but the first one.
func changeWebhooks(change func(hook map[string]any)) fault {
	return changeConfigs(func(hooks []any) []any {
		for _, hook := range hooks[min(1, len(hooks)):] {
			change(hook.(map[string]any))
		}
		return hooks
	})
}

// changeRules sets a field of all rules of webhooks.
func changeRules(field string, value any) fault {
	return changeWebhooks(func(hook map[string]any) {
		for _, rule := range hook["rules"].([]any) {
			rule.(map[string]any)[field] = value
		}
	})
}

func setWebhookField(field string, value any) fault {
	return changeWebhooks(func(hook map[string]any) { hook[field] = value })
}

func withoutWebhookField(field string) fault {
	return changeWebhooks(func(hook map[string]any) { delete(hook, field) })
}

// setMutatingField sets a field of mutating webhooks.
func setMutatingField(field string, value any) fault {
	set := setWebhookField(field, value)
	return func(next http.RoundTripper) http.RoundTripper {
		changed := set(next)
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, "/mutatingwebhookconfigurations") {
				return changed.RoundTrip(r)
			}
			return next.RoundTrip(r)
		})
	}
}

// faultyCaller is a server that calls webhooks wrongly, and a regular expression of the cases that
// must fail against it.
type faultyCaller struct {
	name    string
	fault   callFault
	failing string
}

// faultyCallers break rules about the calls of webhooks.
var faultyCallers = []faultyCaller{
	// Requests.
	{"calls webhooks twice", twice, `^WH-(01/typed|06|22|47/again|81)$`},
	{"calls validating webhooks one by one", oneByOne, `^WH-82$`},
	{"uses one uid for all calls", oneUID, `^WH-24$`},
	{"sends another content type", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Content-Type", "text/plain")
			next.ServeHTTP(w, r)
		})
	}, `^WH-22$`},
	{"sends no operation", changeCalls(replaceText(`"operation":"`, `"op":"`)), `^WH-(10|25/typed|26|30/typed|31/typed|35/typed|37)$`},
	{"sends no kind", changeCalls(replaceText(`"requestKind":`, `"kindOfRequest":`)), `^WH-(19|25/typed|27)$`},
	{"sends no namespace", changeCalls(replacePattern(`"namespace":"[^"]*","operation"`, `"operation"`)), `^WH-(10|25/typed)$`},
	{"sends a namespace of cluster-scoped objects", changeCalls(replaceText(`"operation":"`, `"namespace":"x","operation":"`)), `^WH-11$`},
	{"sends no subresource", changeCalls(replaceText(`"subResource":"`, `"sub":"`)), `^WH-(26|27)$`},
	{"sends the scaled object instead of a Scale", changeCalls(replaceText(`"kind":"Scale"`, `"kind":"Gadget"`)), `^WH-27$`},
	{"sends another user", changeCalls(replaceText(`"userInfo":{"username":"`, `"userInfo":{"username":"system:`)), `^WH-28$`},
	{"sends no object", changeCalls(replaceText(`"object":{`, `"object":null,"new":{`)), `^WH-(19|26|27|29/typed|30/typed|34/typed|36|39/typed|40/typed|47/typed)$`},
	{"sends no old object", changeCalls(replaceText(`"oldObject":{`, `"oldObject":null,"old":{`)), `^WH-(19|27|30/typed|31/typed|35/typed|37)$`},
	{"sends no options", changeCalls(replaceText(`"options":`, `"opts":`)), `^WH-32/typed$`},
	{"does not tell about dry runs", changeCalls(replaceText(`"dryRun":true`, `"dryRun":false`)), `^WH-33/typed$`},
	{"sends another name", changeCalls(replaceText(`"name":"gen-`, `"name":"other-`)), `^WH-34/typed$`},
	{"sends no managedFields", changeCalls(replaceText(`"managedFields":`, `"fields":`)), `^WH-36$`},
	{"sends the object before defaults", changeCalls(replaceText(`"color":"grey",`, ``)), `^WH-36$`},

	// Responses.
	{"ignores patches", changeAnswers(replacePattern(`"patch":"[^"]*","patchType":"JSONPatch",`, ``)), `^(WH-(21|38/typed|39/typed|40/typed|41/typed|41/schema|42|43/typed|44|45/typed|46/typed|47/typed|48|49|50|51/typed|60/next|67|74)|DR-07)$`},
	{"applies empty patches", changeAnswers(replaceText(`"patch":"W10="`, `"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEvayIsInZhbHVlIjoiMiJ9XQ=="`)), `^WH-52$`},
	{"ignores denials", changeAnswers(replaceText(`"allowed":false`, `"allowed":true`)), `^WH-(12|35/denied|5[3-9]|71|74|78)(/typed)?$`},
	{"ignores warnings", changeAnswers(replaceText(`"warnings":`, `"hints":`)), `^WH-(71|72|73)$`},
	{"denies because of the status", changeAnswers(replaceText(`"allowed":true,"auditAnnotations"`, `"allowed":false,"auditAnnotations"`)), `^WH-76$`},
	{"leaves out the reason of denials", changeAnswers(replaceText(`"reason":`, `"because":`)), `^WH-(54|55|56|57)$`},
	{"accepts any uid", changeAnswers(replaceText(`"uid":"0"`, `"uid":"1"`)), `^WH-65$`},
}

func TestFaultyCallersFail(t *testing.T) {
	for _, one := range faultyCallers {
		t.Run(one.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, network := configWithNetwork(t)
				c.Client = &http.Client{Transport: startProxy(t, network, one.fault, c.Client.Transport)}
				c.Run = regexp.MustCompile(one.failing)
				requireAllFail(t, c)
			})
		})
	}
}

// A proxy without a fault fails no case that a fault of calls is for.
func TestProxyWithoutFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, network := configWithNetwork(t)
		c.Client = &http.Client{Transport: startProxy(t, network, changeCalls(replaceText("", "")), c.Client.Transport)}
		var all []string
		for _, one := range faultyCallers {
			all = append(all, one.failing)
		}
		c.Run = regexp.MustCompile(strings.Join(all, "|"))
		report, err := conformance.Execute(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Zero(t, report.Count(conformance.Skipped))
	})
}

// requireAllFail expects that all selected cases fail.
func requireAllFail(t *testing.T, c conformance.Config) {
	t.Helper()
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.NotEmpty(t, report.Results)
	for _, result := range report.Results {
		assert.Equal(t, conformance.Failed, result.Outcome, "%s %s", result.Case.ID, result.Reason)
	}
}

// A case with webhooks is skipped if the server cannot reach the webhook of the suite, and fails if
// the server does not try.
func TestUnreachableWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := configInMemory(t)
		c.Run = regexp.MustCompile(`^WH-22$`)
		run := func(c conformance.Config) conformance.Result {
			report, err := conformance.Execute(t.Context(), c)
			require.NoError(t, err)
			return onlyResult(t, report)
		}
		elsewhere := c
		elsewhere.ListenWebhook = (&webhookNetwork{}).listen
		got := run(elsewhere)
		require.Equal(t, conformance.Skipped, got.Outcome)
		require.Contains(t, got.Reason, "the server cannot reach the webhook of the suite, see Config.ListenWebhook: ")
		require.Contains(t, got.Reason, "connection refused")

		without := c
		without.ListenWebhook = nil
		got = run(without)
		require.Equal(t, conformance.Skipped, got.Outcome)
		require.Equal(t, "it needs Config.ListenWebhook, because the server is not on the loopback interface", got.Reason)

		c.Client = &http.Client{Transport: changeRequestBody(isWebhookConfig, replaceText(`"operations":["CREATE"]`, `"operations":["CONNECT"]`))(c.Client.Transport)}
		got = run(c)
		require.Equal(t, conformance.Failed, got.Outcome)
		require.ErrorContains(t, got.Err, "the server does not call a webhook within 15s of its registration: ")
	})
}
