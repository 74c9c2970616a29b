package plugins

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func limitRange(items ...corev1.LimitRangeItem) storedObjects {
	return storedObjects{limitRanges: {&corev1.LimitRange{ObjectMeta: inNamespace("l"), Spec: corev1.LimitRangeSpec{Limits: items}}}}
}

func TestLimitRangerDefaults(t *testing.T) {
	p := newLimitRanger(Dependencies{Objects: limitRange(corev1.LimitRangeItem{
		Type: corev1.LimitTypeContainer, Default: quantities("cpu", "1", "memory", "2Mi"), DefaultRequest: quantities("cpu", "500m"),
	})})
	pod := newPod(nil, quantities("cpu", "2"))
	pod.Spec.InitContainers, pod.Annotations = []corev1.Container{{Name: "i"}}, map[string]string{"mine": "x"}
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, quantities("cpu", "2", "memory", "2Mi"), pod.Spec.Containers[0].Resources.Limits)
	require.Equal(t, quantities("cpu", "500m"), pod.Spec.Containers[0].Resources.Requests)
	require.Equal(t, "LimitRanger plugin set: cpu request for container c; memory limit for container c; "+
		"cpu request for init container i; cpu, memory limit for init container i", pod.Annotations[limitRangerAnnotation])
	require.Equal(t, "x", pod.Annotations["mine"])

	again := pod.DeepCopy()
	again.Annotations = nil
	require.NoError(t, call(t, p, writeOf(pods, again, nil)))
	require.Empty(t, again.Annotations, "nothing was set")

	require.NoError(t, call(t, newLimitRanger(Dependencies{Objects: storedObjects{}}), writeOf(pods, newPod(nil, nil), nil)))
}

