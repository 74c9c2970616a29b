package fakeapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	autoscalingapply "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"

	fakeapi "example.com/fakeapi/fake"
)

// scaleClient is the part of a typed client for Scales.
type scaleClient interface {
	GetScale(context.Context, string, metav1.GetOptions) (*autoscalingv1.Scale, error)
	UpdateScale(context.Context, string, *autoscalingv1.Scale, metav1.UpdateOptions) (*autoscalingv1.Scale, error)
}

// startClient starts a server and returns it with a client.
func startClient(t *testing.T, opts ...fakeapi.Option) (*fakeapi.Server, *kubernetes.Clientset) {
	srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork())...)
	return srv, kubernetes.NewForConfigOrDie(srv.RESTConfig())
}

// managedFieldsOf returns the entry of a manager in managedFields.
func managedFieldsOf(t *testing.T, obj metav1.Object, manager string) metav1.ManagedFieldsEntry {
	t.Helper()
	for _, e := range obj.GetManagedFields() {
		if e.Manager == manager {
			return e
		}
	}
	require.Fail(t, "no entry", "of %s among %v", manager, obj.GetManagedFields())
	return metav1.ManagedFieldsEntry{}
}

// sendForStatus sends a request and returns the code and the Status.
func sendForStatus(t *testing.T, srv *fakeapi.Server, method, path, media, body string) (int, metav1.Status) {
	t.Helper()
	code, _, response := send(t, srv, method, path, media, []byte(body))
	var status metav1.Status
	require.NoError(t, json.Unmarshal(response, &status), string(response))
	return code, status
}

