package fakeapi_test

import (
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// Manifests may be in any order, also namespaces after their objects.
func TestLoadManifests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithManifests(fstest.MapFS{
		"a.yml":         {Data: []byte("# only a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n")},
		"deep/b.json":   {Data: []byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"k":"v"}}]}`)},
		"notes.txt":     {Data: []byte("not a manifest")},
		"z.yaml":        {Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: x}}\n")},
		"zz/scale.yaml": {Data: []byte("apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, targetCPUUtilizationPercentage: 50}\n")},
	}))
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	ctx := t.Context()
	_, err := client.CoreV1().ConfigMaps("shop").Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	ns, err := client.CoreV1().Namespaces().Get(ctx, "shop", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "x", ns.Labels["team"])
	require.Equal(t, corev1.NamespaceActive, ns.Status.Phase)
	secret, err := client.CoreV1().Secrets("default").Get(ctx, "s", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "v", string(secret.Data["k"]))
	scaler, err := client.AutoscalingV2().HorizontalPodAutoscalers("default").Get(ctx, "h", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 50, *scaler.Spec.Metrics[0].Resource.Target.AverageUtilization)
}

// Hidden files and files of kustomize are not read. Other manifests must be regular files, because
// opening a FIFO blocks.
func TestLoadReadsRegularFilesOnly(t *testing.T) {
	namespace := &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")}
	crd := &fstest.MapFile{Data: []byte(widgetCRD)}
	skipped := fstest.MapFS{"a.yaml": namespace, "b.yaml": crd}
	for _, name := range []string{".a.yaml", "..data/a.yaml", ".git/x/b.yaml", "kustomization.yaml", "deep/kustomization.yml"} {
		skipped[name] = &fstest.MapFile{Mode: fs.ModeNamedPipe, Data: []byte("a: b: c")}
	}
	srv := fakeapi.Start(t, fakeapi.WithManifests(skipped))
	_, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, srv.LoadCRDs(fakeapi.CRDsFromFS(skipped)))

	refused := fstest.MapFS{"a.yaml": namespace, "b.yaml": crd, "deep/pipe.yaml": {Mode: fs.ModeNamedPipe}}
	require.EqualError(t, srv.LoadManifests(refused), "fakeapi: manifests: deep/pipe.yaml: not a regular file")
	require.EqualError(t, srv.LoadCRDs(fakeapi.CRDsFromFS(refused)), "fakeapi: CRDs: deep/pipe.yaml: not a regular file")
}

// Loaded objects keep their status, uid and times. A watch receives them in order.
func TestLoadKeepsMetadata(t *testing.T) {
	srv := fakeapi.Start(t)
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
	require.NoError(t, err)
	defer w.Stop()
	created := metav1.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	pod := newPod("p", func(p *corev1.Pod) {
		p.UID, p.CreationTimestamp, p.Status.Phase = "u-1", created, corev1.PodRunning
	})
	other := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"generateName": "q-", "namespace": "team"},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
	}}
	require.NoError(t, srv.Load(pod, &corev1.PodList{Items: []corev1.Pod{*newPod("r")}}, other))
	first := (<-w.ResultChan()).Object.(*corev1.Pod)
	require.Equal(t, corev1.PodRunning, first.Status.Phase)
	require.EqualValues(t, "u-1", first.UID)
	require.True(t, created.Equal(&first.CreationTimestamp), first.CreationTimestamp)
	require.Equal(t, "r", (<-w.ResultChan()).Object.(*corev1.Pod).Name)
	require.Equal(t, "team", (<-w.ResultChan()).Object.(*corev1.Pod).Namespace)
}

// The selector of a loaded Job is generated, and a selector from a dump is kept.
func TestLoadJobs(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, uid: u1}\n" +
		"spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\nstatus: {active: 1}\n"
	srv := fakeapi.Start(t, fakeapi.WithManifests(fstest.MapFS{"job.yaml": {Data: []byte(job)}}))
	loaded, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).BatchV1().Jobs("default").Get(t.Context(), "j", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"batch.kubernetes.io/controller-uid": "u1"}, loaded.Spec.Selector.MatchLabels)
	require.EqualValues(t, 1, loaded.Status.Active)

	dump := fakeapi.Start(t)
	require.NoError(t, dump.Load(loaded))
	again, err := kubernetes.NewForConfigOrDie(dump.RESTConfig()).BatchV1().Jobs("default").Get(t.Context(), "j", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, loaded.Spec, again.Spec)
}

// A loaded claim with one of the two fields for its source has both, so that it can be updated.
func TestLoadClaimsWithSources(t *testing.T) {
	srv, client := startClient(t)
	ctx, claims := t.Context(), client.CoreV1().PersistentVolumeClaims("default")
	spec := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
	bySource, byRef := spec, spec
	bySource.DataSource = &corev1.TypedLocalObjectReference{APIGroup: new("ex.io"), Kind: "Backup", Name: "b"}
	byRef.DataSourceRef = &corev1.TypedObjectReference{APIGroup: new("ex.io"), Kind: "Backup", Name: "b"}
	require.NoError(t, srv.Load(
		&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "by-source"}, Spec: bySource, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}},
		&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "by-ref"}, Spec: byRef},
	))
	for _, name := range []string{"by-source", "by-ref"} {
		claim, err := claims.Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, bySource.DataSource, claim.Spec.DataSource)
		require.Equal(t, byRef.DataSourceRef, claim.Spec.DataSourceRef)
		_, err = claims.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	claim, err := claims.Get(ctx, "by-source", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.ClaimBound, claim.Status.Phase)
}

// namedFS is a file system with a name.
type namedFS struct{ fstest.MapFS }

func (namedFS) String() string { return "the chart" }

// An error about a manifest has the name of the file system, if there is one.
func TestLoadErrorsNameTheFileSystem(t *testing.T) {
	srv := fakeapi.Start(t)
	for text, want := range map[string]string{
		"a: [": "fakeapi: manifests: the chart: m.yaml: document 1",
		"apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n": "fakeapi: manifests: the chart: m.yaml: document 1: Nothing x: ",
	} {
		require.ErrorContains(t, srv.LoadManifests(namedFS{fstest.MapFS{"m.yaml": {Data: []byte(text)}}}), want)
	}
}

// If one object is invalid, none is loaded. The error has its name or its document.
func TestLoadIsAtomic(t *testing.T) {
	srv := fakeapi.Start(t)
	before := srv.ResourceVersion()
	good := configMap("good", "1")
	require.ErrorContains(t, srv.Load(good, configMap("Not A Name", "1")), "default/Not A Name")
	require.ErrorContains(t, srv.Load(good, configMap("good", "2")), "the name is in use")
	require.ErrorContains(t, srv.Load(good, &metav1.Status{}), "Status")
	for manifest, want := range map[string]string{
		"apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n":                       "m.yaml: document 1: Nothing x: /v1, Kind=Nothing is not served",
		"---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nbogus: 1\n": `unknown field "bogus"`,
		"kind: ConfigMap\n": "m.yaml: document 1",
		"a: [":              "m.yaml: document 1",
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {x: 1}}]\n": `Pod p: `,
	} {
		err := srv.LoadManifests(fstest.MapFS{"m.yaml": {Data: []byte(manifest)}})
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, before, srv.ResourceVersion())
}
