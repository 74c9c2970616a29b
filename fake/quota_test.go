package fakeapi_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// resourceList returns a list of pairs of names and quantities.
func resourceList(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = apiresource.MustParse(pairs[i+1])
	}
	return list
}

func newQuota(name string, hard ...string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: corev1.ResourceQuotaSpec{Hard: resourceList(hard...)},
	}
}

// podWith returns a pod with one container, whose requests and limits are the pairs.
func podWith(name string, requestsAndLimits ...string) *corev1.Pod {
	list := resourceList(requestsAndLimits...)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "c", Image: "i:1", Resources: corev1.ResourceRequirements{Requests: list, Limits: list}},
	}}}
}

// A quota refuses what exceeds it. Nothing else has to run for that: what is used follows from the
// stored objects, also after a delete, a Restore and in a Fork.
func TestQuotaRefusals(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(newQuota("q", "pods", "2", "requests.cpu", "1", "limits.memory", "1Gi")))
	pods := client.CoreV1().Pods("default")
	create := func(pod *corev1.Pod) error {
		_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	}
	require.EqualError(t, create(podWith("none")),
		`pods "none" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c`)
	require.NoError(t, create(podWith("a", "cpu", "600m", "memory", "512Mi")))
	withOne := srv.Snapshot()
	require.EqualError(t, create(podWith("b", "cpu", "500m", "memory", "600Mi")), `pods "b" is forbidden: exceeded quota: q, `+
		`requested: limits.memory=600Mi,requests.cpu=500m, used: limits.memory=512Mi,requests.cpu=600m, limited: limits.memory=1Gi,requests.cpu=1`)
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	_, err := pods.Create(t.Context(), podWith("b", "cpu", "500m", "memory", "1Mi"), dry)
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.NoError(t, create(podWith("b", "cpu", "400m", "memory", "1Mi")))
	err = create(podWith("c", "cpu", "0", "memory", "0"))
	require.EqualError(t, err, `pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`)
	err = create(podWith("a", "cpu", "0", "memory", "0"))
	require.True(t, apierrors.IsForbidden(err), "the quota comes before the name: %v", err)

	now := int64(0)
	require.NoError(t, pods.Delete(t.Context(), "b", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	require.NoError(t, create(podWith("c", "cpu", "0", "memory", "0")))
	require.NoError(t, srv.Restore(withOne, 1))
	require.NoError(t, create(podWith("d", "cpu", "0", "memory", "0")))
	require.True(t, apierrors.IsForbidden(create(podWith("e", "cpu", "0", "memory", "0"))))

	_, err = client.CoreV1().Pods("kube-system").Create(t.Context(), podWith("none"), metav1.CreateOptions{})
	require.NoError(t, err, "another namespace")
}

// Devices count as the extended resource of their class, whether a pod or a claim requests them.
func TestQuotaOfDevices(t *testing.T) {
	extended := "example.com/gpu"
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &extended}}
	_, client := startClient(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(class, newQuota("q", "requests.example.com/gpu", "2")))
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}},
	}}
	claims, pods := client.ResourceV1().ResourceClaims("default"), client.CoreV1().Pods("default")
	_, err := claims.Create(t.Context(), claim, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = pods.Create(t.Context(), podWith("p", extended, "2"), metav1.CreateOptions{})
	require.EqualError(t, err, `pods "p" is forbidden: exceeded quota: q, `+
		`requested: requests.example.com/gpu=2, used: requests.example.com/gpu=1, limited: requests.example.com/gpu=2`)
	_, err = pods.Create(t.Context(), podWith("p", extended, "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	claim.Name = "d"
	_, err = claims.Create(t.Context(), claim, metav1.CreateOptions{})
	require.EqualError(t, err, `resourceclaims.resource.k8s.io "d" is forbidden: exceeded quota: q, `+
		`requested: requests.example.com/gpu=1, used: requests.example.com/gpu=2, limited: requests.example.com/gpu=2`)
}

// Of many creates at the same time, exactly as many succeed as the quota allows.
func TestQuotaUnderConcurrentCreates(t *testing.T) {
	const allowed, writers = 5, 40
	_, client := startClient(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(newQuota("q", "configmaps", fmt.Sprint(allowed), "count/secrets", fmt.Sprint(allowed))))
	var created, refused atomic.Int64
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			name := metav1.ObjectMeta{Name: fmt.Sprint("n", i)}
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: name}, metav1.CreateOptions{})
			_, secretErr := client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: name}, metav1.CreateOptions{})
			for _, err := range []error{err, secretErr} {
				switch {
				case err == nil:
					created.Add(1)
				case apierrors.IsForbidden(err):
					refused.Add(1)
				}
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 2*allowed, created.Load())
	require.EqualValues(t, 2*(writers-allowed), refused.Load())
}

// The controller writes the status.
func TestQuotaStatus(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithoutControllers())
	quotas := client.CoreV1().ResourceQuotas("default")
	status := func() corev1.ResourceQuotaStatus {
		require.NoError(t, srv.RunControllers(t.Context()))
		q, err := quotas.Get(t.Context(), "q", metav1.GetOptions{})
		require.NoError(t, err)
		return q.Status
	}
	_, err := quotas.Create(t.Context(), newQuota("q", "pods", "5", "requests.memory", "1Gi", "count/deployments.apps", "1", "example.com/x", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	got := status()
	require.Len(t, got.Hard, 4)
	require.Equal(t, "count/deployments.apps=0 pods=0 requests.memory=0", listText(got.Used))

	_, err = client.CoreV1().Pods("default").Create(t.Context(), podWith("a", "memory", "100Mi"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "count/deployments.apps=0 pods=1 requests.memory=100Mi", listText(status().Used))
	now := int64(0)
	require.NoError(t, client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	require.Equal(t, "count/deployments.apps=0 pods=0 requests.memory=0", listText(status().Used))

	q, err := quotas.Get(t.Context(), "q", metav1.GetOptions{})
	require.NoError(t, err)
	revision := q.ResourceVersion
	status()
	q, err = quotas.Get(t.Context(), "q", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, revision, q.ResourceVersion, "nothing to write")
	q.Spec.Hard = resourceList("pods", "3")
	_, err = quotas.Update(t.Context(), q, metav1.UpdateOptions{})
	require.NoError(t, err)
	got = status()
	require.Equal(t, "pods=3", listText(got.Hard))
	require.Equal(t, "pods=0", listText(got.Used))
}

// The controllers that run in the background notice the writes, too.
func TestQuotaStatusInTheBackground(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	_, err := client.CoreV1().ResourceQuotas("default").Create(t.Context(), newQuota("q", "configmaps", "9"), metav1.CreateOptions{})
	require.NoError(t, err)
	watcher, err := client.CoreV1().ResourceQuotas("default").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watcher.Stop()
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	for e := range watcher.ResultChan() {
		if listText(e.Object.(*corev1.ResourceQuota).Status.Used) == "configmaps=1" {
			return
		}
	}
	require.Fail(t, "the watch ended")
}

// listText returns a list as text, sorted by name.
func listText(list corev1.ResourceList) string {
	texts := make([]string, 0, len(list))
	for name, quantity := range list {
		texts = append(texts, string(name)+"="+quantity.String())
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}
