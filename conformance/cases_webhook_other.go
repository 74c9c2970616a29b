package conformance

import (
	"context"
	"fmt"
	"net/http"
	pathpkg "path"
	"slices"
	"strings"
	"unicode/utf8"
)

// webhookOtherCases returns the cases about warnings, dry runs, exempt kinds and configurations
// (WH-71 to WH-84).
func webhookOtherCases() []Case {
	const docWarnings = docWebhookResponse + ", warnings"
	return []Case{
		onWebhooks(Case{
			ID: "WH-71", Level: Must, Title: "each warning in the response of a webhook is a Warning header, whether it allows or denies the request",
			Why: "the user reads them", Source: docWarnings,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			warn := respond(object{"warnings": []string{"one", `say "hi" \ back`}})
			denial := respond(object{"allowed": false, "warnings": []string{"and a warning"}, "status": object{"message": "no"}})
			if err := w.validating(ctx, w.webhook("v", warn, denial)); err != nil {
				return err
			}
			if err := w.mutating(ctx, w.webhook("m", respond(object{"warnings": []string{"of m"}}), allow)); err != nil {
				return err
			}
			return w.s.expectAll(ctx,
				send(post(c.path(), c.object("a")), code(201), warningsAre("one", `say "hi" \ back`, "of m")),
				send(post(c.path(), c.object("b")), denied("v", "no").check, warningsAre("and a warning")),
			)
		}),
		onWebhooks(Case{
			ID: "WH-72", Level: Should, Title: "duplicate and empty warnings, and those with control characters, are not sent",
			Why: "a header is one line", Source: "apiserver endpoints/filters/warning.go",
		}, func(ctx context.Context, w *webhooks, c collection) error {
			warn := respond(object{"warnings": []string{"", "same", "same", "line\nbreak", "tab\there", "ünïcödé"}})
			if err := w.validating(ctx, w.webhook("v", warn)); err != nil {
				return err
			}
			return w.s.expect(ctx, post(c.path(), c.object("a")), code(201), warningsAre("same", "ünïcödé"))
		}),
		onWebhooks(Case{
			ID: "WH-73", Level: Should, Title: "if all warnings together exceed 4 KiB, they are cut to 256 characters each, and those beyond 4 KiB are left out",
			Why: "clients limit the size of headers", Source: docWarnings + "; apiserver endpoints/filters/warning.go",
		}, checkWarningLimits),
		onWebhooks(Case{
			ID: "WH-74", Level: Must, Title: "webhooks with sideEffects None and NoneOnDryRun are called in dry runs, and may change and deny them",
			Why: "a dry run is to tell what the request would do", Source: docWebhooks + ", Side effects",
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.mutating(ctx, w.webhook("m", setData("by", "m")).with("sideEffects", "NoneOnDryRun")); err != nil {
				return err
			}
			if err := w.validating(ctx, w.webhook("v", allow, deny(object{"message": "no"}))); err != nil {
				return err
			}
			try := c.dryRunCreate(c.object("a").withData("k", "1"))
			if err := w.s.expectAll(ctx,
				send(try, code(201), valueAt("m", "data", "by")), send(try, denied("v", "no").check), send(get(c.item("a")), code(404)),
			); err != nil {
				return err
			}
			_, err := w.callsInOrder("m", "v", "m", "v")
			return err
		}),
		onWebhooks(Case{
			ID: "WH-75", Level: Must, Title: "webhooks are not called for the kinds of admissionregistration.k8s.io",
			Why: "a webhook could make its own removal impossible", Source: docWebhooks + ", What are admission webhooks?; " + webhookPlugin + "/predicates/rules",
		}, checkExemptKinds),
		onWebhooks(Case{
			ID: "WH-76", Level: Should, Title: "audit annotations, the status of an approval and unknown fields of a response change nothing for the client",
			Why: "they are for the audit log", Source: docWebhookResponse,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			extra := respond(object{"auditAnnotations": object{"k": "v", "not a key": "v"}, "status": object{"message": "fine", "code": 418}, "extra": 1})
			if err := w.validating(ctx, w.webhook("v", extra)); err != nil {
				return err
			}
			if err := w.s.expect(ctx, post(c.path(), c.object("a")), code(201), warningsAre(), kind(c.apiVersion, c.kind), noField("metadata", "annotations")); err != nil {
				return err
			}
			return w.expectCalls("v")
		}),
		onWebhooks(Case{
			ID: "WH-78", Level: Must, Title: "changes of a configuration and its deletion take effect without a restart",
			Why: "webhooks are installed in running clusters", Source: docWebhooks + ", Configure admission webhooks on the fly",
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.validating(ctx, w.webhook("a", deny(object{"message": "a"}))); err != nil {
				return err
			}
			try := c.dryRunCreate(c.object("a"))
			if err := w.s.expect(ctx, try, denied("a", "a").check); err != nil {
				return err
			}
			if err := w.replace(ctx, validatingWebhooks, "v", w.webhook("b", deny(object{"message": "b"}))); err != nil {
				return err
			}
			if err := w.s.expect(ctx, try, denied("b", "b").check); err != nil {
				return err
			}
			if err := w.unregister(ctx, validatingWebhooks, "v"); err != nil {
				return err
			}
			return w.s.expect(ctx, try, code(201))
		}),
		onWebhooks(Case{
			ID: "WH-79", Level: Must, Title: "the generation of a configuration counts the changes of its webhooks, and not those of its metadata",
			Why: "installers compare it", Source: docGeneration,
		}, func(ctx context.Context, w *webhooks, _ collection) error {
			if err := w.validating(ctx, w.webhook("a")); err != nil {
				return err
			}
			item := w.configItem(validatingWebhooks, "v")
			return w.s.expectAll(ctx,
				send(get(item), code(200), generation(1)),
				send(mergePatch(item, object{"metadata": object{"labels": object{"a": "b"}}}), code(200), generation(1)),
				send(jsonPatch(item, setOp("/webhooks/0/timeoutSeconds", 3)), code(200), generation(2)),
			)
		}),
		onWebhooks(Case{
			ID: "WH-80", Level: Must, Title: "a webhook is called at the path of its URL, with one slash instead of several and without one at the end",
			Why: "installers join paths carelessly", Source: docWebhooks + ", Contacting the webhook: URL; apiserver util/webhook/client.go",
		}, checkURLs),
		onWebhooks(Case{
			ID: "WH-81", Level: Must, Title: "webhooks of one configuration and of several are all called",
			Why: "webhooks are installed independently of each other", Source: docWebhooks,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.register(ctx, validatingWebhooks, "v1", w.webhook("a"), w.webhook("b")); err != nil {
				return err
			}
			if err := w.register(ctx, validatingWebhooks, "v2", w.webhook("c")); err != nil {
				return err
			}
			if err := w.mutating(ctx, w.webhook("m")); err != nil {
				return err
			}
			return w.expectCallsOf(ctx, post(c.path(), c.object("a")), "a", "b", "c", "m")
		}),
		onWebhooks(Case{
			ID: "WH-82", Level: Must, Title: "validating webhooks are called at the same time",
			Why: "otherwise their times would add up", Source: docWebhookPractices + "; " + webhookPlugin + "/validating/dispatcher.go",
		}, checkConcurrentCalls),
		onWebhooks(Case{
			ID: "DR-07", Level: Must, Title: "dry runs call admission webhooks, which may change and deny them",
			Why: "a dry run is to tell what the request would do", Source: docDryRun,
		}, func(ctx context.Context, w *webhooks, c collection) error {
			if err := w.mutating(ctx, w.webhook("m", setData("by", "m"))); err != nil {
				return err
			}
			return w.s.expect(ctx, c.dryRunCreate(c.object("a").withData("k", "1")), code(201), valueAt("m", "data", "by"))
		}),
	}
}

