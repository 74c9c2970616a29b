package versions

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.com/fakeapi/fake/internal/webhookclient"
)

// Concurrent calls of Do with one key share one call and its results. In a synctest bubble the
// waiting callers are durably blocked.
func TestDoSharesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crd := &CRD{}
		errFailed := errors.New("failed")
		var calls atomic.Int64
		release := make(chan struct{})
		results := make(chan error, 4)
		for _, key := range []string{"a", "a", "a", "b"} {
			go func() {
				_, err := crd.Do(key, func() ([]byte, error) {
					calls.Add(1)
					<-release
					return nil, errFailed
				})
				results <- err
			}()
		}
		synctest.Wait()
		require.EqualValues(t, 2, calls.Load())
		close(release)
		for range 4 {
			require.ErrorIs(t, <-results, errFailed)
		}
		data, err := crd.Do("a", func() ([]byte, error) { return []byte("x"), nil })
		require.NoError(t, err)
		require.Equal(t, "x", string(data), "a finished call is not shared")
	})
}

// The context of New, which is that of a server, retains nothing of a CRD that has been stopped.
func TestStoppedCRDIsReleased(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	object := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com",
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
		}},
	}}
	crd, err := New(ctx, object, 1, webhookclient.Network{})
	require.NoError(t, err)
	converter := weak.Make(crd.converter)
	crd.Stop()
	crd = nil
	for i := 0; i < 10 && converter.Value() != nil; i++ {
		runtime.GC()
	}
	require.Nil(t, converter.Value())
}