// Every type with a scale subresource returns and updates it (SU-08, SU-09).
func TestScaleEveryType(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	meta := metav1.ObjectMeta{Name: "web"}
	selector := &metav1.LabelSelector{
		MatchLabels:      map[string]string{"app": "web"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"b", "a"}}},
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web", "tier": "a"}}, Spec: newPod("p").Spec}
	apps, core := client.AppsV1(), client.CoreV1()
	_, err := apps.Deployments("default").Create(ctx, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = apps.ReplicaSets("default").Create(ctx, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = apps.StatefulSets("default").Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = core.ReplicationControllers("default").Create(ctx, &corev1.ReplicationController{
		ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": "web"}, Template: &template},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	for name, tc := range map[string]struct {
		scales   scaleClient
		selector string
		replicas func() (*int32, int64)
	}{
		"deployments": {apps.Deployments("default"), "app=web,tier in (a,b)", func() (*int32, int64) {
			d, err := apps.Deployments("default").Get(ctx, "web", metav1.GetOptions{})
			require.NoError(t, err)
			return d.Spec.Replicas, d.Generation
		}},
		"replicasets": {apps.ReplicaSets("default"), "app=web,tier in (a,b)", func() (*int32, int64) {
			d, err := apps.ReplicaSets("default").Get(ctx, "web", metav1.GetOptions{})
			require.NoError(t, err)
			return d.Spec.Replicas, d.Generation
		}},
		"statefulsets": {apps.StatefulSets("default"), "app=web,tier in (a,b)", func() (*int32, int64) {
			d, err := apps.StatefulSets("default").Get(ctx, "web", metav1.GetOptions{})
			require.NoError(t, err)
			return d.Spec.Replicas, d.Generation
		}},
		"replicationcontrollers": {core.ReplicationControllers("default"), "app=web", func() (*int32, int64) {
			d, err := core.ReplicationControllers("default").Get(ctx, "web", metav1.GetOptions{})
			require.NoError(t, err)
			return d.Spec.Replicas, d.Generation
		}},
	} {
		scale, err := tc.scales.GetScale(ctx, "web", metav1.GetOptions{})
		require.NoError(t, err, name)
		require.EqualValues(t, 1, scale.Spec.Replicas, name)
		require.Equal(t, tc.selector, scale.Status.Selector, name)
		require.NotEmpty(t, scale.UID, name)
		require.NotEmpty(t, scale.ResourceVersion, name)
		require.Empty(t, scale.ManagedFields, name)

		before := scale.ResourceVersion
		scale.Spec.Replicas, scale.Status.Replicas = 5, 77
		scale, err = tc.scales.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
		require.NoError(t, err, name)
		require.EqualValues(t, 5, scale.Spec.Replicas, name)
		require.Zero(t, scale.Status.Replicas, name)
		require.NotEqual(t, before, scale.ResourceVersion, name)
		replicas, generation := tc.replicas()
		require.EqualValues(t, 5, *replicas, name)
		require.EqualValues(t, 2, generation, name)
	}
}

// A Scale has the replicas of the status. An update checks resourceVersion and uid, and can be a
// dry run (SU-12).
func TestScaleErrors(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	deployments := client.AppsV1().Deployments("default")
	d, err := deployments.Create(ctx, newDeployment("web"), metav1.CreateOptions{})
	require.NoError(t, err)
	d.Status.Replicas = 4
	_, err = deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{})
	require.NoError(t, err)
	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 4, scale.Status.Replicas)

	update := func(change func(*autoscalingv1.Scale), opts metav1.UpdateOptions) error {
		s := scale.DeepCopy()
		change(s)
		_, err := deployments.UpdateScale(ctx, "web", s, opts)
		return err
	}
	err = update(func(s *autoscalingv1.Scale) { s.ResourceVersion = "1" }, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err))
	require.EqualError(t, err, `Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again`)
	err = update(func(s *autoscalingv1.Scale) { s.UID = "other" }, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err))
	require.ErrorContains(t, err, `deployments.apps "web": StorageError: invalid object, Code: 4, Key: /registry/deployments/default/web`)
	_, err = deployments.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"uid":"other"}}`), metav1.PatchOptions{}, "scale")
	require.ErrorContains(t, err, `deployments/scale.apps "web": Precondition failed: UID in precondition: other, UID in object meta: `+string(scale.UID))
	err = update(func(s *autoscalingv1.Scale) { s.Spec.Replicas = -1 }, metav1.UpdateOptions{})
	require.True(t, apierrors.IsInvalid(err))
	require.EqualError(t, err, `Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`)
	err = update(func(s *autoscalingv1.Scale) { s.Finalizers = []string{"mine"} }, metav1.UpdateOptions{})
	require.EqualError(t, err, `Scale.autoscaling "web" is invalid: metadata.finalizers[0]: Invalid value: "mine": `+
		`name is neither a standard finalizer name nor is it fully qualified`)
	require.NoError(t, update(func(s *autoscalingv1.Scale) { s.Spec.Replicas = 9 }, metav1.UpdateOptions{DryRun: []string{"All"}}))
	now, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, scale, now, "the failed updates and the dry run changed nothing")

	// An update without a resourceVersion overwrites. The same update again changes nothing.
	require.NoError(t, update(func(s *autoscalingv1.Scale) { s.ResourceVersion = ""; s.Spec.Replicas = 2 }, metav1.UpdateOptions{}))
	now, err = deployments.GetScale(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	again, err := deployments.UpdateScale(ctx, "web", now.DeepCopy(), metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, now.ResourceVersion, again.ResourceVersion)
}

// Errors about a missing object name its resource, not the subresource, as those of the store do.
func TestScaleOfMissingObject(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"none"},"spec":{"replicas":1}}`
	for path, resource := range map[string]string{
		"/apis/apps/v1/namespaces/default/deployments":      "deployments.apps",
		"/apis/apps/v1/namespaces/default/replicasets":      "replicasets.apps",
		"/apis/apps/v1/namespaces/default/statefulsets":     "statefulsets.apps",
		"/api/v1/namespaces/default/replicationcontrollers": "replicationcontrollers",
	} {
		for _, c := range []struct{ method, query string }{
			{"GET", ""}, {"PUT", ""}, {"PUT", "?dryRun=All"}, {"PATCH", ""}, {"PATCH", "?fieldManager=m"},
		} {
			got := requireStatus(t, srv, 404, c.method, path+"/none/scale"+c.query, scale)
			require.Equal(t, resource+` "none" not found`, got.Message, "%s %s", c.method, c.query)
		}
	}
}

