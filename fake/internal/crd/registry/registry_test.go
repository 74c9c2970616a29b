package registry

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// The watches of a type end when its CustomResourceDefinition is replaced by one that does not
// decode.
func TestSyncOfUndecodableDefinition(t *testing.T) {
	store := memstore.New(memstore.Options{})
	preserve := true
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensionsv1.ClusterScoped,
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve},
			},
		}},
	}}
	crd.Name = "widgets.example.com"
	crd.Status.AcceptedNames = apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"}
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
	}
	write := func() {
		res := builtin.Table().LookupKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		draft, err := codec.EncodeDraft(res, crd.DeepCopy(), nil)
		require.NoError(t, err)
		_, err = store.Update(resource.CRDKey(crd.Name), func(*memstore.Record) (*memstore.Draft, error) { return draft, nil })
		require.NoError(t, err)
	}
	types := New(builtin.Table(), webhookclient.Network{})
	t.Cleanup(types.Close)
	write()
	require.NoError(t, types.Sync(store, codec.DecodeStored))
	widgets := types.Table().Lookup("example.com", "v1", "widgets")
	require.NotNil(t, widgets)
	require.NoError(t, widgets.Custom.CRD().Done().Err())

	crd.Labels = map[string]string{"a": "b"}
	write()
	undecodable := errors.New("undecodable")
	err := types.Sync(store, func(*resource.Resource, *memstore.Record) (runtime.Object, error) { return nil, undecodable })
	require.ErrorIs(t, err, undecodable)
	require.Nil(t, types.Table().Lookup("example.com", "v1", "widgets"))
	require.Error(t, widgets.Custom.CRD().Done().Err())
}
