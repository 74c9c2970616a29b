package policy_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/admission/policy"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// fixture has the plugins for the policies of a store.
type fixture struct {
	*testing.T
	api                  *handlers.API
	mutating, validating admission.Interface

	mu        sync.Mutex
	decisions []admission.Decision
}

func newFixture(t *testing.T, objects ...runtime.Object) *fixture {
	store := memstore.New(memstore.Options{})
	types := registry.New(builtin.Table(), webhookclient.Network{})
	f := &fixture{T: t, api: handlers.New(store, types, ids.New([32]byte{}), handlers.Settings{})}
	require.NoError(t, f.api.LoadSystem())
	f.load(objects...)
	lister := admission.NewLister(store.View, types.Table)
	d := admission.Dynamic{
		Context: t.Context(), Policies: lister, Webhooks: lister, Authorizer: authz.AlwaysAllow(), Observe: f.observe,
	}
	f.mutating, f.validating = policy.NewMutating(d), policy.NewValidating(d)
	return f
}

func (f *fixture) observe(_ context.Context, d admission.Decision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decisions = append(f.decisions, d)
}

func (f *fixture) load(objects ...runtime.Object) {
	f.Helper()
	require.NoError(f, f.api.Load(objects))
}

// replace stores an object in place of one with the same name, if there is one.
func (f *fixture) replace(obj runtime.Object) {
	f.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	require.NoError(f, err)
	res, m := builtin.Table().LookupKind(kinds[0]), resource.Accessor(obj)
	if err := f.api.DeleteKey(f.Context(), authn.AdminUser(), res, codec.Key(res, m.GetNamespace(), m.GetName()), &metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		require.NoError(f, err)
	}
	f.load(obj)
}

// create runs the plugins on the create of a ConfigMap and returns it as they have changed it.
func (f *fixture) create(name string) (*corev1.ConfigMap, error) {
	attrs := f.attributes(name)
	if err := (admission.Chain{f.mutating, f.validating}).Admit(f.Context(), attrs); err != nil {
		return nil, err
	}
	return attrs.Object.(*corev1.ConfigMap), admission.Chain{f.mutating, f.validating}.Validate(f.Context(), attrs)
}

func (f *fixture) attributes(name string) *admission.Attributes {
	return &admission.Attributes{
		Operation: admissionv1.Create, Resource: lookup("", "configmaps"), Namespace: "default", Name: name,
		Options: &metav1.CreateOptions{},
		Object:  &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"a": "1"}},
	}
}

func lookup(group, plural string) *resource.Resource {
	return builtin.Table().Lookup(group, "v1", plural)
}

// validatingPolicy returns a policy for ConfigMaps with the JSON of the rest of its spec.
func validatingPolicy(name, spec string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	p := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	decode(spec, &p.Spec)
	p.Spec.MatchConstraints = configMaps()
	return p
}

// validatingBinding returns a binding of a policy with the JSON of the rest of its spec.
func validatingBinding(name, policy, spec string) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	b := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	decode(spec, &b.Spec)
	b.Spec.PolicyName = policy
	return b
}

// mutatingPolicy returns a policy for ConfigMaps with the JSON of the rest of its spec.
func mutatingPolicy(name, spec string) *admissionregistrationv1.MutatingAdmissionPolicy {
	p := &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	decode(spec, &p.Spec)
	p.Spec.MatchConstraints = configMaps()
	if p.Spec.ReinvocationPolicy == "" {
		p.Spec.ReinvocationPolicy = admissionregistrationv1.NeverReinvocationPolicy
	}
	return p
}

// mutatingBinding returns a binding of a policy with the JSON of the rest of its spec.
func mutatingBinding(name, policy, spec string) *admissionregistrationv1.MutatingAdmissionPolicyBinding {
	b := &admissionregistrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	decode(spec, &b.Spec)
	b.Spec.PolicyName = policy
	return b
}

func configMaps() *admissionregistrationv1.MatchResources {
	m := &admissionregistrationv1.MatchResources{}
	decode(`{"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}`, m)
	return m
}

func decode(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}
