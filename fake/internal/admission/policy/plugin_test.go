package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/admission"
)

func TestHandles(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		group, plural        string
		operation            admissionv1.Operation
		mutating, validating bool
	}{
		{"", "configmaps", admissionv1.Create, true, true},
		{"", "configmaps", admissionv1.Delete, false, true},
		{"", "pods", admissionv1.Connect, true, true},
		{"admissionregistration.k8s.io", "validatingwebhookconfigurations", admissionv1.Update, true, true},
		{"admissionregistration.k8s.io", "validatingadmissionpolicies", admissionv1.Update, false, false},
		{"admissionregistration.k8s.io", "validatingadmissionpolicybindings", admissionv1.Update, false, false},
		{"admissionregistration.k8s.io", "mutatingadmissionpolicies", admissionv1.Update, false, false},
		{"admissionregistration.k8s.io", "mutatingadmissionpolicybindings", admissionv1.Update, false, false},
		{"authorization.k8s.io", "subjectaccessreviews", admissionv1.Create, false, false},
		{"authentication.k8s.io", "tokenreviews", admissionv1.Create, false, false},
	} {
		attrs := &admission.Attributes{Operation: c.operation, Resource: lookup(c.group, c.plural)}
		require.Equal(t, c.mutating, f.mutating.Handles(attrs), "%+v", c)
		require.Equal(t, c.validating, f.validating.Handles(attrs), "%+v", c)
	}
}

// Without policies the plugins do not allocate.
func TestNoPolicies(t *testing.T) {
	f := newFixture(t, validatingBinding("alone", "missing", `{"validationActions":["Deny"]}`), validatingPolicy("unbound", `{"validations":[{"expression":"false"}]}`))
	_, err := f.create("a")
	require.NoError(t, err)
	f = newFixture(t)
	attrs, ctx := f.attributes("a"), t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if f.mutating.(admission.MutationInterface).Admit(ctx, attrs) != nil || f.validating.(admission.ValidationInterface).Validate(ctx, attrs) != nil {
			t.Error("refused")
		}
	}))
}

// A change of a policy, a binding or a parameter is in force for the next write.
func TestChanges(t *testing.T) {
	f := newFixture(t)
	allowed := func(want bool) {
		t.Helper()
		_, err := f.create("x")
		require.Equal(t, want, err == nil, "%v", err)
	}
	binding := validatingBinding("b", "p", `{"validationActions":["Deny"]}`)
	f.replace(binding)
	allowed(true)
	f.replace(validatingPolicy("p", `{"validations":[{"expression":"false"}]}`))
	allowed(false)
	f.replace(validatingPolicy("p", `{"validations":[{"expression":"object.metadata.name == 'x'"}]}`))
	allowed(true)
	f.replace(validatingPolicy("p", `{"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"params.data.allow == object.metadata.name"}]}`))
	allowed(false) // no params
	f.replace(validatingBinding("b", "p", `{"validationActions":["Deny"],"paramRef":{"name":"params","parameterNotFoundAction":"Allow"}}`))
	allowed(true) // params are not there
	params := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "params", Namespace: "default"}, Data: map[string]string{"allow": "y"}}
	f.replace(params.DeepCopy())
	allowed(false)
	params.Data["allow"] = "x"
	f.replace(params)
	allowed(true)
	f.replace(validatingPolicy("p", `{"paramKind":{"apiVersion":"v1","kind":"configmap"},"validations":[{"expression":"params.data.allow == 'x'"}]}`))
	allowed(true)
	f.replace(validatingPolicy("p", `{"paramKind":{"apiVersion":"v1","kind":"configMap"},"validations":[{"expression":"params.data.allow == 'x'"}]}`))
	allowed(false)
}

// Parameters of built-in types are as informers have them. The library adds their kind for
// validating policies only.
func TestKindOfParams(t *testing.T) {
	const paramKind = `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}`
	const ref = `"paramRef":{"name":"params","parameterNotFoundAction":"Deny"}`
	f := newFixture(t,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "params", Namespace: "default"}},
		validatingPolicy("v", `{`+paramKind+`,"validations":[{"expression":"params.kind == 'ConfigMap' && params.apiVersion == 'v1'"}]}`),
		validatingBinding("v", "v", `{"validationActions":["Deny"],`+ref+`}`),
		mutatingPolicy("m", `{`+paramKind+`,"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {'kind': has(params.kind) ? 'yes' : 'no'}}"}}]}`),
		mutatingBinding("m", "m", `{`+ref+`}`),
	)
	cm, err := f.create("x")
	require.NoError(t, err)
	require.Equal(t, "no", cm.Data["kind"])
}

// Parameters of a type without namespaces are found without one. A binding may not name one.
func TestClusterScopedParams(t *testing.T) {
	const paramKind = `"paramKind":{"apiVersion":"v1","kind":"Namespace"}`
	f := newFixture(t,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "params", Labels: map[string]string{"allow": "x"}}},
		validatingPolicy("p", `{`+paramKind+`,"validations":[{"expression":"params.metadata.labels.allow == object.metadata.name"}]}`),
	)
	bind := func(ref string) {
		f.replace(validatingBinding("b", "p", `{"validationActions":["Deny"],"paramRef":{"parameterNotFoundAction":"Deny",`+ref+`}}`))
	}
	for _, ref := range []string{`"name":"params"`, `"selector":{"matchLabels":{"allow":"x"}}`} {
		bind(ref)
		_, err := f.create("x")
		require.NoError(t, err, ref)
		_, err = f.create("y")
		require.ErrorContains(t, err, "failed expression: params.metadata.labels.allow == object.metadata.name", ref)
	}
	bind(`"name":"params","namespace":"default"`)
	_, err := f.create("x")
	require.ErrorContains(t, err, "paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
}

// Policies are evaluated by name, each with its bindings by name.
func TestOrder(t *testing.T) {
	add := func(text string) string {
		return `{"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {'order': object.data[?'order'].orValue('') + '` + text + `'}}"}}]}`
	}
	f := newFixture(t,
		mutatingPolicy("z", add("z")), mutatingPolicy("a", add("a")), mutatingPolicy("k", add("k")),
		mutatingBinding("1", "z", `{}`), mutatingBinding("2", "k", `{}`), mutatingBinding("3", "a", `{}`), mutatingBinding("4", "k", `{}`),
	)
	cm, err := f.create("x")
	require.NoError(t, err)
	require.Equal(t, "akkz", cm.Data["order"])
	var order []string
	for _, d := range f.decisions {
		order = append(order, d.Name+d.Configuration)
	}
	require.Equal(t, []string{"a3", "k2", "k4", "z1"}, order)
}
