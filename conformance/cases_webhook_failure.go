package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docFailurePolicy = docWebhooks + ", Failure policy"

// failedCall is a way in which a call of a webhook fails.
type failedCall struct {
	answer answer
	change func(w *webhooks, hook object) // of the webhook in the configuration; may be nil
	text   string                         // a part of the message, which may contain %s for the uid of the call
}

// webhookFailureCases returns the cases about failing calls (WH-60 to WH-70).
func webhookFailureCases() []Case {
	failing := func(id, title string, level Level, why string, calls ...failedCall) Case {
		return onWebhooks(Case{ID: id, Level: level, Title: title, Why: why, Source: docFailurePolicy + "; " + webhookPlugin},
			func(ctx context.Context, w *webhooks, _ collection) error { return w.checkFailures(ctx, calls) })
	}
	const unclear = "an unclear answer is not an approval"
	client := func(field string, value func(w *webhooks) any) func(*webhooks, object) {
		return func(w *webhooks, hook object) { hook["clientConfig"].(object)[field] = value(w) }
	}
	return []Case{
		failing("WH-60", "if the connection is refused, a webhook with failurePolicy Fail rejects the request, and one with Ignore does not", Must,
			"this is what the policy is for",
			failedCall{change: client("url", func(*webhooks) any { return "https://127.0.0.1:1/a" }), text: `failed to call webhook: Post "https://127.0.0.1:1/a?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`}),
		failing("WH-61", "a webhook whose certificate is not verified by its caBundle has failed", Must, "objects may contain secrets",
			failedCall{
				change: client("caBundle", func(*webhooks) any { return otherCABundle() }), text: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
			}),
		failing("WH-62", "a webhook that does not answer within timeoutSeconds has failed", Must, "a request must not hang",
			failedCall{answer: never, change: func(_ *webhooks, hook object) { hook["timeoutSeconds"] = 1 }, text: "?timeout=1s\": context deadline exceeded"}),
		failing("WH-63", "a webhook that closes the connection, or answers with an error of HTTP, has failed", Must, unclear,
			failedCall{answer: closeConnection, text: "failed to call webhook: Post "},
			failedCall{answer: answerText(500, "something broke"), text: `failed to call webhook: an error on the server ("something broke") has prevented the request from succeeding`},
			failedCall{answer: answerText(404, "not here"), text: "failed to call webhook: the server could not find the requested resource"},
			failedCall{answer: answerText(403, "not you"), text: "failed to call webhook: not you"}),
		failing("WH-64", "a webhook that answers with something else than an AdmissionReview of the version of the call has failed", Must, unclear,
			failedCall{answer: answerText(200, "hello"), text: "failed to call webhook: "},
			failedCall{answer: answerText(200, ""), text: "failed to call webhook: 0-length response with status code: 200 and content type: application/json"},
			failedCall{answer: answerReview("admission.k8s.io/v1", "SomethingElse"), text: `failed to call webhook: no kind "SomethingElse" is registered for version "admission.k8s.io/v1"`},
			failedCall{answer: answerReview("admission.k8s.io/v9", "AdmissionReview"), text: `failed to call webhook: no kind "AdmissionReview" is registered for version "admission.k8s.io/v9"`},
			failedCall{answer: answerReview("admission.k8s.io/v1beta1", "AdmissionReview"), text: "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"}),
		failing("WH-65", "a response without the uid of the call, and a review without a response, are failures", Must, "it may be the answer to another call",
			failedCall{answer: respond(object{"uid": "0"}), text: `received invalid webhook response: expected response.uid="%s", got "0"`},
			failedCall{answer: answerText(200, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`), text: "received invalid webhook response: webhook response was absent"}),
		onWebhooks(Case{
			ID: "WH-66", Level: Must, Title: "a patch that is no JSON patch, or has no or another patchType, is a failure of the webhook", Why: unclear, Source: docWebhookResponse + "; " + webhookPlugin,
		}, func(ctx context.Context, w *webhooks, _ collection) error {
			return w.checkMutatingFailures(ctx, []failedCall{
				{answer: respond(object{"patchType": "JSONPatch", "patch": []byte("not a patch")}), text: "received undecodable patch in webhook response: "},
				{answer: respond(object{"patchType": "JSONPatch", "patch": []byte(`{"data":{}}`)}), text: "received undecodable patch in webhook response: "},
				{answer: respond(object{"patch": []byte("[]")}), text: "received invalid webhook response: webhook returned response.patch but not response.patchType"},
				{answer: respond(object{"patchType": "JSONPatch"}), text: "received invalid webhook response: webhook returned response.patchType but not response.patch"},
				{answer: respond(object{"patchType": "MergePatch", "patch": mustEncode([]object{setOp("/data/k", "2")})}), text: `unsupported patch type "MergePatch"`},
			})
		}),
		onWebhooks(Case{
			ID: "WH-67", Level: Should, Title: "a patch that cannot be applied is an internal error, whatever the failurePolicy",
			Why: "the webhook was called, and its wish is not fulfilled", Source: webhookPlugin,
		}, checkUnappliablePatch),
		failing("WH-68", "a webhook behind a Service that does not exist has failed", Must, "the Service may be created later",
			failedCall{change: func(w *webhooks, hook object) {
				hook["clientConfig"] = object{"service": object{"name": "absent", "namespace": w.c.namespace, "path": "/hook"}, "caBundle": w.server.caBundle}
			}, text: `/hook?timeout=10s": service "absent" not found`}),
		onWebhooks(Case{
			ID: "WH-69", Level: Must, Title: "the parameter timeout of a call is timeoutSeconds, 10 by default, or the shorter rest of the time of the request",
			Why: "webhooks can stop in time", Source: docWebhooks + ", Timeouts",
		}, checkTimeoutParameter),
		onWebhooks(Case{
			ID: "WH-70", Level: Should, Title: "a request whose time is over while a webhook is called has timed out, whatever the failurePolicy, and changes nothing",
			Why: "the client has given up", Source: docWebhooks + ", Timeouts",
		}, func(ctx context.Context, w *webhooks, c collection) error {
			hook := w.webhook("a", never).with("failurePolicy", "Ignore").with("timeoutSeconds", 20)
			if err := w.validating(ctx, hook); err != nil {
				return err
			}
			// A server may also abort the response, if the timeout and the end of the call race.
			r, err := w.s.send(ctx, post(c.path(), c.object("a")).withQuery("timeout=1s"))
			if err == nil {
				err = r.expect(code(http.StatusGatewayTimeout), valueAt(string(metav1.StatusReasonTimeout), "reason"))
			} else if ctx.Err() == nil {
				err = nil
			}
			if err != nil {
				return err
			}
			w.server.release()
			return w.s.expect(ctx, get(c.item("a")), code(404))
		}),
		onWebhooks(Case{
			ID: "WH-60/next", Level: Must, Title: "if a mutating webhook with failurePolicy Ignore fails, the next one is called with the object as it was",
			Why: "one broken webhook must not disable others", Source: docFailurePolicy,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.mutating(ctx, w.webhook("a", answerText(200, "hello")).with("failurePolicy", "Ignore"), w.webhook("b", setData("by", "b"))); err != nil {
				return err
			}
			if _, err := w.write(ctx, post(c.path(), c.object("a").withData("k", "1")), code(201), valueAt(object{"k": "1", "by": "b"}, "data")); err != nil {
				return err
			}
			_, err := w.callsInOrder("a", "b")
			return err
		}),
	}
}

func mustEncode(v any) []byte {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err) // the value is a constant of the suite
	}
	return encoded
}

// otherCABundle returns the CA bundle of another certificate.
func otherCABundle() []byte {
	_, caBundle, err := newServingCertificate("127.0.0.1")
	if err != nil {
		panic(err) // there is no randomness
	}
	return caBundle
}

// answerReview answers with the request in a review of this version and kind.
func answerReview(apiVersion, kind string) answer {
	return func(w http.ResponseWriter, _ *http.Request, in webhookCall) {
		writeReview(w, object{"apiVersion": apiVersion, "kind": kind, "response": object{"uid": in.decoded.Request.UID, "allowed": true}})
	}
}

// checkFailures expects that each call fails a create with failurePolicy Fail, the default, and not
// with Ignore, of validating and mutating webhooks.
func (w *webhooks) checkFailures(ctx context.Context, calls []failedCall) error {
	if err := w.checkFailuresOf(ctx, validatingWebhooks, calls); err != nil {
		return err
	}
	return w.checkMutatingFailures(ctx, calls)
}

func (w *webhooks) checkMutatingFailures(ctx context.Context, calls []failedCall) error {
	return w.checkFailuresOf(ctx, mutatingWebhooks, calls)
}

// checkFailuresOf registers two webhooks for each call. Their objectSelectors select one object.
func (w *webhooks) checkFailuresOf(ctx context.Context, resource string, calls []failedCall) error {
	var hooks []object
	for i, one := range calls {
		for _, policy := range []string{"Fail", "Ignore"} {
			name := fmt.Sprintf("%s%d", strings.ToLower(policy), i)
			a := one.answer
			if a == nil {
				a = allow
			}
			hook := w.webhook(name, a).withAdmissionRules(w.rule("CREATE")).with("objectSelector", object{"matchLabels": object{"on": name}})
			if policy == "Ignore" {
				hook["failurePolicy"] = policy
			}
			if one.change != nil {
				one.change(w, hook)
			}
			hooks = append(hooks, hook)
		}
	}
	if err := w.register(ctx, resource, "v", hooks...); err != nil {
		return err
	}
	for i, one := range calls {
		fail, ignore := fmt.Sprintf("fail%d", i), fmt.Sprintf("ignore%d", i)
		r, err := w.s.do(ctx, post(w.c.path(), w.c.object("a").withLabel("on", fail)), code(http.StatusInternalServerError))
		if err != nil {
			return err
		}
		text := one.text
		if strings.Contains(text, "%s") {
			got, err := w.calls(fail)
			if err != nil {
				return err
			}
			text = fmt.Sprintf(text, got[0].decoded.Request.UID)
		}
		if err := r.expect(callFailed(fail, "").check, failure{code: 500, reason: metav1.StatusReasonInternalError, contains: text}.check); err != nil {
			return err
		}
		if err := w.s.expect(ctx, w.c.dryRunCreate(w.c.object("a").withLabel("on", ignore)), code(201)); err != nil {
			return err
		}
		w.server.takeCalls()
	}
	return w.s.expect(ctx, get(w.c.item("a")), code(404))
}

func checkUnappliablePatch(ctx context.Context, w *webhooks, c collection) error {
	answers := map[string][]object{
		"replace operation does not apply: doc is missing path: /data/absent/here: missing value": {{"op": "replace", "path": "/data/absent/here", "value": 1}},
		"testing value /data/k failed: test failed":                                               {{"op": "test", "path": "/data/k", "value": "2"}},
		"Unexpected kind: frobnicate":                                                             {{"op": "frobnicate", "path": "/data/k", "value": "2"}},
		"json: cannot unmarshal number into Go struct field ConfigMap.data of type string":        {setOp("/data/k", 1)},
	}
	var all []answer
	var texts []string
	for text, operations := range sortedByKey(answers) {
		all, texts = append(all, patchWith(operations...)), append(texts, text)
	}
	if err := w.mutating(ctx, w.webhook("a", all...).with("failurePolicy", "Ignore")); err != nil {
		return err
	}
	for _, text := range texts {
		want := failure{code: 500, reason: metav1.StatusReasonInternalError, message: "Internal error occurred: " + text}
		if err := w.s.expect(ctx, post(c.path(), c.object("a").withData("k", "1")), want.check); err != nil {
			return err
		}
	}
	return w.s.expect(ctx, get(c.item("a")), code(404))
}

func checkTimeoutParameter(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("default"), w.webhook("long").with("timeoutSeconds", 30), w.webhook("short").with("timeoutSeconds", 2)); err != nil {
		return err
	}
	for parameter, want := range sortedByKey(map[string][]string{"": {"10s", "30s", "2s"}, "timeout=5s": {"5s", "5s", "2s"}}) {
		request := post(c.path(), c.object("a"+strings.TrimPrefix(parameter, "timeout=")))
		if parameter != "" {
			request = request.withQuery(parameter)
		}
		if _, err := w.write(ctx, request, code(201)); err != nil {
			return err
		}
		calls, err := w.calls("default", "long", "short")
		if err != nil {
			return err
		}
		var got []string
		for _, one := range calls {
			got = append(got, strings.TrimPrefix(one.query, "timeout="))
			if _, err := time.ParseDuration(got[len(got)-1]); err != nil {
				return one.errorf("expected the parameter timeout: %w", err)
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("expected the timeouts %v, got %v", want, got)
		}
	}
	return nil
}