// Patches of all types change a Scale. Their manager owns spec.replicas of the object (PA-22,
// SA-22, SU-16).
func TestScalePatches(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	deployments := client.AppsV1().Deployments("default")
	d := newDeployment("web")
	d.Spec.Replicas = new(int32)
	_, err := deployments.Create(ctx, d, metav1.CreateOptions{FieldManager: "creator"})
	require.NoError(t, err)

	for kind, patch := range map[types.PatchType]string{
		types.MergePatchType:          `{"spec":{"replicas":3}}`,
		types.StrategicMergePatchType: `{"spec":{"replicas":4}}`,
		types.JSONPatchType:           `[{"op":"replace","path":"/spec/replicas","value":5}]`,
	} {
		var got autoscalingv1.Scale
		err := client.AppsV1().RESTClient().Patch(kind).Namespace("default").Resource("deployments").Name("web").SubResource("scale").
			Param("fieldManager", "patcher").Body([]byte(patch)).Do(ctx).Into(&got)
		require.NoError(t, err, kind)
		require.Contains(t, patch, strconv.Itoa(int(got.Spec.Replicas)), kind)
	}
	require.Equal(t, map[string]string{
		"patcher Update scale apps/v1": `{"f:spec":{"f:replicas":{}}}`,
	}, scaleManagers(t, client))

	_, err = deployments.ApplyScale(ctx, "web", autoscalingapply.Scale().WithName("web").WithSpec(autoscalingapply.ScaleSpec().WithReplicas(7)),
		metav1.ApplyOptions{FieldManager: "applier"})
	require.True(t, apierrors.IsConflict(err), err)
	require.ErrorContains(t, err, `conflict with "patcher" with subresource "scale" using autoscaling/v1`)
	scale, err := deployments.ApplyScale(ctx, "web", autoscalingapply.Scale().WithName("web").WithSpec(autoscalingapply.ScaleSpec().WithReplicas(7)),
		metav1.ApplyOptions{FieldManager: "applier", Force: true})
	require.NoError(t, err)
	require.EqualValues(t, 7, scale.Spec.Replicas)
	require.Equal(t, map[string]string{
		"applier Apply scale apps/v1": `{"f:spec":{"f:replicas":{}}}`,
	}, scaleManagers(t, client))
}

// A write of a Scale that changes the object has the warnings of the object.
func TestScaleWarnings(t *testing.T) {
	srv, client := startClient(t)
	d := newDeployment("web")
	d.Spec.Template.Spec.NodeSelector = map[string]string{"beta.kubernetes.io/os": "linux"}
	_, err := client.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{})
	require.NoError(t, err)
	path := "/apis/apps/v1/namespaces/default/deployments/web/scale"
	warnings := []string{`299 - "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; ` +
		`use \"kubernetes.io/os\" instead"`}
	for _, want := range [][]string{warnings, nil} { // the second patch changes nothing
		code, header, body := send(t, srv, http.MethodPatch, path, mergeJSON, []byte(`{"spec":{"replicas":3}}`))
		require.Equal(t, http.StatusOK, code, string(body))
		require.Equal(t, want, header.Values("Warning"))
	}
}

