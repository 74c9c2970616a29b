package patch

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

func newPod(containers, env int) *corev1.Pod {
	pod := &corev1.Pod{}
	for i := range containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i)})
	}
	for i := range env {
		pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: fmt.Sprint("e", i)})
	}
	return pod
}

func withFinalizers(n int) *corev1.Pod {
	pod := &corev1.Pod{}
	for i := range n {
		pod.Finalizers = append(pod.Finalizers, fmt.Sprint("example.com/", i))
	}
	return pod
}

// newEndpoints returns an object with a list that is not merged.
func newEndpoints(n int) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{Endpoints: make([]discoveryv1.Endpoint, n)}
}

// A strategic merge patch is refused if the library would compare too many elements of lists, and
// only then.
func TestStrategicPatchIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		current, patch runtime.Object
		tooLarge       bool
	}{
		"containers":                {newPod(1000, 0), newPod(1000, 0), false},
		"many containers":           {newPod(9000, 0), newPod(9000, 0), true},
		"environment":               {newPod(1, 1000), newPod(1, 1000), false},
		"large environment":         {newPod(1, 9000), newPod(1, 9000), true},
		"of another container":      {newPod(1, 9000), &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Env: newPod(1, 9000).Spec.Containers[0].Env}}}}, false},
		"finalizers":                {withFinalizers(1000), withFinalizers(1000), false},
		"many finalizers":           {withFinalizers(9000), withFinalizers(9000), true},
		"many finalizers and a few": {withFinalizers(30000), withFinalizers(2), true},
		"new list":                  {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, withFinalizers(9000), false},
		"list that is replaced":     {newEndpoints(9000), newEndpoints(9000), false},
	} {
		body, err := json.Marshal(tt.patch)
		require.NoError(t, err)
		p, err := Parse(types.StrategicMergePatchType, body, false)
		require.NoError(t, err, name)
		_, err = p.Apply(tt.current)
		require.Equal(t, tt.tooLarge, apierrors.IsRequestEntityTooLargeError(err), "%s: %v", name, err)
	}
}