func checkWarningLimits(ctx context.Context, w *webhooks, c collection) error {
	long := strings.Repeat("a", 1000)
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("%02d %s", i, strings.Repeat("w", 400)))
	}
	if err := w.validating(ctx, w.webhook("v", respond(object{"warnings": []string{long}}), respond(object{"warnings": many}))); err != nil {
		return err
	}
	return w.s.expectAll(ctx,
		send(post(c.path(), c.object("a")), code(201), warningsAre(long)),
		send(post(c.path(), c.object("b")), code(201), func(r *response) error {
			var all string
			for i, line := range r.header.Values("Warning") {
				text := strings.TrimSuffix(strings.TrimPrefix(line, `299 - "`), `"`)
				if utf8.RuneCountInString(text) > 256 || !strings.HasPrefix(text, fmt.Sprintf("%02d ww", i)) {
					return fmt.Errorf("expected warning %d, of at most 256 characters, got %s", i, line)
				}
				all += text
			}
			if len(all) > 4096 || len(all) < 2048 {
				return fmt.Errorf("expected warnings of up to 4 KiB, got %d bytes", len(all))
			}
			return nil
		}),
	)
}

func checkExemptKinds(ctx context.Context, w *webhooks, c collection) error {
	exempt := rule(admissionGroup, "*", "*/*", "*")
	hook := func(name string) object {
		return w.webhook(name, deny(nil)).withAdmissionRules(exempt).with("namespaceSelector", object{}).with("objectSelector", w.selector())
	}
	if err := w.validating(ctx, hook("v")); err != nil {
		return err
	}
	if err := w.mutating(ctx, hook("m")); err != nil {
		return err
	}
	for _, one := range []string{mutatingWebhooks, validatingWebhooks} {
		request := w.s.postConfig(one, w.configName("exempt"))
		request.body.(object).withLabel(caseLabel, c.namespace)
		item := configPath(one) + "/" + w.configName("exempt")
		w.s.track(item)
		if err := w.s.expectAll(ctx,
			send(request, code(http.StatusCreated)), send(mergePatch(item, object{"metadata": object{"annotations": object{"a": "b"}}}), code(200)),
			send(del(item), code(200)),
		); err != nil {
			return err
		}
	}
	return w.expectCalls()
}

