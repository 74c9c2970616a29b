package fakeapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// A request that a rule forbids gets the response of a server with RBAC to a user without roles.
func TestForbidRespondsAsRBAC(t *testing.T) {
	denied := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "1")))
	denied.Faults().AddFor(t, faults.Rule{Do: []faults.Effect{faults.Forbid()}})
	withRBAC := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithObjects(configMap("a", "1")))
	for _, request := range []string{
		"GET /api/v1/pods",
		"GET /api/v1/namespaces/default/configmaps/a",
		"GET /api/v1/configmaps?fieldSelector=metadata.name=a",
		"GET /api/v1/namespaces/default/configmaps?watch=true",
		"GET /api/v1/nodes/a/proxy/path",
		"GET /api/v1/namespaces/default/pods/a/log?follow=true",
		"POST /api/v1/namespaces/default/configmaps",
		"PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/lock",
		"PATCH /apis/apps/v1/namespaces/default/deployments/web/status",
		"DELETE /api/v1/namespaces/default/configmaps",
		"GET /apis/example.com/v1/widgets",
		"GET /secret-path",
		"POST /secret-path",
	} {
		for _, user := range []string{"ann", "system:serviceaccount:default:robot"} {
			method, path, _ := strings.Cut(request, " ")
			got, body := sendAs(t, denied, user, method, path)
			want, wantBody := sendAs(t, withRBAC, user, method, path)
			require.Equal(t, http.StatusForbidden, want.StatusCode, request)
			require.Equal(t, want.StatusCode, got.StatusCode, request)
			require.Equal(t, wantBody, body, request)
			for _, header := range []string{"Content-Type", "X-Content-Type-Options", "Cache-Control"} {
				require.Equal(t, want.Header.Get(header), got.Header.Get(header), "%s: %s", request, header)
			}
		}
	}
}

// A rule takes permissions from administrators, too, and denies nothing else.
func TestForbid(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC())
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	maps := client.CoreV1().ConfigMaps("default")
	remove, err := srv.Faults().AddText("when verb(create) && resource(configmaps) && first(2) do forbid")
	require.NoError(t, err)
	for range 2 {
		_, err = maps.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
		require.True(t, apierrors.IsForbidden(err))
		require.EqualError(t, err, `configmaps is forbidden: User "system:admin" cannot create resource "configmaps" in API group "" in the namespace "default"`)
		_, err = maps.Get(t.Context(), "a", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "nothing was stored")
	}
	_, err = maps.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Len(t, srv.Faults().Hits(), 2)
	remove()

	srv.Faults().AddFor(t, faults.Rule{When: faults.Resource("configmaps"), Do: []faults.Effect{faults.Forbid()}})
	srv.Faults().AddFor(t, faults.Rule{When: faults.And(faults.Code(403), faults.Verb("update")), Do: []faults.Effect{faults.Reply(faults.InternalError())}})
	_, err = maps.Update(t.Context(), configMap("a", "2"), metav1.UpdateOptions{})
	require.True(t, apierrors.IsInternalError(err), "the response passes the phase committed")
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: "default", Verb: "get", Resource: "configmaps",
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.True(t, review.Status.Allowed, "reviews are not affected")
}

// Credentials are checked before the permission.
func TestForbidWithoutCredentials(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(fakeapi.Token{Value: "ann-1", User: "ann"}))
	srv.Faults().AddFor(t, faults.Rule{When: faults.Resource("pods"), Do: []faults.Effect{faults.Forbid()}})
	list := func(token string) error {
		_, err := kubernetes.NewForConfigOrDie(srv.RESTConfigWithToken(token)).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		return err
	}
	require.True(t, apierrors.IsUnauthorized(list("other")))
	require.EqualError(t, list("ann-1"), `pods is forbidden: User "ann" cannot list resource "pods" in API group "" at the cluster scope`)
}

// A watch keeps the permission with which it started.
func TestForbidDoesNotEndWatches(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	running, err := maps.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer running.Stop()
	srv.Faults().AddFor(t, faults.Rule{When: faults.Verb("watch"), Do: []faults.Effect{faults.Forbid()}})
	_, err = maps.Watch(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err))
	_, err = maps.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	for event := range running.ResultChan() {
		if object := event.Object.(*corev1.ConfigMap); object.Name == "a" {
			require.Equal(t, watch.Added, event.Type)
			return
		}
	}
	require.Fail(t, "the watch has ended")
}

// An informer whose permissions are revoked and granted again misses nothing.
func TestRevokeFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "1"), configMap("b", "1")))
		cfg := srv.RESTConfig()
		cfg.UserAgent = "informer"
		factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(cfg), 0, informers.WithNamespace("default"))
		informer := factory.Core().V1().ConfigMaps().Informer()
		var errs []error
		require.NoError(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
			if err != io.EOF {
				errs = append(errs, err)
			}
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())

		srv.Faults().AddFor(t, faults.RevokeFor(5*time.Minute, faults.Resource("configmaps"), faults.UserAgent("informer"))...)
		maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		_, err := maps.Update(t.Context(), configMap("a", "2"), metav1.UpdateOptions{})
		require.NoError(t, err)
		require.NoError(t, maps.Delete(t.Context(), "b", metav1.DeleteOptions{}))
		data := func() string {
			var all []string
			for _, o := range informer.GetStore().List() {
				if o := o.(*corev1.ConfigMap); o.Name != "kube-root-ca.crt" {
					all = append(all, o.Name+"="+o.Data["k"])
				}
			}
			return strings.Join(all, " ")
		}
		time.Sleep(4 * time.Minute)
		require.ElementsMatch(t, []string{"a=1", "b=1"}, strings.Fields(data()), "the state before")
		time.Sleep(3 * time.Minute)
		require.Equal(t, "a=2", data())
		require.NotEmpty(t, errs)
		for _, err := range errs {
			require.ErrorContains(t, err, `User "system:admin" cannot `)
		}
		srv.Faults().MustHit(t)
	})
}
