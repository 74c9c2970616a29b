package admissionregistration

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateMutatingWebhookConfiguration(c *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
	return append(validateWebhooks(mutatingWebhooks(c), nil, true), validateStaticName(c.Name)...)
}

func validateMutatingWebhookConfigurationUpdate(c, old *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(mutatingWebhooks(c), mutatingWebhooks(old), false)
}

func validateValidatingWebhookConfiguration(c *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
	return append(validateWebhooks(validatingWebhooks(c), nil, true), validateStaticName(c.Name)...)
}

func validateValidatingWebhookConfigurationUpdate(c, old *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(validatingWebhooks(c), validatingWebhooks(old), false)
}

// mutatingWebhooks returns the webhooks of a configuration.
func mutatingWebhooks(c *admissionv1.MutatingWebhookConfiguration) []*admissionv1.MutatingWebhook {
	webhooks := make([]*admissionv1.MutatingWebhook, len(c.Webhooks))
	for i := range c.Webhooks {
		webhooks[i] = &c.Webhooks[i]
	}
	return webhooks
}

// validatingWebhooks returns the webhooks of a configuration in the form of mutating webhooks,
// which have one more field.
func validatingWebhooks(c *admissionv1.ValidatingWebhookConfiguration) []*admissionv1.MutatingWebhook {
	webhooks := make([]*admissionv1.MutatingWebhook, len(c.Webhooks))
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		webhooks[i] = &admissionv1.MutatingWebhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
			NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects,
			TimeoutSeconds: w.TimeoutSeconds, AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
		}
	}
	return webhooks
}

// webhookRules are the rules that webhooks of old versions of Kubernetes may violate. They hold if
// the stored webhooks follow them.
type webhookRules struct {
	noSideEffects, knownReviewVersions, uniqueNames bool
	selectors                                       metav1validation.LabelSelectorValidationOptions
	// matchConditions is false if none has changed.
	matchConditions bool
}

func validateWebhooks(webhooks, old []*admissionv1.MutatingWebhook, isNew bool) (errs field.ErrorList) {
	rules := webhookRules{noSideEffects: true, knownReviewVersions: true, uniqueNames: true, matchConditions: true}
	if !isNew {
		rules = rulesOf(webhooks, old)
	}
	var root *validate.Path
	path := root.Child("webhooks")
	seen := make(map[string]bool)
	for i, w := range webhooks {
		p := path.Index(i)
		errs = append(errs, validateWebhook(w, &rules, p)...)
		errs = append(errs, validateReviewVersions(w.AdmissionReviewVersions, rules.knownReviewVersions, p.Child("admissionReviewVersions"))...)
		if rules.uniqueNames && seen[w.Name] && w.Name != "" {
			errs = append(errs, p.Child("name").Duplicate(w.Name))
		}
		seen[w.Name] = true
	}
	return errs
}

// rulesOf returns the rules for an update of old.
func rulesOf(webhooks, old []*admissionv1.MutatingWebhook) webhookRules {
	rules := webhookRules{
		noSideEffects: true, knownReviewVersions: true, uniqueNames: true,
		matchConditions: !slices.EqualFunc(webhooks, old, func(w, before *admissionv1.MutatingWebhook) bool {
			return equality.Semantic.DeepEqual(w.MatchConditions, before.MatchConditions)
		}),
	}
	seen := make(map[string]bool)
	var root *validate.Path
	for _, w := range old {
		if w.SideEffects == nil || *w.SideEffects != admissionv1.SideEffectClassNone && *w.SideEffects != admissionv1.SideEffectClassNoneOnDryRun {
			rules.noSideEffects = false
		}
		if len(w.AdmissionReviewVersions) > 0 && !slices.ContainsFunc(w.AdmissionReviewVersions, isKnownReviewVersion) {
			rules.knownReviewVersions = false
		}
		if seen[w.Name] {
			rules.uniqueNames = false
		}
		seen[w.Name] = true
		strict := metav1validation.LabelSelectorValidationOptions{}
		if len(validate.LabelSelector(w.NamespaceSelector, strict, root))+len(validate.LabelSelector(w.ObjectSelector, strict, root)) > 0 {
			rules.selectors.AllowInvalidLabelValueInSelector = true
		}
	}
	return rules
}

