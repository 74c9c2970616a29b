package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

// applied returns an apply configuration of a site.
func (b *testEnv) applied(name string, more map[string]any) runtime.ApplyConfiguration {
	u := &unstructured.Unstructured{Object: more}
	u.SetGroupVersionKind(hostingv1.GroupVersion.WithKind("Site"))
	u.SetNamespace(b.namespace)
	u.SetName(name)
	return client.ApplyConfigurationFromUnstructured(u)
}

func port(name string, number int64) map[string]any {
	return map[string]any{"name": name, "port": number}
}

func spec(fields map[string]any) map[string]any { return map[string]any{"spec": fields} }

// Two field managers apply items of the same list with keys and of the same set.
func TestApplySharesLists(t *testing.T) {
	b := withSites(t)
	mine := map[string]any{"image": "example.com/web:1", "hosts": []any{"a.example.com"}, "ports": []any{port("http", 80)}}
	require.NoError(t, b.Apply(t.Context(), b.applied("web", spec(mine)), client.FieldOwner("me")))
	theirs := map[string]any{"hosts": []any{"b.example.com"}, "ports": []any{port("metrics", 9090)}}
	require.NoError(t, b.Apply(t.Context(), b.applied("web", spec(theirs)), client.FieldOwner("them")))

	site := b.site("web")
	look := func() { t.Helper(); require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), site)) }
	look()
	require.Equal(t, []string{"a.example.com", "b.example.com"}, site.Spec.Hosts)
	require.Equal(t, []hostingv1.Port{{Name: "http", Port: 80, Protocol: "TCP"}, {Name: "metrics", Port: 9090, Protocol: "TCP"}}, site.Spec.Ports)

	err := b.Apply(t.Context(), b.applied("web", spec(map[string]any{"ports": []any{port("http", 81)}})), client.FieldOwner("them"))
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.ErrorContains(t, err, `conflict with "me": .spec.ports[name="http"].port`)

	require.NoError(t, b.Apply(t.Context(), b.applied("web", spec(map[string]any{"ports": []any{port("metrics", 9091)}})), client.FieldOwner("them")))
	look()
	require.Equal(t, []string{"a.example.com"}, site.Spec.Hosts, "hosts that are no longer applied are removed")
	require.EqualValues(t, 9091, site.Spec.Ports[1].Port)

	version := site.ResourceVersion
	require.NoError(t, b.Apply(t.Context(), b.applied("web", spec(mine)), client.FieldOwner("me")))
	look()
	require.Equal(t, version, site.ResourceVersion, "a repeated apply does not change the object")
}

// The result of an apply is validated like any write. An invalid object is not created.
func TestApplyIsValidated(t *testing.T) {
	b := withSites(t)
	err := b.Apply(t.Context(), b.applied("web", spec(map[string]any{"image": "example.com/web:1", "replicas": int64(11)})), client.FieldOwner("me"))
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	err = b.Apply(t.Context(), b.applied("web", spec(map[string]any{"image": "example.com/web:1", "nope": "x"})), client.FieldOwner("me"))
	require.ErrorContains(t, err, `.spec.nope: field not declared in schema`)
	require.NoError(t, b.checkNotFound(t.Context(), b.site("web")))
}

// Conditions are a list with keys. Each controller applies its own conditions through the status
// subresource.
func TestApplyConditions(t *testing.T) {
	b := withSites(t)
	site := b.create("web")
	condition := func(of string) runtime.ApplyConfiguration {
		return b.applied("web", map[string]any{"status": map[string]any{"readyReplicas": int64(0), "conditions": []any{map[string]any{
			"type": of, "status": "True", "reason": "Tested", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z",
		}}}})
	}
	require.NoError(t, b.Status().Apply(t.Context(), condition("Ready"), client.FieldOwner("one")))
	require.NoError(t, b.Status().Apply(t.Context(), condition("Backed.up"), client.FieldOwner("two")))
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), site))
	require.Len(t, site.Status.Conditions, 2)
	require.EqualValues(t, 1, site.Generation)

	var managers []string
	for _, m := range site.ManagedFields {
		if m.Operation == metav1.ManagedFieldsOperationApply {
			managers = append(managers, m.Manager+" "+m.Subresource+" "+m.APIVersion)
		}
	}
	require.ElementsMatch(t, []string{"one status hosting.example.com/v1", "two status hosting.example.com/v1"}, managers)
	require.NoError(t, b.Status().Apply(t.Context(), b.applied("web", map[string]any{"status": map[string]any{"readyReplicas": int64(0)}}), client.FieldOwner("two")))
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), site))
	require.Len(t, site.Status.Conditions, 1)
}
