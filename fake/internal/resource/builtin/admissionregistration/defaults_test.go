package admissionregistration

import (
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWebhookDefaults(t *testing.T) {
	rules := func() []admissionv1.RuleWithOperations { return make([]admissionv1.RuleWithOperations, 1) }
	wantRules := []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{Scope: new(admissionv1.AllScopes)}}}
	service := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Port: new(int32(443))}}

	mutating := &admissionv1.MutatingWebhookConfiguration{Webhooks: []admissionv1.MutatingWebhook{
		{Rules: rules(), ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{}}},
	}}
	setMutatingWebhookConfigurationDefaults(mutating)
	require.Equal(t, admissionv1.MutatingWebhook{
		FailurePolicy: new(admissionv1.Fail), MatchPolicy: new(admissionv1.Equivalent), TimeoutSeconds: new(int32(10)),
		NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ReinvocationPolicy: new(admissionv1.NeverReinvocationPolicy), ClientConfig: service, Rules: wantRules,
	}, mutating.Webhooks[0], "sideEffects and admissionReviewVersions have no default in v1")

	validating := &admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{
		{Rules: rules(), TimeoutSeconds: new(int32(3)), FailurePolicy: new(admissionv1.Ignore)},
	}}
	setValidatingWebhookConfigurationDefaults(validating)
	require.Equal(t, admissionv1.ValidatingWebhook{
		FailurePolicy: new(admissionv1.Ignore), MatchPolicy: new(admissionv1.Equivalent), TimeoutSeconds: new(int32(3)),
		NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}, Rules: wantRules,
	}, validating.Webhooks[0])
}

func TestPolicyDefaults(t *testing.T) {
	resources := func() *admissionv1.MatchResources {
		return &admissionv1.MatchResources{
			ResourceRules: make([]admissionv1.NamedRuleWithOperations, 1), ExcludeResourceRules: make([]admissionv1.NamedRuleWithOperations, 1),
		}
	}
	rule := admissionv1.NamedRuleWithOperations{
		RuleWithOperations: admissionv1.RuleWithOperations{Rule: admissionv1.Rule{Scope: new(admissionv1.AllScopes)}},
	}
	want := &admissionv1.MatchResources{
		MatchPolicy: new(admissionv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ResourceRules: []admissionv1.NamedRuleWithOperations{rule}, ExcludeResourceRules: []admissionv1.NamedRuleWithOperations{rule},
	}

	validating := &admissionv1.ValidatingAdmissionPolicy{Spec: admissionv1.ValidatingAdmissionPolicySpec{MatchConstraints: resources()}}
	setValidatingAdmissionPolicyDefaults(validating)
	require.Equal(t, admissionv1.ValidatingAdmissionPolicySpec{FailurePolicy: new(admissionv1.Fail), MatchConstraints: want}, validating.Spec)

	mutating := &admissionv1.MutatingAdmissionPolicy{Spec: admissionv1.MutatingAdmissionPolicySpec{MatchConstraints: resources()}}
	setMutatingAdmissionPolicyDefaults(mutating)
	require.Equal(t, admissionv1.MutatingAdmissionPolicySpec{FailurePolicy: new(admissionv1.Fail), MatchConstraints: want}, mutating.Spec)

	empty := &admissionv1.ValidatingAdmissionPolicyBinding{}
	setValidatingAdmissionPolicyBindingDefaults(empty)
	require.Empty(t, empty.Spec)
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{MatchResources: resources()}}
	setValidatingAdmissionPolicyBindingDefaults(binding)
	require.Equal(t, want, binding.Spec.MatchResources)
	other := &admissionv1.MutatingAdmissionPolicyBinding{Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{MatchResources: resources()}}
	setMutatingAdmissionPolicyBindingDefaults(other)
	require.Equal(t, want, other.Spec.MatchResources)
}