func TestLimitRangerRefusals(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: inNamespace("p"), Spec: corev1.PersistentVolumeClaimSpec{
		Resources: corev1.VolumeResourceRequirements{Requests: quantities("storage", "5Gi")},
	}}
	sum := newPod(quantities("cpu", "1"), quantities("cpu", "1"))
	sum.Spec.Containers = append(sum.Spec.Containers, *sum.Spec.Containers[0].DeepCopy())
	sum.Spec.Overhead = quantities("cpu", "5")
	const huge = "hugepages-2Mi"
	own := newPod(quantities("cpu", "1", huge, "2Mi"), quantities("cpu", "1", huge, "2Mi"))
	own.Spec.Resources = &corev1.ResourceRequirements{Requests: quantities("cpu", "2", huge, "8Mi"), Limits: quantities("cpu", "3", huge, "8Mi")}
	deleted := newPod(nil, nil)
	deleted.DeletionTimestamp = &metav1.Time{}
	item := func(kind corev1.LimitType, minimum, maximum, ratio corev1.ResourceList) corev1.LimitRangeItem {
		return corev1.LimitRangeItem{Type: kind, Min: minimum, Max: maximum, MaxLimitRequestRatio: ratio}
	}
	const container, podType, claimType = corev1.LimitTypeContainer, corev1.LimitTypePod, corev1.LimitTypePersistentVolumeClaim
	one, two := quantities("cpu", "1"), quantities("cpu", "2")
	for name, c := range map[string]struct {
		item corev1.LimitRangeItem
		obj  runtime.Object
		want string
	}{
		"no request":       {item(container, one, nil, nil), newPod(nil, nil), "minimum cpu usage per Container is 1.  No request is specified"},
		"small request":    {item(container, two, nil, nil), newPod(one, two), "minimum cpu usage per Container is 2, but request is 1"},
		"small limit":      {item(container, two, nil, nil), newPod(two, one), "minimum cpu usage per Container is 2, but limit is 1"},
		"no limit":         {item(container, nil, one, nil), newPod(one, nil), "maximum cpu usage per Container is 1.  No limit is specified"},
		"large limit":      {item(container, nil, one, nil), newPod(one, two), "maximum cpu usage per Container is 1, but limit is 2"},
		"large request":    {item(container, nil, one, nil), newPod(two, one), "maximum cpu usage per Container is 1, but request is 2"},
		"ratio":            {item(container, nil, nil, quantities("cpu", "1500m")), newPod(one, two), "cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000"},
		"ratio of nothing": {item(container, nil, nil, one), newPod(nil, two), "cpu max limit to request ratio per Container is 1, but no request is specified or request is 0"},
		"ratio to nothing": {item(container, nil, nil, one), newPod(one, nil), "cpu max limit to request ratio per Container is 1, but no limit is specified or limit is 0"},
		"rounded ratio":    {item(container, nil, nil, quantities("cpu", "2015m")), newPod(quantities("cpu", "400m"), quantities("cpu", "806m")), "cpu max limit to request ratio per Container is 2015m, but provided ratio is 2.015000"},
		"exact ratio":      {item(container, nil, nil, two), newPod(one, two), ""},
		"huge bound":       {item(container, quantities("memory", "20P"), nil, nil), newPod(quantities("memory", "9P"), nil), "minimum memory usage per Container is 20P, but request is 9P"},
		"huge request":     {item(container, quantities("memory", "1P"), quantities("memory", "2P"), nil), newPod(quantities("memory", "20P"), quantities("memory", "2P")), "maximum memory usage per Container is 2P, but request is 20P"},
		"huge limit":       {item(container, nil, quantities("memory", "2P"), nil), newPod(nil, quantities("memory", "20P")), "maximum memory usage per Container is 2P, but limit is 20P"},
		"huge ratio":       {item(container, nil, nil, quantities("memory", "20P")), newPod(quantities("memory", "1"), quantities("memory", "9P")), ""},
		"only a request":   {item(container, one, nil, nil), newPod(one, nil), ""},
		"only a limit":     {item(container, nil, one, nil), newPod(nil, one), ""},
		"at both bounds":   {item(container, one, one, nil), newPod(one, one), ""},
		"within":           {item(container, one, two, two), newPod(one, two), ""},
		"sum":              {item(podType, nil, one, nil), sum, "maximum cpu usage per Pod is 1, but limit is 2"},
		"sum within":       {item(podType, nil, two, nil), sum, ""},
		"own":              {item(podType, nil, two, nil), own, "maximum cpu usage per Pod is 2, but limit is 3"},
		"own huge pages":   {item(podType, nil, quantities(huge, "4Mi"), nil), own, ""},
		"claim":            {item(claimType, quantities("storage", "6Gi"), nil, nil), claim, "minimum storage usage per PersistentVolumeClaim is 6Gi, but request is 5Gi"},
		"large claim":      {item(claimType, nil, quantities("storage", "1Gi"), nil), claim, "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi"},
		"unlimited claim":  {item(claimType, nil, quantities("memory", "1"), nil), claim, "maximum memory usage per PersistentVolumeClaim is 1.  No request is specified"},
		"item of pods":     {item(podType, nil, quantities("storage", "1Gi"), nil), claim, ""},
		"several":          {item(container, quantities("cpu", "1", "memory", "1"), nil, nil), newPod(nil, nil), "[minimum cpu usage per Container is 1.  No request is specified, minimum memory usage per Container is 1.  No request is specified]"},
	} {
		t.Run(name, func(t *testing.T) {
			res := pods
			if c.obj == runtime.Object(claim) {
				res = claims
			}
			want := c.want
			if want != "" {
				want = res.Resource + ` "p" is forbidden: ` + want
			}
			requireRefusal(t, want, call(t, newLimitRanger(Dependencies{Objects: limitRange(c.item)}), writeOf(res, c.obj, nil)))
		})
	}
	p := newLimitRanger(Dependencies{Objects: limitRange(item(container, one, nil, nil))})
	require.NoError(t, call(t, p, writeOf(pods, newPod(nil, nil), newPod(nil, nil))), "an update")
	resize := writeOf(pods, newPod(nil, nil), newPod(nil, nil))
	resize.Subresource = "resize"
	require.Error(t, call(t, p, resize))
	resize.OldObject = deleted
	require.NoError(t, call(t, p, resize), "an object that is deleted")
}
