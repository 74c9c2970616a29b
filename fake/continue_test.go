package fakeapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// The continue tokens of a list expire together, the lifetime after its first page. The 410 has a
// token that continues after the same object in the newest state.
func TestContinueLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithContinueLifetime(time.Minute),
			fakeapi.WithObjects(configMap("a", "0"), configMap("b", "0"), configMap("c", "0"), configMap("d", "0")))
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		page := func(token string) (names []string, next string, err error) {
			list, err := client.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: token})
			if err != nil {
				return nil, "", err
			}
			for _, cm := range list.Items {
				names = append(names, cm.Name)
			}
			return names, list.Continue, nil
		}
		_, token, err := page("")
		require.NoError(t, err)
		time.Sleep(40 * time.Second)
		names, token, err := page(token)
		require.NoError(t, err)
		require.Equal(t, []string{"b"}, names)

		time.Sleep(20 * time.Second)
		require.NoError(t, client.Delete(t.Context(), "c", metav1.DeleteOptions{}))
		_, _, err = page(token)
		require.True(t, apierrors.IsResourceExpired(err), "%v", err)
		nextToken := err.(apierrors.APIStatus).Status().Continue
		require.NotEmpty(t, nextToken)
		names, _, err = page(nextToken)
		require.NoError(t, err)
		require.Equal(t, []string{"d"}, names, "the deletion of c is seen")
	})
}
