package aggregator

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// An APIService that is created while the documents of other servers are merged does no harm.
func TestAPIServiceIsCreatedDuringMerge(t *testing.T) {
	store := memstore.New(memstore.Options{})
	a := New(store, nil, webhookclient.Network{})
	defer a.Close()
	s := &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{
		Group: "metrics.k8s.io", Version: "v1", Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "metrics"},
	}}
	s.Name = "v1.metrics.k8s.io"
	s.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue}}
	created, err := codec.EncodeDraft(builtin.Table().Lookup(apiregistrationv1.GroupName, "v1", "apiservices"), s, nil)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 10_000 {
			draft := created
			if i%2 == 1 {
				draft = nil
			}
			_, _ = store.Update(apiServicesPrefix+s.Name, func(*memstore.Record) (*memstore.Draft, error) { return draft, nil })
		}
	}()
	for {
		require.Empty(t, a.OpenAPIV2(t.Context()), "the server does not answer")
		require.Nil(t, a.FindOpenAPIV3(t.Context(), "apis/metrics.k8s.io/v1"))
		select {
		case <-done:
			return
		default:
		}
	}
}