func validateWebhook(w *admissionv1.MutatingWebhook, rules *webhookRules, p *validate.Path) field.ErrorList {
	errs := validation.IsFullyQualifiedName(p.Child("name").Field(), w.Name)
	for i := range w.Rules {
		errs = append(errs, validateRule(&w.Rules[i], p.Child("rules").Index(i))...)
	}
	errs = append(errs, validateFailurePolicy(w.FailurePolicy, p.Child("failurePolicy"))...)
	errs = append(errs, validateMatchPolicy(w.MatchPolicy, p.Child("matchPolicy"))...)
	errs = append(errs, validateSideEffects(w.SideEffects, rules.noSideEffects, p.Child("sideEffects"))...)
	if t := w.TimeoutSeconds; t != nil && (*t < 1 || *t > 30) {
		errs = append(errs, p.Child("timeoutSeconds").Invalid(*t, "the timeout value must be between 1 and 30 seconds"))
	}
	errs = append(errs, validate.LabelSelector(w.NamespaceSelector, rules.selectors, p.Child("namespaceSelector"))...)
	errs = append(errs, validate.LabelSelector(w.ObjectSelector, rules.selectors, p.Child("objectSelector"))...)
	errs = append(errs, validateReinvocationPolicy(w.ReinvocationPolicy, p.Child("reinvocationPolicy"))...)
	errs = append(errs, validateClientConfig(&w.ClientConfig, p.Child("clientConfig"))...)
	if rules.matchConditions {
		errs = append(errs, validateMatchConditions(w.MatchConditions, false, p.Child("matchConditions"))...)
	}
	return errs
}

func validateReinvocationPolicy(policy *admissionv1.ReinvocationPolicyType, p *validate.Path) field.ErrorList {
	return validateOneOf(policy, p, admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
}

// validateSideEffects requires that a webhook states its side effects, and that it has none for dry
// runs if none is set.
func validateSideEffects(effects *admissionv1.SideEffectClass, none bool, p *validate.Path) field.ErrorList {
	valid := []admissionv1.SideEffectClass{admissionv1.SideEffectClassNone, admissionv1.SideEffectClassNoneOnDryRun}
	if !none {
		valid = append(valid, admissionv1.SideEffectClassSome, admissionv1.SideEffectClassUnknown)
	}
	if effects == nil {
		texts := make([]string, len(valid))
		for i := range valid {
			texts[i] = string(valid[i])
		}
		return field.ErrorList{p.Required("must specify one of " + strings.Join(texts, ", "))}
	}
	return validateOneOf(effects, p, valid...)
}

func validateClientConfig(c *admissionv1.WebhookClientConfig, p *validate.Path) field.ErrorList {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		return field.ErrorList{p.Required("exactly one of url or service is required")}
	case c.URL != nil:
		return webhook.ValidateWebhookURL(p.Child("url").Field(), *c.URL, true)
	}
	var port int32
	if c.Service.Port != nil {
		port = *c.Service.Port
	}
	// A real server confuses the name and the namespace, too.
	return webhook.ValidateWebhookService(p.Child("service").Field(), c.Service.Name, c.Service.Namespace, c.Service.Path, port)
}

// isKnownReviewVersion reports whether the server can send AdmissionReviews of a version.
func isKnownReviewVersion(version string) bool { return version == "v1" || version == "v1beta1" }

// validateReviewVersions requires different versions, and one that the server knows if
// requireKnown is set.
func validateReviewVersions(versions []string, requireKnown bool, p *validate.Path) (errs field.ErrorList) {
	if len(versions) == 0 {
		return field.ErrorList{p.Required("must specify one of v1, v1beta1")}
	}
	seen := make(map[string]bool)
	for i, version := range versions {
		if seen[version] {
			errs = append(errs, p.Index(i).Invalid(version, "duplicate version"))
			continue
		}
		seen[version] = true
		errs = append(errs, validate.Messages(version, validation.IsDNS1035Label(version), p.Index(i))...)
	}
	if requireKnown && !slices.ContainsFunc(versions, isKnownReviewVersion) {
		errs = append(errs, p.Invalid(versions, "must include at least one of v1, v1beta1"))
	}
	return errs
}
