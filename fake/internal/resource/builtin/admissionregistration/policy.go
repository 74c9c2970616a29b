package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func setMutatingAdmissionPolicyDefaults(p *admissionv1.MutatingAdmissionPolicy) {
	setDefault(&p.Spec.FailurePolicy, admissionv1.Fail)
	setMatchResourcesDefaults(p.Spec.MatchConstraints)
}

func setValidatingAdmissionPolicyDefaults(p *admissionv1.ValidatingAdmissionPolicy) {
	setDefault(&p.Spec.FailurePolicy, admissionv1.Fail)
	setMatchResourcesDefaults(p.Spec.MatchConstraints)
}

func setMutatingAdmissionPolicyBindingDefaults(b *admissionv1.MutatingAdmissionPolicyBinding) {
	setMatchResourcesDefaults(b.Spec.MatchResources)
}

func setValidatingAdmissionPolicyBindingDefaults(b *admissionv1.ValidatingAdmissionPolicyBinding) {
	setMatchResourcesDefaults(b.Spec.MatchResources)
}

// setMatchResourcesDefaults does nothing if m is nil.
func setMatchResourcesDefaults(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	setDefault(&m.MatchPolicy, admissionv1.Equivalent)
	setDefault(&m.NamespaceSelector, metav1.LabelSelector{})
	setDefault(&m.ObjectSelector, metav1.LabelSelector{})
	setNamedRuleDefaults(m.ResourceRules)
	setNamedRuleDefaults(m.ExcludeResourceRules)
}

func setNamedRuleDefaults(rules []admissionv1.NamedRuleWithOperations) {
	for i := range rules {
		setDefault(&rules[i].Scope, admissionv1.AllScopes)
	}
}
