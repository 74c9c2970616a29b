package builtin

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"

	"example.com/fakeapi/fake/internal/resource"
)

// clientInfo describes a resource as the typed clientset has it.
type clientInfo struct {
	namespaced, status bool
	verbs              []string
}

// readClientset returns the resources of the clientset. Each method of the clientset returns a
// group and version, each method of those returns a resource, and each method of a resource is a
// verb. The argument of Create is the type.
func readClientset(t *testing.T) map[reflect.Type]clientInfo {
	t.Helper()
	verbs := map[string]string{
		"Create": "create", "Update": "update", "Delete": "delete", "DeleteCollection": "deletecollection",
		"Get": "get", "List": "list", "Watch": "watch", "Patch": "patch",
	}
	found := make(map[reflect.Type]clientInfo)
	set := reflect.TypeFor[kubernetes.Interface]()
	for i := range set.NumMethod() {
		group := set.Method(i).Type.Out(0)
		for j := range group.NumMethod() {
			getter := group.Method(j).Type
			resource := getter.Out(0)
			create, ok := resource.MethodByName("Create")
			if _, stored := resource.MethodByName("List"); !ok || !stored {
				continue
			}
			c := clientInfo{namespaced: getter.NumIn() == 1}
			_, c.status = resource.MethodByName("UpdateStatus")
			for method, verb := range verbs {
				if _, ok := resource.MethodByName(method); ok {
					c.verbs = append(c.verbs, verb)
				}
			}
			slices.Sort(c.verbs)
			found[create.Type.In(1).Elem()] = c
		}
	}
	require.Greater(t, len(found), 80)
	return found
}

func TestResourcesMatchTypedClientset(t *testing.T) {
	// Differences between the clientset and a server.
	differences := map[string]func(*clientInfo){
		// The client was generated when a server did not support it.
		"services": func(c *clientInfo) { c.verbs = resource.AllVerbs() },
	}
	all := readClientset(t)
	for _, r := range Table().Stored() {
		if resource.IsCRDResource(r) || r.Kind == "APIService" { // the clientset of another library has it
			continue
		}
		c, ok := all[reflect.TypeOf(r.New()).Elem()]
		require.True(t, ok, "no client for %s", r.GroupVersionKind())
		if differ := differences[r.Plural]; differ != nil {
			before := c
			differ(&c)
			require.NotEqual(t, before, c, "the difference of %s does not exist any more", r.Plural)
		}
		require.Equal(t, c.verbs, r.Verbs, r.GroupVersionKind())
		require.Equal(t, c.namespaced, r.Namespaced, r.GroupVersionKind())
		require.Equal(t, c.status, r.Subresource("status") != nil, r.GroupVersionKind())
		_, hasStatus := reflect.TypeOf(r.New()).Elem().FieldByName("Status")
		require.True(t, !r.Status || hasStatus, r.GroupVersionKind())
	}
}
