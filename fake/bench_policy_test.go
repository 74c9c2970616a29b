package fakeapi_test

import (
	"fmt"
	"net/http"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkAdmissionPolicies measures creates of a ConfigMap with policies that select it, and with
// policies for another resource.
func BenchmarkAdmissionPolicies(b *testing.B) {
	for _, c := range []struct {
		name             string
		matching, others int
		mutating         bool
	}{
		{name: "none"},
		{name: "validating/matching=1", matching: 1},
		{name: "validating/matching=10", matching: 10},
		{name: "validating/others=100", others: 100},
		{name: "mutating/matching=1", matching: 1, mutating: true},
		{name: "mutating/matching=10", matching: 10, mutating: true},
		{name: "mutating/others=100", others: 100, mutating: true},
	} {
		b.Run(c.name, func(b *testing.B) {
			var objects []runtime.Object
			for i := range c.matching + c.others {
				resource := "configmaps"
				if i >= c.matching {
					resource = "secrets"
				}
				if name := fmt.Sprint("p", i); c.mutating {
					objects = append(objects, mutatingPolicy(name, resource, fmt.Sprintf(`Object{metadata: Object.metadata{labels: {%q: "set"}}}`, name)), mutatingBinding(name))
				} else {
					objects = append(objects, validatingPolicy(name, resource, "object.metadata.name == 'new'"), validatingBinding(name))
				}
			}
			srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithObjects(objects...))
			body := []byte(`{"metadata":{"name":"new"},"data":{"a":"b"}}`)
			create := func() {
				serveRequest(b, srv, http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All", mediaJSON, mediaJSON, body)
			}
			create() // compiles the policies
			b.ReportAllocs()
			for b.Loop() {
				create()
			}
		})
	}
}

// selecting returns match constraints that select the creates and updates of a resource.
func selecting(resource string) *admissionregistrationv1.MatchResources {
	return &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
		RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{resource}},
		},
	}}}
}

// validatingPolicy returns a policy for a resource with validations.
func validatingPolicy(name, resource string, expressions ...string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	p := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicySpec{MatchConstraints: selecting(resource)},
	}
	for _, expression := range expressions {
		p.Spec.Validations = append(p.Spec.Validations, admissionregistrationv1.Validation{Expression: expression})
	}
	return p
}

// validatingBinding returns a binding of a policy with the same name, which denies.
func validatingBinding(name string) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}

// mutatingPolicy returns a policy for a resource with apply configurations.
func mutatingPolicy(name, resource string, expressions ...string) *admissionregistrationv1.MutatingAdmissionPolicy {
	p := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: selecting(resource), ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
		},
	}
	for _, expression := range expressions {
		p.Spec.Mutations = append(p.Spec.Mutations, admissionregistrationv1.Mutation{
			PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
			ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: expression},
		})
	}
	return p
}

// mutatingBinding returns a binding of a policy with the same name.
func mutatingBinding(name string) *admissionregistrationv1.MutatingAdmissionPolicyBinding {
	return &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	}
}
