package discovery

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/webhookclient"
)

// The hashes are those of a real server: all versions have that of the storage version, or none if
// it is not served.
func TestStorageVersionHashOfCustomResources(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "foos.svh.example.com"
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "svh.example.com", Scope: apiextensionsv1.ClusterScoped,
		Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "foos", Kind: "Foo"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}, {Name: "v2", Served: true}},
	}
	crd.Status.AcceptedNames = crd.Spec.Names
	for want, isServed := range map[string]bool{"bKjm0MmF0Dc=": true, "": false} {
		crd.Spec.Versions[0].Served = isServed
		d, err := versions.New(t.Context(), crd.DeepCopy(), 1, webhookclient.Network{})
		require.NoError(t, err)
		t.Cleanup(d.Close)
		served, _ := resource.ForCRD(d)
		for _, r := range served {
			require.Equal(t, want, storageVersionHash(r), r.Version)
		}
	}
}
