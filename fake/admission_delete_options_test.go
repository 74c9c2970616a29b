package fakeapi_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// Admission sees the options of a delete with the grace period that the object gets, but those of a
// deletecollection as they were sent.
func TestDeleteOptionsInReviews(t *testing.T) {
	const pods = "/api/v1/namespaces/default/pods"
	newPod := func(name, node string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
			Spec: corev1.PodSpec{
				NodeName: node, TerminationGracePeriodSeconds: new(int64(7)), Containers: []corev1.Container{{Name: "c", Image: "i"}},
			},
		}
	}
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(
			newPod("pending", ""), newPod("pending-with-period", ""), newPod("running", "n"), newPod("negative", "n"), newPod("listed", "n"), newConfigMap("a"), newConfigMap("b"),
		))
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", `"rules":[`+rule("DELETE", "", "v1", "*")+`]`)))
		for _, tt := range []struct {
			path string
			want []any // the grace period in each call, nil if there is none
		}{
			{pods + "/pending", []any{0.0, 0.0}}, // it is stored, and then removed
			{pods + "/pending-with-period?gracePeriodSeconds=9", []any{0.0, 0.0}},
			{pods + "/running?dryRun=All", []any{7.0}},
			{pods + "/running?gracePeriodSeconds=9", []any{9.0}},
			{pods + "/running?gracePeriodSeconds=5", []any{5.0}},
			{pods + "/negative?gracePeriodSeconds=-3", []any{1.0}},
			{pods + "?fieldSelector=metadata.name%3Dlisted", []any{nil}},
			{configMapsPath + "/a?gracePeriodSeconds=-3", []any{1.0}},
			{configMapsPath + "?gracePeriodSeconds=-3", []any{-3.0}},
		} {
			requireCode(t, srv, 200, "DELETE", tt.path, "")
			var got []any
			for _, c := range h.take() {
				var options map[string]any
				require.NoError(t, json.Unmarshal(c.Options.Raw, &options))
				got = append(got, options["gracePeriodSeconds"])
			}
			require.Equal(t, tt.want, got, tt.path)
		}
	})
}
