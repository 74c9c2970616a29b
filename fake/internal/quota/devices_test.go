package quota

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deviceClasses returns the class gpu with an extended resource, and the class tpu without one.
func deviceClasses() []runtime.Object {
	extended := "example.com/gpu"
	return []runtime.Object{
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &extended}},
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "tpu"}},
	}
}

// deviceClaim returns a claim of count devices of a class.
func deviceClaim(name, class string, count int64) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, Count: count}}}},
	}}
}

// extendedClaim is deviceClaim for the extended resources of the pod p.
func extendedClaim(name, class string, count int64) *resourcev1.ResourceClaim {
	claim, controls := deviceClaim(name, class, count), true
	claim.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
	claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "uid", Controller: &controls}}
	return claim
}

// devicePod returns the pod p with requests, and with the name of its claim in its status unless it
// is "".
func devicePod(claim string, requests ...string) *corev1.Pod {
	return pod(func(p *corev1.Pod) {
		p.Name, p.Namespace, p.UID = "p", "ns", "uid"
		if claim != "" {
			p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: claim}
		}
	}, requests...)
}

// The devices of claims count as extended resources, but for those that the pod requests that a
// claim is for.
func TestUsageOfDevices(t *testing.T) {
	const implicit, count = "requests.deviceclass.resource.kubernetes.io/gpu", "count/resourceclaims.resource.k8s.io=1"
	late := extendedClaim("a", "gpu", 2)
	late.CreationTimestamp = metav1.Time{Time: now.Add(time.Second)}
	otherPod := extendedClaim("a", "gpu", 2)
	otherPod.OwnerReferences[0].UID = "other"
	otherName := extendedClaim("a", "gpu", 2)
	otherName.OwnerReferences[0].Name = "other"
	otherKind, uncontrolled := extendedClaim("a", "gpu", 2), extendedClaim("a", "gpu", 2)
	otherKind.OwnerReferences[0].Kind, uncontrolled.OwnerReferences = "Job", nil
	otherVersion := extendedClaim("a", "gpu", 2)
	otherVersion.OwnerReferences[0].APIVersion = "example.com/v1"
	const bothCount = count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2,requests.example.com/gpu=2"
	unmarked := extendedClaim("a", "gpu", 2)
	unmarked.Annotations = nil
	earlier := extendedClaim("z", "gpu", 2)
	earlier.CreationTimestamp = metav1.Time{Time: now}
	for name, c := range map[string]struct {
		claim  *resourcev1.ResourceClaim
		stored []runtime.Object
		want   string
	}{
		"a class with an extended resource": {deviceClaim("a", "gpu", 2), nil, count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2,requests.example.com/gpu=2"},
		"a class without one":               {deviceClaim("a", "tpu", 2), nil, count + ",requests.deviceclass.resource.kubernetes.io/tpu=2,tpu.deviceclass.resource.k8s.io/devices=2"},
		"what the pod requests":             {extendedClaim("a", "gpu", 1), []runtime.Object{devicePod("a", "example.com/gpu", "1")}, count + ",gpu.deviceclass.resource.k8s.io/devices=1," + implicit + "=1"},
		"by the class":                      {extendedClaim("a", "gpu", 1), []runtime.Object{devicePod("a", "deviceclass.resource.kubernetes.io/gpu", "1")}, count + ",gpu.deviceclass.resource.k8s.io/devices=1,requests.example.com/gpu=1"},
		"a part of it":                      {extendedClaim("a", "gpu", 2), []runtime.Object{devicePod("a", "example.com/gpu", "1")}, count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2,requests.example.com/gpu=1"},
		"a pod without a status":            {extendedClaim("a", "gpu", 2), []runtime.Object{devicePod("", "example.com/gpu", "2"), extendedClaim("b", "gpu", 2), deviceClaim("0", "gpu", 2)}, count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2"},
		"a lower name":                      {extendedClaim("b", "gpu", 2), []runtime.Object{devicePod("", "example.com/gpu", "2"), extendedClaim("a", "gpu", 2)}, count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2,requests.example.com/gpu=2"},
		"an earlier claim":                  {late, []runtime.Object{devicePod("", "example.com/gpu", "2"), earlier}, count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2,requests.example.com/gpu=2"},
		"another claim in the status":       {extendedClaim("a", "gpu", 2), []runtime.Object{devicePod("b", "example.com/gpu", "2")}, count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2,requests.example.com/gpu=2"},
		"another pod":                       {otherPod, []runtime.Object{devicePod("a", "example.com/gpu", "2")}, count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2,requests.example.com/gpu=2"},
		"a pod of another name":             {otherName, []runtime.Object{devicePod("a", "example.com/gpu", "2")}, bothCount},
		"an owner that is no pod":           {otherKind, []runtime.Object{devicePod("a", "example.com/gpu", "2")}, bothCount},
		"a Pod of another group":            {otherVersion, []runtime.Object{devicePod("a", "example.com/gpu", "2")}, bothCount},
		"no owner":                          {uncontrolled, []runtime.Object{devicePod("a", "example.com/gpu", "2")}, bothCount},
		"a claim of a user":                 {unmarked, []runtime.Object{devicePod("a", "example.com/gpu", "2")}, count + ",gpu.deviceclass.resource.k8s.io/devices=2," + implicit + "=2,requests.example.com/gpu=2"},
	} {
		t.Run(name, func(t *testing.T) {
			e := evaluatorFor(resourceClaims, stored(append(deviceClasses(), c.stored...)...))
			require.Equal(t, c.want, format(increase(e.usage(c.claim, now), nil)))
		})
	}
	e := evaluatorFor(resourceClaims, stored(deviceClasses()...))
	for name, want := range map[corev1.ResourceName]bool{
		"requests.example.com/gpu": true, "requests.deviceclass.resource.kubernetes.io/gpu": true, "requests.deviceclass.resource.kubernetes.io/tpu": true,
		"requests.example.com/tpu": false, "requests.deviceclass.resource.kubernetes.io/none": false, "example.com/gpu": false, "requests.cpu": false,
	} {
		require.Equal(t, want, e.matches(name), name)
	}
}

// A limit of an extended resource is one for pods and claims together.
func TestCheckOfExtendedResources(t *testing.T) {
	q := newQuota("requests.example.com/gpu", "3")
	list := stored(append(deviceClasses(), devicePod("", "example.com/gpu", "1"), deviceClaim("a", "gpu", 1))...)
	const refusal = "exceeded quota: q, requested: requests.example.com/gpu=2, used: requests.example.com/gpu=2, limited: requests.example.com/gpu=3"
	for gr, obj := range map[schema.GroupResource]runtime.Object{
		{Resource: "pods"}: pod(nil, "example.com/gpu", "2"), resourceClaims: deviceClaim("b", "gpu", 2),
	} {
		w := &Write{Operation: admissionv1.Create, GroupResource: gr, Namespace: "ns", Now: now, Object: obj}
		_, err := w.Check([]*corev1.ResourceQuota{q}, list)
		require.EqualError(t, err, refusal)
	}
	status, err := Status(q, now, list)
	require.NoError(t, err)
	require.Equal(t, "requests.example.com/gpu=2", format(status.Used))
}
