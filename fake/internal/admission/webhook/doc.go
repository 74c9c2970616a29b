// Package webhook has the admission plugins MutatingAdmissionWebhook and
// ValidatingAdmissionWebhook: they call the webhooks of the stored MutatingWebhookConfigurations
// and ValidatingWebhookConfigurations. See
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
//
// # What is the library's
//
// k8s.io/apiserver/pkg/admission/plugin/webhook decides which webhooks a write concerns (rules,
// selectors, matchConditions, matchPolicy), converts the objects, builds the AdmissionReview, calls
// the webhook with a client of pkg/util/webhook, verifies the response, applies the patch, and
// forms warnings, denials and failures by the failurePolicy. Nothing of that is here.
//
// # What is here
//
// The library reads configurations and namespaces with informers. Here they are read from the state
// of the store that is in force at the write. For each state of the configurations there is one
// plugin of the library, with a lister that has them and an informer that never changes. So a
// configuration is effective for the first write after the one that stored it, also after Restore
// and in a fork, and nothing runs in the background. Without configurations there is no plugin.
//
// Package webhookclient has the connections, which belong to a state of the configurations, too.
//
// The library reports its calls as spans of a trace. The tracer of this package makes a Decision of
// each. It decides from the response as the library does, by the library's functions, and so also
// keeps from the library what it would only log; see refusals.go.
package webhook
