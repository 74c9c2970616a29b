package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fakeapi "example.com/fakeapi/fake"
)

func TestClientWatchReportsSelectionChanges(t *testing.T) {
	srv := fakeapi.Start(t)
	c, err := client.NewWithWatch(srv.RESTConfig(), client.Options{Scheme: scheme.Scheme})
	require.NoError(t, err)
	web := map[string]string{"tier": "web"}
	require.NoError(t, c.Create(t.Context(), configMap("old", web)))
	w, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default"), client.MatchingLabels(web),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: srv.ResourceVersion()}})
	require.NoError(t, err)
	defer w.Stop()

	a := configMap("a", web)
	require.NoError(t, c.Create(t.Context(), a))
	require.Equal(t, "ADDED a", next(t, w))
	require.NoError(t, c.Create(t.Context(), configMap("unseen", nil)))

	a.Data["colour"] = "red"
	require.NoError(t, c.Update(t.Context(), a))
	require.Equal(t, "MODIFIED a", next(t, w))

	// An object that leaves the selection is a DELETED event, one that enters it an ADDED event.
	a.Labels = nil
	require.NoError(t, c.Update(t.Context(), a))
	require.Equal(t, "DELETED a", next(t, w))
	a.Labels = web
	require.NoError(t, c.Update(t.Context(), a))
	require.Equal(t, "ADDED a", next(t, w))

	require.NoError(t, c.Delete(t.Context(), a))
	require.Equal(t, "DELETED a", next(t, w))
}

// next waits for an event and returns its type and the name of its object.
func next(t *testing.T, w watch.Interface) string {
	t.Helper()
	select {
	case event, open := <-w.ResultChan():
		require.True(t, open, "the watch was closed")
		object, is := event.Object.(client.Object)
		require.True(t, is, "%s %T", event.Type, event.Object)
		return string(event.Type) + " " + object.GetName()
	case <-time.After(time.Minute):
		require.FailNow(t, "no event for a minute")
		return ""
	}
}