// scaleManagers returns the entries of the Deployment "web" that own its replicas.
func scaleManagers(t *testing.T, client kubernetes.Interface) map[string]string {
	d, err := client.AppsV1().Deployments("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	owners := map[string]string{}
	for _, e := range d.ManagedFields {
		if e.Subresource != "" {
			owners[e.Manager+" "+string(e.Operation)+" "+e.Subresource+" "+e.APIVersion] = e.FieldsV1.GetRawString()
		} else {
			require.NotContains(t, e.FieldsV1.GetRawString(), "f:replicas")
		}
	}
	return owners
}

// Bodies of another kind are rejected (SU-10). A Scale cannot be created or deleted.
func TestScaleBodies(t *testing.T) {
	srv, client := startClient(t)
	_, err := client.AppsV1().Deployments("default").Create(t.Context(), newDeployment("web"), metav1.CreateOptions{})
	require.NoError(t, err)
	const path = "/apis/apps/v1/namespaces/default/deployments/web/scale"
	for _, tc := range []struct {
		method, media, body string
		code                int
		message             string
	}{
		{"PUT", "application/json", `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web"}}`, 400,
			`Deployment in version "v1" cannot be handled as a Scale: converting (v1.Deployment) to (v1.Scale): unknown conversion`},
		{"PUT", "application/json", `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"other"}}`, 400,
			`the name of the object (other) does not match the name on the URL (web)`},
		{"PATCH", "application/merge-patch+json", `{"spec":{"replicas":"many"}}`, 422, ``},
		{"PATCH", "application/apply-patch+yaml", `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web"},"spec":{"nodes":3}}`, 500,
			`failed to create typed patch object (/web; autoscaling/v1, Kind=Scale): .spec.nodes: field not declared in schema`},
		{"POST", "application/json", `{}`, 405, `the server does not allow this method on the requested resource`},
		{"DELETE", "application/json", ``, 405, `the server does not allow this method on the requested resource`},
	} {
		query := ""
		if tc.media == "application/apply-patch+yaml" {
			query = "?fieldManager=m"
		}
		code, status := sendForStatus(t, srv, tc.method, path+query, tc.media, tc.body)
		require.Equal(t, tc.code, code, "%s %s: %s", tc.method, tc.body, status.Message)
		if tc.message != "" {
			require.Equal(t, tc.message, status.Message)
		}
	}
	code, _ := sendForStatus(t, srv, "GET", "/api/v1/namespaces/default/pods/web/scale", "", "")
	require.Equal(t, http.StatusNotFound, code)
}

// The scale client finds the Scale of a type by discovery (SU-15).
func TestScaleClient(t *testing.T) {
	srv, client := startClient(t)
	_, err := client.AppsV1().StatefulSets("default").Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec:       appsv1.StatefulSetSpec{Selector: newDeployment("db").Spec.Selector, Template: newDeployment("db").Spec.Template},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	groups, err := restmapper.GetAPIGroupResources(client.Discovery())
	require.NoError(t, err)
	scales, err := scale.NewForConfig(srv.RESTConfig(), restmapper.NewDiscoveryRESTMapper(groups),
		dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	require.NoError(t, err)
	sets := schema.GroupResource{Group: "apps", Resource: "statefulsets"}
	s, err := scales.Scales("default").Get(t.Context(), sets, "db", metav1.GetOptions{})
	require.NoError(t, err)
	s.Spec.Replicas = 3
	s, err = scales.Scales("default").Update(t.Context(), sets, s, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3, s.Spec.Replicas)
}

// If the schema of a custom resource drops the replicas, a write of its Scale succeeds, with 0
// replicas in the response, and a read fails, as on a real server.
func TestScaleOfCustomResourceWithoutReplicas(t *testing.T) {
	const crd = `{"metadata":{"name":"pumps.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Cluster","names":{"plural":"pumps","kind":"Pump"},"versions":[{
		"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}},
		"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}}]}}`
	const path = "/apis/shop.example.com/v1/pumps/a/scale"
	srv, h := startReviewed(t, fakeapi.WithoutControllers())
	requireCode(t, srv, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
	requireCode(t, srv, 201, "POST", "/apis/shop.example.com/v1/pumps", `{"apiVersion":"shop.example.com/v1","kind":"Pump","metadata":{"name":"a"}}`)
	h.take()
	for method, body := range map[string]string{"PUT": `{"metadata":{"name":"a"},"spec":{"replicas":3}}`, "PATCH": `{"spec":{"replicas":3}}`} {
		require.Empty(t, requireCode(t, srv, 200, method, path, body).Object["spec"], method)
		reviews := h.take()
		require.Contains(t, string(reviews[0].OldObject.Raw), `"replicas":-2147483648`, "mutating: there are no replicas")
		require.Contains(t, string(reviews[1].Object.Raw), `"spec":{"replicas":3}`)
		require.Contains(t, string(reviews[1].OldObject.Raw), `"spec":{}`)
	}
	s := requireStatus(t, srv, 500, "GET", path, "")
	require.Equal(t, `Internal error occurred: the spec replicas field ".spec.replicas" does not exist`, s.Message)
	requireStatus(t, srv, 400, "PATCH", path, `{"metadata":{"labels":{"a":"b"}}}`)
}
