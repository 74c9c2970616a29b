package operator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1ac "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/fakeapi/internal/dev/e2e/internal/server"
)

// A typed informer of CRDs receives the events of a CRD that is installed, becomes established, is
// changed and is deleted.
func TestInformerOfDefinitions(t *testing.T) {
	b := newTestEnv(t, server.Start(t))
	c, err := clientset.NewForConfig(b.config)
	require.NoError(t, err)
	crds := externalversions.NewSharedInformerFactory(c, 0).Apiextensions().V1().CustomResourceDefinitions()
	events := informerEvents(t, crds.Informer())
	next := func(want string) *apiextensionsv1.CustomResourceDefinition {
		t.Helper()
		for event := range events { // of other CRDs on a shared server
			if event == want {
				break
			}
		}
		crd, _ := crds.Lister().Get(sitesCRD)
		return crd
	}
	b.runInBackground(func(ctx context.Context) error { crds.Informer().RunWithContext(ctx); return nil })
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), crds.Informer().HasSynced)) // or it lists what is established
	b.install()
	next("added " + sitesCRD)
	for crd := next("updated " + sitesCRD); !hasCondition(crd, apiextensionsv1.Established); {
		crd = next("updated " + sitesCRD)
	}
	definitions := c.ApiextensionsV1().CustomResourceDefinitions()
	crd, err := definitions.Patch(t.Context(), sitesCRD, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	generation := crd.Generation
	for len(crd.Labels) == 0 || crd.ResourceVersion == "" {
		crd = next("updated " + sitesCRD)
	}
	selected, err := definitions.List(t.Context(), metav1.ListOptions{LabelSelector: "a=b"})
	require.NoError(t, err)
	require.Len(t, selected.Items, 1)

	crd, err = definitions.Apply(t.Context(), apiextensionsv1ac.CustomResourceDefinition(sitesCRD).
		WithSpec(apiextensionsv1ac.CustomResourceDefinitionSpec().WithNames(apiextensionsv1ac.CustomResourceDefinitionNames().WithShortNames("site1"))),
		metav1.ApplyOptions{FieldManager: "me", Force: true})
	require.NoError(t, err)
	require.Equal(t, []string{"site1"}, crd.Spec.Names.ShortNames, "short names are an atomic list")
	require.Equal(t, generation+1, crd.Generation)

	require.NoError(t, envtest.UninstallCRDs(b.config, installed()))
	next("deleted " + sitesCRD)
	all, err := crds.Lister().List(labels.Everything())
	require.NoError(t, err)
	for _, crd := range all {
		require.NotEqual(t, sitesCRD, crd.Name)
	}
}
