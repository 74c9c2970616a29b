package fakeapi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// The README's first test.
func TestNamespacesAreListed(t *testing.T) {
	srv := fakeapi.Start(t)
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	informer := informers.NewSharedInformerFactory(client, 0).Core().V1().Namespaces().Informer()
	go informer.RunWithContext(t.Context())
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("the informer did not sync")
	}
	if n := len(informer.GetStore().ListKeys()); n != 4 {
		t.Fatalf("%d namespaces", n)
	}
}

// The README shows that test as it stands here, letter for letter.
func TestReadmeShowsTheFirstTest(t *testing.T) {
	own, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(own), "// The README's first test.\n")
	code, _, _ = strings.Cut(code, "\n}\n")
	require.Less(t, strings.Count(code, "\n"), 15)
	require.Contains(t, string(readme), code)
}

// The README's rule in text form: the object is stored, its creator does not
// hear of it.
func TestLostReply(t *testing.T) {
	rule, err := faults.Parse(`lost-reply: when during(committed) && verb(create) && resource(pods) && first(1) do reset`)
	require.NoError(t, err)
	srv := fakeapi.Start(t, fakeapi.WithFaults(rule))
	pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
	_, err = pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, metav1.CreateOptions{})
	require.Error(t, err)
	_, err = pods.Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, srv.Faults().Hits(), 1)
}
