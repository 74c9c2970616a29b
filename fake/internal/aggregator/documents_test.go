package aggregator

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Documents and errors are kept for a time, except for the error of a request whose client has
// gone.
func TestFetchedIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f fetched[string]
		fetches := 0
		get := func(ctx context.Context, err error) (string, error) {
			return f.get(ctx, func(ctx context.Context) (string, error) {
				fetches++
				return "document", errors.Join(err, ctx.Err())
			})
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := get(gone, nil)
		require.ErrorIs(t, err, context.Canceled)

		refused := errors.New("refused")
		for range 2 {
			_, err = get(t.Context(), refused)
			require.ErrorIs(t, err, refused)
		}
		require.Equal(t, 2, fetches)
		time.Sleep(errorLifetime)
		for range 2 {
			value, err := get(t.Context(), nil)
			require.NoError(t, err)
			require.Equal(t, "document", value)
		}
		require.Equal(t, 3, fetches)
		time.Sleep(documentLifetime)
		_, err = get(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, 4, fetches)
	})
}

// Requests for the documents of an APIService do not disturb each other while it changes.
func TestDocumentsOfChangingAPIService(t *testing.T) {
	a := &Aggregator{documents: make(map[string]*documents)}
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			for range 100 {
				s := &APIService{APIService: &apiregistrationv1.APIService{}}
				d := a.documentsOf(t.Context(), s)
				if d.service != s || !d.v3.until.IsZero() {
					t.Error("the documents are those of another state")
				}
				d.v3.until = time.Now()
				d.unlock()
			}
		})
	}
	requests.Wait()
}
