package table

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func admissionregistrationPrinters() []entry {
	gv := admissionv1.SchemeGroupVersion
	webhooks := []metav1.TableColumnDefinition{
		named(), number("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration"), age(),
	}
	kind := text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy")
	bindings := []metav1.TableColumnDefinition{
		named(),
		text("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
		text("ParamRef", "ParamRef indicates the param resource which sets the configuration param"),
		age(),
	}
	return []entry{
		newEntry(gv, func(c *admissionv1.MutatingWebhookConfiguration) []any {
			return []any{c.Name, len(c.Webhooks), since(c.CreationTimestamp)}
		}, webhooks...),
		newEntry(gv, func(c *admissionv1.ValidatingWebhookConfiguration) []any {
			return []any{c.Name, len(c.Webhooks), since(c.CreationTimestamp)}
		}, webhooks...),
		newEntry(gv, func(p *admissionv1.ValidatingAdmissionPolicy) []any {
			return []any{p.Name, len(p.Spec.Validations), paramKind(p.Spec.ParamKind), since(p.CreationTimestamp)}
		}, named(), number("Validations", "Validations indicates the number of validation rules defined in this configuration"), kind, age()),
		newEntry(gv, func(p *admissionv1.MutatingAdmissionPolicy) []any {
			return []any{p.Name, len(p.Spec.Mutations), paramKind(p.Spec.ParamKind), since(p.CreationTimestamp)}
		}, named(), number("Mutations", "Mutation indicates the number of mutations rules defined in this configuration"), kind, age()),
		newEntry(gv, func(b *admissionv1.ValidatingAdmissionPolicyBinding) []any {
			return []any{b.Name, b.Spec.PolicyName, paramRef(b.Spec.ParamRef), since(b.CreationTimestamp)}
		}, bindings...),
		newEntry(gv, func(b *admissionv1.MutatingAdmissionPolicyBinding) []any {
			return []any{b.Name, b.Spec.PolicyName, paramRef(b.Spec.ParamRef), since(b.CreationTimestamp)}
		}, bindings...),
	}
}

func paramKind(k *admissionv1.ParamKind) string {
	if k == nil {
		return unset
	}
	return k.APIVersion + "/" + k.Kind
}

// paramRef returns the parameters of a binding. The namespace is not shown, because the binding
// does not say whether the parameter kind is namespaced.
func paramRef(r *admissionv1.ParamRef) string {
	switch {
	case r == nil || r.Name == "" && r.Selector == nil:
		return unset
	case r.Name == "":
		return r.Selector.String()
	}
	return orDefault(r.Namespace, "*") + "/" + r.Name
}