func checkURLs(ctx context.Context, w *webhooks, c collection) error {
	root := "/" + c.namespace
	var hooks []object
	for name, path := range sortedByKey(map[string]string{"double": "/" + root + "/double", "slash": root + "/slash/", "deep": root + "/x//y/deep"}) {
		w.server.handle(path, allow)
		w.server.handle(pathpkg.Clean(path), allow)
		hooks = append(hooks, w.entry(name, path))
	}
	if err := w.validating(ctx, hooks...); err != nil {
		return err
	}
	if _, err := w.write(ctx, post(c.path(), c.object("a")), code(201)); err != nil {
		return err
	}
	var paths []string
	for _, one := range w.server.takeCalls() {
		paths = append(paths, one.path)
	}
	if want := []string{root + "/double", root + "/slash", root + "/x/y/deep"}; !slices.Equal(slices.Sorted(slices.Values(paths)), want) {
		return fmt.Errorf("expected calls of the paths %v, got %v", want, paths)
	}
	return nil
}

// checkConcurrentCalls lets each webhook wait for the call of the other one.
func checkConcurrentCalls(ctx context.Context, w *webhooks, c collection) error {
	met := make(chan struct{})
	meet := func(to http.ResponseWriter, r *http.Request, in webhookCall) {
		select {
		case met <- struct{}{}:
		case <-met:
		case <-r.Context().Done():
			return
		}
		allow(to, r, in)
	}
	if err := w.validating(ctx, w.webhook("a", meet).with("timeoutSeconds", 5), w.webhook("b", meet).with("timeoutSeconds", 5)); err != nil {
		return err
	}
	return w.expectCallsOf(ctx, post(c.path(), c.object("a")), "a", "b")
}
