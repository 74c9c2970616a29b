package builtin

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

func TestResourcesAreInScheme(t *testing.T) {
	for _, r := range Table().Stored() {
		object, list := r.New(), r.NewList()
		kinds, _, err := r.Scheme.ObjectKinds(object)
		require.NoError(t, err)
		require.Contains(t, kinds, r.GroupVersionKind())
		kinds, _, err = r.Scheme.ObjectKinds(list)
		require.NoError(t, err)
		require.Contains(t, kinds, r.ListGroupVersionKind())

		require.NoError(t, meta.SetList(list, nil), r.ListKind)
		items, err := meta.GetItemsPtr(list)
		require.NoError(t, err)
		require.Equal(t, reflect.TypeOf(object).Elem(), reflect.TypeOf(items).Elem().Elem(), "items of %s", r.ListKind)
		require.NotSame(t, object, r.New())
	}
}

// The fields of features that are off are removed from the pods of all types, unless the old object
// has them.
func TestDisabledFieldsOfTemplates(t *testing.T) {
	const pod = `{"containers":[{"name":"c","lifecycle":{"stopSignal":"SIGUSR1"}}]}`
	const template = `{"template":{"spec":` + pod + `}}`
	for plural, object := range map[string]string{
		"pods": `{"spec":` + pod + `}`, "podtemplates": template, "cronjobs": `{"spec":{"jobTemplate":{"spec":` + template + `}}}`,
		"deployments": `{"spec":` + template + `}`, "replicasets": `{"spec":` + template + `}`, "daemonsets": `{"spec":` + template + `}`,
		"statefulsets": `{"spec":` + template + `}`, "replicationcontrollers": `{"spec":` + template + `}`, "jobs": `{"spec":` + template + `}`,
	} {
		t.Run(plural, func(t *testing.T) {
			stored := Table().Stored()
			res := stored[slices.IndexFunc(stored, func(r *resource.Resource) bool { return r.Plural == plural })]
			parse := func(text string) runtime.Object {
				obj := res.New()
				require.NoError(t, json.Unmarshal([]byte(text), obj))
				return obj
			}
			hasSignal := func(obj runtime.Object) bool {
				text, err := json.Marshal(obj)
				require.NoError(t, err)
				return strings.Contains(string(text), "SIGUSR1")
			}
			created, kept, added := parse(object), parse(object), parse(object)
			res.PrepareForCreate(t.Context(), created)
			require.False(t, hasSignal(created))
			res.PrepareForUpdate(t.Context(), kept, parse(object))
			require.True(t, hasSignal(kept))
			res.PrepareForUpdate(t.Context(), added, parse(strings.Replace(object, `,"lifecycle":{"stopSignal":"SIGUSR1"}`, "", 1)))
			require.False(t, hasSignal(added))
		})
	}
}

// isServedByDefault reports whether a v1.37 server serves a kind by default, according to the
// lifecycle methods of its type. Stable versions are served until they are removed, beta versions
// only if they were introduced before 1.24 (KEP-3136).
func isServedByDefault(gvk schema.GroupVersionKind) bool {
	type minor interface{ APILifecycleIntroduced() (int, int) }
	type removed interface{ APILifecycleRemoved() (int, int) }
	object, err := scheme.Scheme.New(gvk)
	if err != nil {
		return false
	}
	if r, ok := object.(removed); ok {
		if _, at := r.APILifecycleRemoved(); at <= 37 {
			return false
		}
	}
	switch {
	case strings.Contains(gvk.Version, "alpha"):
		return false
	case strings.Contains(gvk.Version, "beta"):
		i, ok := object.(minor)
		if !ok {
			return false
		}
		_, at := i.APILifecycleIntroduced()
		return at < 24
	}
	return true
}

