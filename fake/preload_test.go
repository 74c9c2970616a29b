package fakeapi_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// Preload may be called at any time, also by several goroutines.
func TestPreload(t *testing.T) {
	srv := fakeapi.Start(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(fakeapi.Preload)
	}
	_, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "b"), metav1.CreateOptions{})
	require.NoError(t, err)
	wg.Wait()
	fakeapi.Preload()
}
