package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// A change of metadata does not change the generation (MD-15), except for the annotations of a
// Deployment, which its controller copies to its ReplicaSets. Annotations in an update of the
// status do not count.
func TestGenerationAndAnnotations(t *testing.T) {
	srv, _ := startClient(t)
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	for _, res := range storedResources() {
		if res.Group != "apps" || !res.HasGeneration {
			continue
		}
		t.Run(res.Plural, func(t *testing.T) {
			objects := client.Resource(res.GroupVersionResource()).Namespace("default")
			_, err := objects.Create(t.Context(), newObject(t, res, "x"), metav1.CreateOptions{})
			require.NoError(t, err)
			want := int64(1)
			for _, step := range []struct {
				patch string
				part  []string
				rises bool
			}{
				{`{"metadata":{"annotations":{"a":"1"}}}`, nil, res.Plural == "deployments"},
				{`{"metadata":{"labels":{"a":"1"}}}`, nil, false},
				{`{"metadata":{"annotations":{"a":"1"},"labels":{"a":"2"}}}`, nil, false},
				{`{"metadata":{"annotations":{"a":"2"}}}`, []string{"status"}, false},
				{`{"metadata":{"annotations":{"a":null}},"spec":{"minReadySeconds":2}}`, nil, true},
			} {
				if step.rises {
					want++
				}
				got, err := objects.Patch(t.Context(), "x", types.MergePatchType, []byte(step.patch), metav1.PatchOptions{}, step.part...)
				require.NoError(t, err)
				require.Equal(t, want, got.GetGeneration(), "%s %v", step.patch, step.part)
			}
		})
	}
}