func TestEveryServedVersionHasResource(t *testing.T) {
	// Kinds with a list kind in the scheme that are not in the table.
	excluded := map[schema.GroupVersionKind]string{
		{Version: "v1", Kind: "APIGroup"}:        "discovery document",
		{Version: "v1", Kind: "ComponentStatus"}: "computed on each read, deprecated since 1.19",
	}
	var want, got []string
	for gvk := range scheme.Scheme.AllKnownTypes() {
		list := gvk
		list.Kind += "List"
		if gvk.Version == "__internal" || !scheme.Scheme.Recognizes(list) || excluded[gvk] != "" || !isServedByDefault(gvk) {
			continue
		}
		want = append(want, gvk.String())
	}
	for _, r := range Table().Stored() {
		if !resource.IsCRDResource(r) && r.Kind != "APIService" { // they have schemes of their own
			got = append(got, r.GroupVersionKind().String())
		}
	}
	require.ElementsMatch(t, want, got)
}

// A release stores what it introduces in a version that the release before can read.
// CustomResourceDefinitions are stored in the version with the shorter encoding.
func TestHashedVersion(t *testing.T) {
	for _, r := range Table().Stored() {
		if r.Plural == "customresourcedefinitions" {
			require.Equal(t, "v1beta1", r.HashedVersion)
			continue
		}
		introduced, ok := r.New().(interface{ APILifecycleIntroduced() (int, int) })
		if !ok {
			require.Empty(t, r.HashedVersion, r.Plural)
			continue
		}
		_, minor := introduced.APILifecycleIntroduced()
		require.Equal(t, minor >= resource.EmulatedMinor, r.HashedVersion != "", r.Plural)
	}
}

func TestDiscoveryOrder(t *testing.T) {
	var groups []string
	for _, g := range Table().Groups() {
		groups = append(groups, g.Name)
		require.Equal(t, g.Versions[0], g.Preferred)
		for _, v := range g.Versions {
			require.True(t, Table().HasVersion(g.Name, v))
		}
	}
	require.Equal(t, []string{
		"", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "networking.k8s.io", "policy",
		"rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io",
		"coordination.k8s.io", "node.k8s.io", "discovery.k8s.io", "resource.k8s.io", "flowcontrol.apiserver.k8s.io",
		"storagemigration.k8s.io",
	}, groups)

	resources := Table().All()
	require.True(t, slices.IsSortedFunc(resources, func(a, b *resource.Resource) int {
		if c := slices.Index(groups, a.Group) - slices.Index(groups, b.Group); c != 0 {
			return c
		}
		if a.Version != b.Version { // autoscaling, v2 first
			return -strings.Compare(a.Version, b.Version)
		}
		return strings.Compare(a.Plural, b.Plural)
	}))
}

