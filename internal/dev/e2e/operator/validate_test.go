package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

// Fields without a value get their defaults, and the response to the create has them.
func TestDefaults(t *testing.T) {
	b := withSites(t)
	site := b.create("plain", func(s *hostingv1.Site) { s.Spec.Autoscale = &hostingv1.Autoscale{Max: 3} })
	want := hostingv1.SiteSpec{
		Image: "example.com/web:1", Replicas: new(int32(1)), Tier: hostingv1.TierFree,
		Ports:     []hostingv1.Port{{Name: "http", Port: 80, Protocol: "TCP"}},
		Autoscale: &hostingv1.Autoscale{Min: 1, Max: 3},
	}
	require.Equal(t, want, site.Spec)
	require.EqualValues(t, 1, site.Generation)
	stored := &hostingv1.Site{}
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), stored))
	require.Equal(t, want, stored.Spec)
}

// The schema and its validation rules reject invalid sites with their own messages.
func TestInvalidSitesAreRefused(t *testing.T) {
	b := withSites(t)
	for name, tt := range map[string]struct {
		spec map[string]any
		want string
	}{
		"no image":   {map[string]any{}, `spec.image: Required value`},
		"pattern":    {map[string]any{"image": "Not An Image"}, `spec.image: Invalid value: "Not An Image": spec.image in body should match '^[a-z0-9./-]+(:[a-zA-Z0-9._-]+)?$'`},
		"wrong type": {map[string]any{"replicas": "many"}, `spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"`},
		"too many":   {map[string]any{"replicas": 51}, `spec.replicas: Invalid value: 51: spec.replicas in body should be less than or equal to 50`},
		"enum":       {map[string]any{"tier": "Gold"}, `spec.tier: Unsupported value: "Gold": supported values: "Free", "Paid"`},
		"set":        {map[string]any{"hosts": []any{"a.example.com", "a.example.com"}}, `spec.hosts[1]: Duplicate value: "a.example.com"`},
		"format":     {map[string]any{"hosts": []any{"-a"}}, `spec.hosts[0]: Invalid value: "-a": spec.hosts[0] in body must be of type hostname: "-a"`},
		"list map": {map[string]any{"ports": []any{map[string]any{"name": "http", "port": 80}, map[string]any{"name": "http", "port": 81}}},
			`spec.ports[1]: Duplicate value: {"name":"http"}`},
		"rule of a list":   {map[string]any{"ports": []any{map[string]any{"name": "web", "port": 80}}}, `spec.ports: Invalid value: there must be a port of the name http`},
		"rule of a struct": {map[string]any{"autoscale": map[string]any{"min": 3, "max": 2}}, `spec.autoscale.min: Invalid value: min must not be greater than max`},
		"rule with a reason": {map[string]any{"replicas": 5, "autoscale": map[string]any{"max": 2}},
			`spec: Forbidden: replicas must not be greater than autoscale.max`},
		"rule with a message expression": {map[string]any{"replicas": 11}, `spec: Invalid value: tier Free has 10 replicas at most`},
		"quantity":                       {map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "much"}}}, `spec.resources.limits.cpu: Invalid value: "much"`},
		"int or string":                  {map[string]any{"maxUnavailable": true}, `spec.maxUnavailable: Invalid value: "boolean": spec.maxUnavailable in body must be of type integer,string: "boolean"`},
	} {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{"image": "example.com/web:1"}
			for k, v := range tt.spec {
				spec[k] = v
			}
			if name == "no image" {
				delete(spec, "image")
			}
			u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			u.SetGroupVersionKind(hostingv1.GroupVersion.WithKind("Site"))
			u.SetNamespace(b.namespace)
			u.SetName("invalid")
			err := b.Create(t.Context(), u)
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, tt.want)
		})
	}
	long := b.site("a-name-of-more-than-forty-characters-in-all")
	require.ErrorContains(t, b.Create(t.Context(), long), "names of sites have 40 characters at most")
}

// Transition rules compare the new object with the old one.
func TestInvalidChangesAreRefused(t *testing.T) {
	b := withSites(t)
	site := b.create("files", func(s *hostingv1.Site) { s.Spec.StorageClass = new("fast") })
	for name, tt := range map[string]struct {
		patch, want string
	}{
		"immutable": {`{"spec":{"storageClass":"slow"}}`, `spec.storageClass: Invalid value: "slow": storageClass is immutable`},
		"removed":   {`{"spec":{"storageClass":null}}`, `spec: Invalid value: storageClass comes with the site`},
		"status":    {`{"spec":{"replicas":-1}}`, `spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0`},
	} {
		t.Run(name, func(t *testing.T) {
			err := b.Patch(t.Context(), site.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(tt.patch)))
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, tt.want)
		})
	}
	var now hostingv1.Site
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), &now))
	require.Equal(t, site, &now)
}

// Unknown fields are dropped with a warning, or rejected, depending on fieldValidation.
func TestUnknownFields(t *testing.T) {
	b := withSites(t)
	wrong := func(name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"image": "example.com/web:1", "imagee": "x", "settings": map[string]any{"anything": []any{"goes"}},
		}}}
		u.SetGroupVersionKind(hostingv1.GroupVersion.WithKind("Site"))
		u.SetNamespace(b.namespace)
		u.SetName(name)
		return u
	}
	relaxed := wrong("loose")
	require.NoError(t, b.Create(t.Context(), relaxed))
	spec := relaxed.Object["spec"].(map[string]any)
	require.NotContains(t, spec, "imagee")
	require.Equal(t, map[string]any{"anything": []any{"goes"}}, spec["settings"])

	strict := client.WithFieldValidation(b.Client, "Strict")
	err := strict.Create(t.Context(), wrong("strict"))
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
	require.ErrorContains(t, err, `strict decoding error: unknown field "spec.imagee"`)
}
