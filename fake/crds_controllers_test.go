package fakeapi_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// The dependents of an object are deleted if the object was deleted with its CRD.
func TestDeleteCRDDeletesDependents(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		client := dynamic.NewForConfigOrDie(p.srv.RESTConfig())
		owner := newGadget("owner")
		owner, err := client.Resource(gadgetsResource).Create(p.Context(), owner, metav1.CreateOptions{})
		require.NoError(p, err)
		_, err = p.maps.Create(p.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: "dependent",
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "end.example.com/v1", Kind: "Gadget", Name: "owner", UID: owner.GetUID(),
			}},
		}}, metav1.CreateOptions{})
		require.NoError(p, err)
		require.NoError(p, p.srv.RunControllers(p.Context()))

		require.NoError(p, client.Resource(crdsResource).Delete(p.Context(), "gadgets.end.example.com", metav1.DeleteOptions{}))
		require.NoError(p, p.srv.RunControllers(p.Context())) // it reads both deletions only now
		_, err = p.maps.Get(p.Context(), "dependent", metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
	}, fakeapi.WithObjects(newGadgetCRD()), fakeapi.WithoutControllers())
}

// Deleting a namespace deletes objects of types that are not in the preferred version of their
// group.
func TestDeleteNamespaceWithNonPreferredVersion(t *testing.T) {
	older, newer := newGadgetCRD(), newGadgetCRD()
	older.Spec.Scope = apiextensionsv1.NamespaceScoped
	older.Spec.Versions = older.Spec.Versions[:1]
	newer.Name = "widgets.end.example.com"
	newer.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"}
	newer.Spec.Versions = newer.Spec.Versions[1:]
	newer.Spec.Versions[0].Storage = true
	withControllers(t, func(p *controllersTest) {
		_, err := p.client.CoreV1().Namespaces().Create(p.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
		require.NoError(p, err)
		gadgets := dynamic.NewForConfigOrDie(p.srv.RESTConfig()).Resource(gadgetsResource)
		obj := newGadget("inside")
		_, err = gadgets.Namespace("n").Create(p.Context(), obj, metav1.CreateOptions{})
		require.NoError(p, err)

		require.NoError(p, p.client.CoreV1().Namespaces().Delete(p.Context(), "n", metav1.DeleteOptions{}))
		synctest.Wait()
		_, err = p.client.CoreV1().Namespaces().Get(p.Context(), "n", metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
		left, err := gadgets.List(p.Context(), metav1.ListOptions{})
		require.NoError(p, err)
		require.Empty(p, left.Items)
	}, fakeapi.WithObjects(older, newer))
}

// CRDs are created and deleted during writes, so that controllers read the types concurrently.
func TestConcurrentCRDsAndWrites(t *testing.T) {
	srv := fakeapi.Start(t)
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	maps := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("default")
	var group sync.WaitGroup
	for writer := range 4 {
		group.Go(func() {
			for i := range 20 {
				cm := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
				cm.SetName(fmt.Sprintf("w%d-%d", writer, i))
				if _, err := maps.Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 10 {
		if err := srv.Load(newGadgetCRD()); err != nil {
			t.Error(err)
		}
		if err := client.Resource(crdsResource).Delete(t.Context(), "gadgets.end.example.com", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
}
