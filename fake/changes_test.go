package fakeapi_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// A write after a restore is passed on even if EachChange had not noticed the restore when it was
// made.
func TestEachChangeDuringRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		snapshot := srv.Snapshot()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var saw []string
		resume, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- srv.EachChange(ctx, "", func(c fakeapi.Change) {
				saw = append(saw, c.Name)
				<-resume
			})
		}()
		synctest.Wait()
		_, err := maps.Create(ctx, configMap("before", "one"), metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, srv.Restore(snapshot, 1000))
		_, err = maps.Create(ctx, configMap("after", "one"), metav1.CreateOptions{})
		require.NoError(t, err)
		close(resume)
		synctest.Wait()
		require.Equal(t, []string{"before", "after"}, saw)
		cancel()
		require.NoError(t, <-ended)
	})
}

// EachChange passes on all writes, also those that are forgotten at once and those after a restore.
func TestEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		var saw []string
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- srv.EachChange(ctx, "", func(c fakeapi.Change) {
				line := fmt.Sprintf("%s %s/%s", c.Resource.Resource, c.Namespace, c.Name)
				if c.Previous != nil {
					line += " before"
				}
				if c.Object != nil {
					line += " after"
				}
				if c.UID == "" {
					line += " without UID"
				}
				saw = append(saw, line)
			})
		}()
		synctest.Wait()
		maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		snapshot := srv.Snapshot()
		a, err := maps.Create(ctx, configMap("a", "one"), metav1.CreateOptions{})
		require.NoError(t, err)
		a.Data["k"] = "two"
		_, err = maps.Update(ctx, a, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.NoError(t, maps.Delete(ctx, "a", metav1.DeleteOptions{}))
		synctest.Wait()
		srv.ForgetHistory()
		require.NoError(t, srv.Restore(snapshot, 1000))
		synctest.Wait()
		_, err = maps.Create(ctx, configMap("b", "one"), metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{
			"configmaps default/a after", "configmaps default/a before after", "configmaps default/a before", "configmaps default/b after",
		}, saw)
		cancel()
		require.NoError(t, <-ended)

		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		var existing []string
		require.NoError(t, srv.EachChange(canceled, "0", func(c fakeapi.Change) {
			require.Nil(t, c.Previous)
			existing = append(existing, c.Resource.Resource+" "+c.Namespace+"/"+c.Name)
		}))
		require.Contains(t, existing, "configmaps default/b")
		require.Contains(t, existing, "namespaces /default")
		require.ErrorContains(t, srv.EachChange(t.Context(), "x", nil), "is not a resourceVersion")
		require.ErrorContains(t, srv.EachChange(t.Context(), "1", nil), "each change")
	})
}
