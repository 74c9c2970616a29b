package fakeapi_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// TestNamespacesAreListed is the first test in the README.
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

// The rules of a project's manifests are what its client needs.
func TestReadmeRequiresRBAC(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "config/rbac"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, "controllers"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "config/rbac/role.yaml"), []byte(`
{apiVersion: v1, kind: Namespace, metadata: {name: system}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: manager, namespace: system}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: manager}, rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: system}]
`), 0o600))
	t.Chdir(filepath.Join(root, "controllers"))

	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithManifests(os.DirFS("../config/rbac")))
	config, err := srv.RESTConfigForServiceAccount("system", "manager")
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	fakeapi.RequireRBAC(t, srv, os.DirFS("../config/rbac"), "manager", fakeapi.AndNothingMore())
}

// The first test in the README is short.
func TestReadmeShowsShortTest(t *testing.T) {
	_, code, _ := strings.Cut(readFile(t, "../README.md"), "func TestNamespacesAreListed")
	code, _, found := strings.Cut(code, "\n}\n")
	require.True(t, found)
	require.Less(t, strings.Count(code, "\n"), 15)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// trimmedLines returns the lines of a text without leading and trailing space.
func trimmedLines(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// containsLines reports whether a file has the lines of code in sequence. A line "..." matches any
// lines.
func containsLines(code, file []string) bool {
	for i := range file {
		at, ok := i, true
		for k, line := range code {
			if line == "..." {
				more := slices.Index(file[at:], code[k+1])
				ok = more >= 0
				at += more
			} else {
				ok = at < len(file) && file[at] == line
				at++
			}
			if !ok {
				break
			}
		}
		if ok {
			return true
		}
	}
	return false
}

// All Go code of the README is in a test, verbatim.
func TestReadmeShowsTestedCode(t *testing.T) {
	var files [][]string
	for _, name := range []string{"readme_test.go", "../scenario/readme_test.go", "../scenario/perturb/example_test.go", "../internal/dev/e2e/operator/readme_test.go"} {
		files = append(files, trimmedLines(readFile(t, name)))
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readFile(t, "../README.md"), -1)
	require.Greater(t, len(blocks), 5)
	for _, block := range blocks {
		code := trimmedLines(block[1])
		require.True(t, slices.ContainsFunc(files, func(file []string) bool { return containsLines(code, file) }), "no test has the code\n%s", block[1])
	}
	require.False(t, containsLines([]string{"a", "c"}, []string{"a", "b", "c"}))
	require.True(t, containsLines([]string{"a", "...", "c"}, []string{"x", "a", "b", "c"}))
}

// CRDs are read from the directory that controller-gen writes to.
func TestReadmeCRDs(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "config/crd/bases"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, "controllers"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "config/crd/bases/widgets.yaml"), []byte(widgetCRD), 0o600))
	t.Chdir(filepath.Join(root, "controllers"))

	srv := fakeapi.Start(t, fakeapi.WithCRDs(fakeapi.CRDsFromPaths("../config/crd/bases")))

	_, err := widgetClient(srv).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

// The presets of the README, one line each.
func TestReadmeCacheAndReplicaCalls(t *testing.T) {
	srv := fakeapi.Start(t)
	srv.Faults().Add(faults.Expire410())           // watches that resume end with 410 Gone
	srv.Faults().Add(faults.Retry504(time.Second)) // gets and lists: 504, ResourceVersionTooLarge, Retry-After
	srv.Faults().Add(faults.DropBookmarks())       // bookmarks never arrive
	srv.Faults().Add(faults.ExpireContinue())      // every second page: 410 Expired
	require.Len(t, srv.Faults().Rules(), 4)

	w, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	require.NoError(t, err)
	defer w.Stop()
	require.Equal(t, watch.Error, (<-w.ResultChan()).Type)
}

func TestReadmeCredentials(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(fakeapi.Token{Value: "s3cret", User: "ann", ExpiresIn: 10 * time.Minute}))
	err := srv.ExpireToken("s3cret") // or now: 401 from here on, watches go on
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
}

// startMyController runs an informer for Namespaces, as controllers do.
func startMyController(t *testing.T, config *rest.Config) {
	t.Helper()
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	factory.Core().V1().Namespaces().Informer()
	factory.StartWithContext(t.Context())
	t.Cleanup(factory.Shutdown) // the context of the test has ended by then
}

func TestReadmeVirtualTime(t *testing.T) {
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		startMyController(t, srv.RESTConfig())
		time.Sleep(10 * time.Minute)
		srv.ForgetHistory()
		require.NotEmpty(t, srv.Timeline().Exchanges)
	})
	require.Less(t, time.Since(start), 5*time.Minute)
}

// With the rule of the README the object is stored, and the client receives no response.
func TestLostReply(t *testing.T) {
	rule, err := faults.Parse(`lost-reply: when during(committed) && verb(create) && resource(pods) && first(1) do reset`)
	require.NoError(t, err)
	srv := fakeapi.Start(t, fakeapi.WithFaults(rule))
	pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
	_, err = pods.Create(t.Context(), newPod("p"), metav1.CreateOptions{})
	require.Error(t, err)
	_, err = pods.Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, srv.Faults().Hits(), 1)
}
