package fakeapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// An update of the status does not change the spec. Depending on the type, it changes all, some or
// none of the metadata (SU-02).
func TestStatusMetadata(t *testing.T) {
	srv, _ := startClient(t, fakeapi.WithoutControllers())
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	unchangedFields := map[string]string{
		"pods":                        "ownerReferences",
		"deployments":                 "labels",
		"csinodes":                    "labels annotations finalizers ownerReferences",
		"devicetaintrules":            "labels annotations finalizers ownerReferences",
		"flowschemas":                 "labels annotations finalizers ownerReferences",
		"podcertificaterequests":      "labels annotations finalizers ownerReferences",
		"prioritylevelconfigurations": "labels annotations finalizers ownerReferences",
		"resourceclaims":              "labels annotations finalizers ownerReferences",
		"servicecidrs":                "labels annotations finalizers ownerReferences",
		"storageversionmigrations":    "labels annotations finalizers ownerReferences",
		"validatingadmissionpolicies": "labels annotations finalizers ownerReferences",
		"volumeattachments":           "labels annotations finalizers ownerReferences",
	}
	for _, res := range storedResources() {
		if res.Subresource("status") == nil || res.Group == "autoscaling" && res.Version == "v1" {
			continue
		}
		t.Run(res.Plural, func(t *testing.T) {
			var objects dynamic.ResourceInterface = client.Resource(res.GroupVersionResource())
			if res.Namespaced {
				objects = client.Resource(res.GroupVersionResource()).Namespace("default")
			}
			created, err := objects.Create(t.Context(), newObject(t, res, "s"), metav1.CreateOptions{})
			require.NoError(t, err)

			sent := created.DeepCopy()
			sent.SetLabels(map[string]string{"sent": "yes"})
			sent.SetAnnotations(map[string]string{"sent": "yes"})
			sent.SetFinalizers([]string{"example.com/sent"})
			sent.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}})
			if res.Kind == "StorageVersionMigration" { // its status requires a resource version
				sent.Object["status"] = map[string]any{"resourceVersion": "1"}
			}
			got, err := objects.UpdateStatus(t.Context(), sent, metav1.UpdateOptions{})
			require.NoError(t, err)
			require.Equal(t, created.Object["spec"], got.Object["spec"])
			require.Equal(t, created.GetGeneration(), got.GetGeneration())
			changed := map[string]bool{
				"labels": got.GetLabels()["sent"] != "", "annotations": got.GetAnnotations()["sent"] != "",
				"finalizers": len(got.GetFinalizers()) > 0, "ownerReferences": len(got.GetOwnerReferences()) > 0,
			}
			unchanged := ""
			for _, part := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
				if !changed[part] {
					unchanged += " " + part
				}
			}
			if unchangedFields[res.Plural] != "" {
				require.Equal(t, " "+unchangedFields[res.Plural], unchanged)
			} else {
				require.Empty(t, unchanged)
			}
			if len(created.GetManagedFields()) > 0 { // otherwise the server does not track the object
				requireOwnedMetadata(t, changed, got)
			}
		})
	}
}

// requireOwnedMetadata requires that the write to the status of o owns what it changed of the
// metadata, and nothing of the spec.
func requireOwnedMetadata(t *testing.T, changed map[string]bool, o *unstructured.Unstructured) {
	owned := map[string]bool{"labels": false, "annotations": false, "finalizers": false, "ownerReferences": false}
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource != "status" {
			continue
		}
		var fields map[string]map[string]any
		require.NoError(t, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields))
		require.NotContains(t, fields, "f:spec")
		for part := range owned {
			_, owned[part] = fields["f:metadata"]["f:"+part]
		}
	}
	require.Equal(t, changed, owned)
}

// A kubelet that does not send observedGeneration and qosClass does not remove them.
func TestPodStatusKeepsObservedGeneration(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	pod, err := pods.Create(ctx, newPod("p", makeBurstable), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.PodQOSBurstable, pod.Status.QOSClass)
	pod.Status.ObservedGeneration = 1
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, ObservedGeneration: 1}}
	pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	want := pod.Status
	pod.Status.QOSClass, pod.Status.ObservedGeneration = "", 0
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, want, pod.Status)
}

// Nor do old clients remove what the status tells about the claims of a pod. Empty lists do.
func TestPodStatusKeepsClaims(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	claims := []corev1.PodResourceClaim{{Name: "r", ResourceClaimTemplateName: new("t")}}
	gpus := corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
	pod, err := pods.Create(ctx, newPod("p", func(p *corev1.Pod) {
		p.Spec.ResourceClaims = claims
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: gpus, Limits: gpus}
	}), metav1.CreateOptions{})
	require.NoError(t, err)
	pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "r", ResourceClaimName: new("p-r")}}
	pod.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{
		ResourceClaimName: "p-gpu",
		RequestMappings:   []corev1.ContainerExtendedResourceRequest{{ContainerName: "c", ResourceName: "example.com/gpu", RequestName: "q"}},
	}
	pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	want := pod.Status
	require.NotEmpty(t, want.ResourceClaimStatuses)
	require.NotEmpty(t, want.ExtendedResourceClaimStatus)

	pod.Status.ResourceClaimStatuses, pod.Status.ExtendedResourceClaimStatus = nil, nil
	pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, want, pod.Status)
	for _, test := range []struct {
		body string
		want []corev1.PodResourceClaimStatus
	}{
		{`{"status":{"resourceClaimStatuses":null,"extendedResourceClaimStatus":null}}`, want.ResourceClaimStatuses},
		{`{"status":{"resourceClaimStatuses":[]}}`, nil},
	} {
		pod, err = pods.Patch(ctx, "p", types.MergePatchType, []byte(test.body), metav1.PatchOptions{}, "status")
		require.NoError(t, err)
		require.Equal(t, test.want, pod.Status.ResourceClaimStatuses, test.body)
		require.Equal(t, want.ExtendedResourceClaimStatus, pod.Status.ExtendedResourceClaimStatus, test.body)
	}
}

// Nodes can be created with a status, objects of other types cannot.
func TestStatusOnCreate(t *testing.T) {
	srv, client := startClient(t)
	node, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Len(t, node.Status.Conditions, 1)

	nodes := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	got, err := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(nodes).Get(t.Context(), "n", metav1.GetOptions{}, "status")
	require.NoError(t, err)
	require.NotEmpty(t, got.Object["status"])

	node.Status.Conditions = nil
	node, err = client.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Len(t, node.Status.Conditions, 1)
}
