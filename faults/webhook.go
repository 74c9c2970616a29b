package faults

import "fmt"

// Webhook matches calls of webhooks by the API server: of admission webhooks by their names, and of
// conversion webhooks by the name of the CustomResourceDefinition. A trailing "*" matches any
// suffix.
//
// A rule with Webhook matches calls of webhooks only, and a rule without it matches none. The other
// predicates of the rule are about the request that caused the call: the verb, the resource, the
// name and the User-Agent of the write. The server's own writes have none of these, and neither has
// a call for conversion, whose cause is not known. [Code] is about the response of the webhook.
//
// Calls of webhooks have the phases Before, in which the webhook has not been called, and
// Committed, in which it has been called and its side effects have happened. The rules are applied
// by the server of package fakeapi; see [Set.WebhookCall].
func Webhook(names ...string) Pred { return newMatcher(webhookKind, names) }

var webhookKind = &matcherKind{"webhook", factWebhook,
	func(op Op, w string) bool { return op.Webhook != "" && matchesPattern(w, op.Webhook) },
	checkNotEmpty("name of a webhook")}

// matchesWebhooks reports whether a rule with the condition p matches calls of webhooks, and
// nothing else.
func matchesWebhooks(p Pred) bool { return p.facts()&factWebhook != 0 }

// MatchesWebhooks reports whether the rule matches calls of webhooks, and not requests, because it
// has [Webhook] in its condition.
func (r Rule) MatchesWebhooks() bool { return matchesWebhooks(r.condition()) }

// checkWebhookEffects returns an error if the rule has an effect on calls of webhooks and does not
// match them, or the other way round.
func (r Rule) checkWebhookEffects() error {
	calls := r.MatchesWebhooks()
	for _, e := range r.Do {
		_, only := e.(webhookOnlyEffect)
		switch {
		case only && !calls:
			return fmt.Errorf("%s is for calls of webhooks only: add webhook(NAME)", e)
		case calls && !only && !appliesToCalls(e):
			return fmt.Errorf("%s cannot be applied to calls of webhooks; those that can: allow, delay, deny, hang, header, "+
				"jitter, overwrite, patch, raw, remove, reset, set, status, throttle, truncate", e)
		}
	}
	return nil
}

// appliesToCalls reports whether an effect on requests can also be applied to calls of webhooks.
func appliesToCalls(e Effect) bool {
	switch e.(type) {
	case delay, setHeader, hang, *jitter, overwrite, raw, edit, reset, reply, throttle, truncate:
		return true
	}
	return false
}
