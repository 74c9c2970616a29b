package plugins

import (
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/admission"
)

func TestAlwaysPullImages(t *testing.T) {
	p, pod := newAlwaysPullImages(Dependencies{}), newPod(nil, nil)
	pod.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i"}}
	pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{}}}}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{})
	old := pod.DeepCopy()
	require.NoError(t, call(t, p, writeOf(pods, old.DeepCopy(), nil)))
	require.NoError(t, call(t, p, writeOf(pods, pod, old)))
	require.Empty(t, pod.Spec.Containers[0].ImagePullPolicy, "no new image")
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Image: "new"}}}
	require.NoError(t, call(t, p, writeOf(pods, pod, old)))
	for _, policy := range []corev1.PullPolicy{
		pod.Spec.Containers[0].ImagePullPolicy, pod.Spec.InitContainers[0].ImagePullPolicy,
		pod.Spec.EphemeralContainers[0].ImagePullPolicy, pod.Spec.Volumes[0].Image.PullPolicy,
	} {
		require.Equal(t, corev1.PullAlways, policy)
	}

	// What a webhook sets afterwards is refused.
	attrs := writeOf(pods, pod, old)
	require.NoError(t, admission.Chain{p}.Validate(t.Context(), attrs))
	pod.Spec.Containers[0].ImagePullPolicy, pod.Spec.Volumes[0].Image.PullPolicy = corev1.PullNever, corev1.PullNever
	require.EqualError(t, admission.Chain{p}.Validate(t.Context(), attrs), `[pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always", `+
		`pods "p" is forbidden: spec.volumes[0].image.pullPolicy: Unsupported value: "Never": supported values: "Always"]`)
	attrs.OldObject = pod
	require.NoError(t, admission.Chain{p}.Validate(t.Context(), attrs), "no new image")
}

func TestNamespaceExists(t *testing.T) {
	p := newNamespaceExists(Dependencies{Objects: storedObjects{}})
	err := call(t, p, writeOf(pods, newPod(nil, nil), newPod(nil, nil)))
	require.True(t, apierrors.IsNotFound(err))
	require.EqualError(t, err, `namespaces "ns" not found`)
	review := &authorizationv1.LocalSubjectAccessReview{ObjectMeta: inNamespace("")}
	require.EqualError(t, call(t, p, writeOf(authorizationv1.SchemeGroupVersion.WithResource("localsubjectaccessreviews"), review, nil)), `namespaces "ns" not found`)
	node := writeOf(nodes, &corev1.Node{}, nil)
	node.Namespace = ""
	require.NoError(t, call(t, p, node), "no namespace")
	p = newNamespaceExists(Dependencies{Objects: storedObjects{namespaces: {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}}}})
	require.NoError(t, call(t, p, writeOf(pods, newPod(nil, nil), newPod(nil, nil))))
}

func TestPodNodeSelector(t *testing.T) {
	for name, c := range map[string]struct {
		annotation string
		selector   map[string]string
		want       map[string]string
		err        string
	}{
		"no annotation":      {"", map[string]string{"a": "b"}, map[string]string{"a": "b"}, ""},
		"a pod without one":  {"env=test, infra=fake", nil, map[string]string{"env": "test", "infra": "fake"}, ""},
		"other labels":       {"env=test", map[string]string{"a": "b"}, map[string]string{"env": "test", "a": "b"}, ""},
		"the same":           {"env=test", map[string]string{"env": "test"}, map[string]string{"env": "test"}, ""},
		"another value":      {"env=test", map[string]string{"env": "x"}, nil, `pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector`},
		"an invalid one":     {"env", nil, nil, "invalid selector: [env]"},
		"one with operators": {"env in (a)", nil, nil, "invalid selector: [env in (a)]"},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}
			if c.annotation != "" {
				namespace.Annotations = map[string]string{nodeSelectorAnnotation: c.annotation}
			}
			p, pod := newPodNodeSelector(Dependencies{Objects: storedObjects{namespaces: {namespace}}}), newPod(nil, nil)
			pod.Spec.NodeSelector = c.selector
			err := call(t, p, writeOf(pods, pod, nil))
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, pod.Spec.NodeSelector)
		})
	}
	// What a webhook sets afterwards is refused.
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Annotations: map[string]string{nodeSelectorAnnotation: "env=test"}}}
	p, pod := newPodNodeSelector(Dependencies{Objects: storedObjects{namespaces: {namespace}}}), newPod(nil, nil)
	pod.Spec.NodeSelector = map[string]string{"env": "x"}
	require.True(t, apierrors.IsForbidden(admission.Chain{p}.Validate(t.Context(), writeOf(pods, pod, nil))))

	err := call(t, newPodNodeSelector(Dependencies{Objects: storedObjects{}}), writeOf(pods, pod, nil))
	require.EqualError(t, err, "Internal error occurred: namespace ns does not exist")
}