func TestNamesAreUnique(t *testing.T) {
	for _, g := range Table().Groups() {
		for _, v := range g.Versions {
			names := make(map[string]string)
			for _, r := range Table().All() {
				if r.Group != g.Name || r.Version != v {
					continue
				}
				for _, name := range append([]string{r.Plural}, r.ShortNames...) {
					require.Empty(t, names[name], "%s of %s", name, r.Plural)
					names[name] = r.Plural
				}
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	pods := Table().Lookup("", "v1", "pods")
	require.Equal(t, "pod", pods.Singular)
	require.Equal(t, "PodList", pods.ListKind)
	require.Equal(t, schema.GroupResource{Resource: "pods"}, pods.StorageResource)
	require.Equal(t, pods.GroupVersion(), pods.StorageVersion)
	require.Empty(t, pods.ValidateName("a.b", false))
	for _, r := range Table().All() {
		require.NotNil(t, r.ValidateName, r.Plural)
		require.NotEmpty(t, r.Verbs, r.Plural)
		require.True(t, slices.IsSorted(r.Verbs), r.Plural)
	}
	require.False(t, Table().Lookup("", "v1", "namespaces").HasVerb("deletecollection"))
	require.True(t, pods.HasVerb("deletecollection"))
}

// The body of a subresource is the object, or a kind in the scheme, or empty.
func TestSubresources(t *testing.T) {
	for _, r := range Table().All() {
		require.Equal(t, r.Status, r.Subresource("status") != nil, r.Plural)
		require.True(t, slices.IsSortedFunc(r.Subresources, func(a, b resource.Subresource) int { return strings.Compare(a.Name, b.Name) }), r.Plural)
		for _, s := range r.Subresources {
			require.True(t, slices.IsSorted(s.Verbs), s.Name)
			require.Equal(t, s.Kind != r.GroupVersionKind() && !s.IsConnect, s.BodyResource() != nil, s.Name)
			if s.BodyResource() != nil {
				kinds, _, err := scheme.Scheme.ObjectKinds(s.BodyResource().New())
				require.NoError(t, err)
				require.Contains(t, kinds, s.Kind)
				require.False(t, s.WritesObject(), s.Name)
			}
			require.True(t, !s.WritesObject() || s.HasVerb("update"), s.Name)
		}
	}
	require.Nil(t, Table().Lookup("", "v1", "configmaps").Subresource("status"))
	require.Nil(t, Table().Lookup("", "v1", "pods").Subresource(""))
}

func TestSharedStorage(t *testing.T) {
	core, events := Table().Lookup("", "v1", "events"), Table().Lookup("events.k8s.io", "v1", "events")
	require.Equal(t, core.StorageResource, events.StorageResource)
	require.Equal(t, core.GroupVersion(), events.StorageVersion)
	v1, v2 := Table().Lookup("autoscaling", "v1", "horizontalpodautoscalers"), Table().Lookup("autoscaling", "v2", "horizontalpodautoscalers")
	require.Equal(t, v2.StorageResource, v1.StorageResource)
	require.Equal(t, v2.GroupVersion(), v1.StorageVersion)

	// No other resources share their storage, and those that do have equal flags.
	byStorage := make(map[schema.GroupResource]*resource.Resource)
	for _, r := range Table().All() {
		other := byStorage[r.StorageResource]
		byStorage[r.StorageResource] = r
		if other == nil {
			continue
		}
		require.Contains(t, []string{"events", "horizontalpodautoscalers"}, r.Plural)
		require.Equal(t, other.Namespaced, r.Namespaced)
		require.Equal(t, other.HasGeneration, r.HasGeneration)
		require.Equal(t, other.Kind, r.Kind)
	}
}

func TestLookup(t *testing.T) {
	table := Table()
	require.Same(t, table, Table())
	deployments := table.Lookup("apps", "v1", "deployments")
	require.Equal(t, "Deployment", deployments.Kind)
	require.Same(t, deployments, table.LookupKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}))

	require.Nil(t, table.Lookup("apps", "v1beta1", "deployments"))
	require.Nil(t, table.Lookup("apps", "v1", "deployment"))
	require.False(t, table.Lookup("", "v1", "componentstatuses").IsStored())
	require.Nil(t, table.LookupKind(schema.GroupVersionKind{Version: "v1", Kind: "PodList"}))
	require.Nil(t, table.LookupKind(schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}))

	require.True(t, table.HasGroup("apps"))
	require.True(t, table.HasGroup(""))
	require.False(t, table.HasGroup("extensions"))
	require.True(t, table.HasVersion("autoscaling", "v1"))
	require.False(t, table.HasVersion("autoscaling", "v2beta2"))
}

// The results of the methods do not share memory with the table, which all servers of the process
// use.
func TestTableIsImmutable(t *testing.T) {
	table := resource.NewTable(core.Resources())
	table.All()[0] = nil
	table.Groups()[0].Versions[0] = "v9"
	require.NotNil(t, table.All()[0])
	require.Equal(t, []string{"v1"}, table.Groups()[0].Versions)
	require.Panics(t, func() { resource.NewTable([]resource.Resource{{Version: "v1", Plural: "ghosts", Kind: "Ghost"}}) })
}
