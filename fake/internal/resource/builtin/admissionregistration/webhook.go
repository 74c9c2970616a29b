package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// webhookTimeoutSeconds and webhookPort are the defaults of webhooks.
const (
	webhookTimeoutSeconds = 10
	webhookPort           = 443
)

func setMutatingWebhookConfigurationDefaults(c *admissionv1.MutatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		setDefault(&w.FailurePolicy, admissionv1.Fail)
		setDefault(&w.MatchPolicy, admissionv1.Equivalent)
		setDefault(&w.NamespaceSelector, metav1.LabelSelector{})
		setDefault(&w.ObjectSelector, metav1.LabelSelector{})
		setDefault(&w.TimeoutSeconds, webhookTimeoutSeconds)
		setDefault(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		setClientConfigDefaults(&w.ClientConfig)
		setRuleDefaults(w.Rules)
	}
}

func setValidatingWebhookConfigurationDefaults(c *admissionv1.ValidatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		setDefault(&w.FailurePolicy, admissionv1.Fail)
		setDefault(&w.MatchPolicy, admissionv1.Equivalent)
		setDefault(&w.NamespaceSelector, metav1.LabelSelector{})
		setDefault(&w.ObjectSelector, metav1.LabelSelector{})
		setDefault(&w.TimeoutSeconds, webhookTimeoutSeconds)
		setClientConfigDefaults(&w.ClientConfig)
		setRuleDefaults(w.Rules)
	}
}

func setClientConfigDefaults(c *admissionv1.WebhookClientConfig) {
	if c.Service != nil {
		setDefault(&c.Service.Port, webhookPort)
	}
}

func setRuleDefaults(rules []admissionv1.RuleWithOperations) {
	for i := range rules {
		setDefault(&rules[i].Scope, admissionv1.AllScopes)
	}
}

// setDefault sets a pointer that is nil to a new value.
func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = new(value)
	}
}
