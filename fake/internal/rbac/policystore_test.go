package rbac_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// keyOf returns the resource and the key of a role or a binding.
func keyOf(t testing.TB, obj runtime.Object) (*resource.Resource, string) {
	t.Helper()
	plural := ""
	switch obj.(type) {
	case *rbacv1.Role:
		plural = "roles"
	case *rbacv1.ClusterRole:
		plural = "clusterroles"
	case *rbacv1.RoleBinding:
		plural = "rolebindings"
	case *rbacv1.ClusterRoleBinding:
		plural = "clusterrolebindings"
	}
	res := builtin.Table().Lookup(rbacv1.GroupName, "v1", plural)
	m, err := meta.Accessor(obj)
	require.NoError(t, err)
	return res, codec.Key(res, m.GetNamespace(), m.GetName())
}

// put stores roles and bindings.
func put(t testing.TB, store *memstore.Store, objects ...runtime.Object) {
	t.Helper()
	require.NoError(t, store.Load(func(tx *memstore.Tx) error {
		for _, obj := range objects {
			res, key := keyOf(t, obj)
			draft, err := codec.EncodeDraft(res, obj, nil)
			if err != nil {
				return err
			}
			if err := tx.Put(key, *draft); err != nil {
				return err
			}
		}
		return nil
	}))
}

// putData stores bytes under a key.
func putData(t testing.TB, store *memstore.Store, key, data string) {
	t.Helper()
	_, err := store.Update(key, func(*memstore.Record) (*memstore.Draft, error) {
		return &memstore.Draft{Data: []byte(data), RevisionOffset: -1}, nil
	})
	require.NoError(t, err)
}

// remove deletes the record of a key if it exists.
func remove(t testing.TB, store *memstore.Store, key string) {
	t.Helper()
	_, err := store.Update(key, func(*memstore.Record) (*memstore.Draft, error) { return nil, nil })
	require.NoError(t, err)
}
