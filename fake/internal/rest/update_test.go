package rest

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// TestValidateMetadataUpdate checks how often a cause is listed: a label is checked as that of a new
// object and as that of an updated one, a finalizer without a domain by the type alone.
func TestValidateMetadataUpdate(t *testing.T) {
	tests := map[string]struct {
		group, plural     string
		obj, old          runtime.Object
		labels, finalizer int
	}{
		"both, once":        {"", "secrets", &corev1.Secret{}, &corev1.Secret{}, 4, 2},
		"as recorded":       {"", "configmaps", &corev1.ConfigMap{}, &corev1.ConfigMap{}, 3, 1},
		"as updated":        {"", "podtemplates", &corev1.PodTemplate{}, &corev1.PodTemplate{}, 3, 1},
		"as new":            {"", "limitranges", &corev1.LimitRange{}, &corev1.LimitRange{}, 3, 1},
		"not by the type":   {"", "events", &corev1.Event{}, &corev1.Event{}, 2, 0},
		"any finalizers":    {"policy", "poddisruptionbudgets", &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudget{}, 2, 0},
		"events of a group": {"events.k8s.io", "events", &corev1.Event{}, &corev1.Event{}, 3, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			res := builtin.Table().Lookup(test.group, "v1", test.plural)
			require.NotNil(t, res)
			for _, obj := range []runtime.Object{test.obj, test.old} {
				m := obj.(metav1.Object)
				m.SetNamespace("default")
				m.SetName("a")
				m.SetResourceVersion("1")
			}
			m := test.obj.(metav1.Object)
			m.SetLabels(map[string]string{"a": "b c"})
			m.SetFinalizers([]string{"mine"})
			err := ValidateUpdate(t.Context(), res, nil, test.obj, test.old)
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			counts := map[string]int{}
			for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
				counts[cause.Field]++
			}
			require.Equal(t, test.labels, counts["metadata.labels"])
			require.Equal(t, test.finalizer, counts["metadata.finalizers[0]"])
		})
	}
}
