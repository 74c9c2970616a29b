package admissionregistration

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
)

func mutatingWebhookWarnings(c *admissionv1.MutatingWebhookConfiguration) []string {
	return webhookWarnings(mutatingWebhooks(c))
}

func mutatingWebhookUpdateWarnings(c, _ *admissionv1.MutatingWebhookConfiguration) []string {
	return append(staticNameWarnings(c.Name), mutatingWebhookWarnings(c)...)
}

func validatingWebhookWarnings(c *admissionv1.ValidatingWebhookConfiguration) []string {
	return webhookWarnings(validatingWebhooks(c))
}

func validatingWebhookUpdateWarnings(c, _ *admissionv1.ValidatingWebhookConfiguration) []string {
	return append(staticNameWarnings(c.Name), validatingWebhookWarnings(c)...)
}

func staticNameUpdateWarnings(obj, _ runtime.Object) []string {
	return staticNameWarnings(resource.Accessor(obj).GetName())
}

// staticNameWarnings warns of the update of a configuration whose name a create refuses.
func staticNameWarnings(name string) (warnings []string) {
	for _, err := range validateStaticName(name) {
		warnings = append(warnings, err.Field+": "+err.Detail)
	}
	return warnings
}

// webhookWarnings warns of rules that name reviews, for which webhooks are not called.
func webhookWarnings(webhooks []*admissionv1.MutatingWebhook) (warnings []string) {
	for i, w := range webhooks {
		for j := range w.Rules {
			for _, review := range reviewsOf(&w.Rules[j]) {
				warnings = append(warnings, fmt.Sprintf("webhooks[%d].rules[%d]: %s is excluded from admission webhooks; this rule will have no effect", i, j, review))
			}
		}
	}
	return warnings
}

// reviewsOf returns the reviews that a rule without wildcards for groups and resources names, in
// its order.
func reviewsOf(r *admissionv1.RuleWithOperations) (reviews []schema.GroupResource) {
	if slices.Contains(r.APIGroups, "*") || slices.Contains(r.Resources, "*") {
		return nil
	}
	for _, group := range r.APIGroups {
		for _, name := range r.Resources {
			review := schema.GroupResource{Group: group, Resource: name}
			if isReview(review) && !slices.Contains(reviews, review) {
				reviews = append(reviews, review)
			}
		}
	}
	return reviews
}

func isReview(r schema.GroupResource) bool {
	switch r.Resource {
	case "selfsubjectreviews", "tokenreviews":
		return r.Group == "authentication.k8s.io"
	case "localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews":
		return r.Group == "authorization.k8s.io"
	}
	return false
}