func TestLimitPodHardAntiAffinityTopology(t *testing.T) {
	p := newLimitPodHardAntiAffinityTopology(Dependencies{})
	for key, want := range map[string]string{
		corev1.LabelHostname: "",
		"zone":               `pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed`,
	} {
		pod := newPod(nil, nil)
		require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
		pod.Spec.Affinity = &corev1.Affinity{}
		require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key}}}}
		requireRefusal(t, want, call(t, p, writeOf(pods, pod, nil)))
	}
}

func TestExtendedResourceToleration(t *testing.T) {
	p, pod := newExtendedResourceToleration(Dependencies{}), newPod(quantities("cpu", "1", "b.com/x", "1", "a.com/y", "1"), nil)
	for range 2 {
		require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
		require.Equal(t, []corev1.Toleration{
			toleration("a.com/y", corev1.TaintEffectNoSchedule), toleration("b.com/x", corev1.TaintEffectNoSchedule),
		}, pod.Spec.Tolerations)
	}
	pod.Spec.Tolerations[0].TolerationSeconds = new(int64(5))
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, []corev1.Toleration{
		toleration("a.com/y", corev1.TaintEffectNoSchedule), toleration("b.com/x", corev1.TaintEffectNoSchedule),
	}, pod.Spec.Tolerations, "the effect has no seconds")
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration("b.com/x", corev1.TaintEffectNoSchedule))
	pod.Spec.Tolerations[2].TolerationSeconds = new(int64(5))
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, []corev1.Toleration{
		toleration("a.com/y", corev1.TaintEffectNoSchedule), toleration("b.com/x", corev1.TaintEffectNoSchedule),
		toleration("b.com/x", corev1.TaintEffectNoSchedule),
	}, pod.Spec.Tolerations, "all of them are replaced")

	invalid := newPod(quantities("a.com/", "1", "a.com/b/c", "1", "requests.a.com/x", "1", "x.kubernetes.io/y", "1"), nil)
	require.NoError(t, call(t, p, writeOf(pods, invalid, nil)))
	require.Empty(t, invalid.Spec.Tolerations, "not extended resources")
}

func TestDenyServiceExternalIPs(t *testing.T) {
	p := newDenyServiceExternalIPs(Dependencies{})
	service := func(ips ...string) *corev1.Service {
		return &corev1.Service{ObjectMeta: inNamespace("s"), Spec: corev1.ServiceSpec{ExternalIPs: ips}}
	}
	const want = `services "s" is forbidden: Use of external IPs is denied by admission control`
	requireRefusal(t, "", call(t, p, writeOf(services, service(), nil)))
	requireRefusal(t, want, call(t, p, writeOf(services, service("1.2.3.4"), nil)))
	requireRefusal(t, want, call(t, p, writeOf(services, service("1.2.3.4", "1.2.3.5"), service("1.2.3.4"))))
	requireRefusal(t, "", call(t, p, writeOf(services, service("1.2.3.4"), service("1.2.3.5", "1.2.3.4"))))
}
