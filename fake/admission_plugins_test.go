package fakeapi_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// startWithPlugins starts a server without controllers and returns a client and the warnings that
// it gets.
func startWithPlugins(t *testing.T, opts ...fakeapi.Option) (kubernetes.Interface, *warningTexts) {
	srv := fakeapi.Start(t, append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers()}, opts...)...)
	config, warnings := srv.RESTConfig(), &warningTexts{}
	config.WarningHandler = warnings
	return kubernetes.NewForConfigOrDie(config), warnings
}

// warningTexts collects the warnings of responses.
type warningTexts struct{ texts []string }

func (w *warningTexts) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

var _ rest.WarningHandler = (*warningTexts)(nil)

func createPod(t *testing.T, client kubernetes.Interface, pod *corev1.Pod) (*corev1.Pod, error) {
	return client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// Pods get what the plugins that are enabled by default set, without any object of the user.
func TestPluginsSetDefaults(t *testing.T) {
	client, _ := startWithPlugins(t)
	pod, err := createPod(t, client, podWith("p"))
	require.NoError(t, err)
	require.Equal(t, int32(0), *pod.Spec.Priority)
	require.Equal(t, corev1.PreemptLowerPriority, *pod.Spec.PreemptionPolicy)
	require.Len(t, pod.Spec.Tolerations, 2)
	require.Empty(t, pod.Spec.ServiceAccountName)
	require.Empty(t, pod.Annotations)

	node, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: named("n")}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}}, node.Spec.Taints)
}

// A plugin that is disabled sets nothing.
func TestWithoutAdmissionPlugins(t *testing.T) {
	client, _ := startWithPlugins(t, fakeapi.WithoutAdmissionPlugins("Priority", "DefaultTolerationSeconds", "TaintNodesByCondition"))
	pod, err := createPod(t, client, podWith("p"))
	require.NoError(t, err)
	require.Nil(t, pod.Spec.Priority)
	require.Empty(t, pod.Spec.Tolerations)
	node, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: named("n")}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Empty(t, node.Spec.Taints)
}

// The name of the token volume is random and repeatable.
func TestServiceAccountPlugin(t *testing.T) {
	volumeName := func() string {
		client, _ := startWithPlugins(t, fakeapi.WithSeed(7), fakeapi.WithAdmissionPlugins("ServiceAccount"))
		_, err := createPod(t, client, podWith("p"))
		require.EqualError(t, err, `pods "p" is forbidden: error looking up service account default/default: serviceaccount "default" not found`)
		account := &corev1.ServiceAccount{ObjectMeta: named("default"), ImagePullSecrets: []corev1.LocalObjectReference{{Name: "s"}}}
		_, err = client.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{})
		require.NoError(t, err)
		pod, err := createPod(t, client, podWith("p"))
		require.NoError(t, err)
		require.Equal(t, "default", pod.Spec.ServiceAccountName)
		require.Equal(t, account.ImagePullSecrets, pod.Spec.ImagePullSecrets)
		require.Len(t, pod.Spec.Volumes, 1)
		require.Equal(t, pod.Spec.Volumes[0].Name, pod.Spec.Containers[0].VolumeMounts[0].Name)
		return pod.Spec.Volumes[0].Name
	}
	name := volumeName()
	require.Regexp(t, regexp.MustCompile(`^kube-api-access-[a-z0-9]{5}$`), name)
	require.Equal(t, name, volumeName())
}

func TestLimitRangerPlugin(t *testing.T) {
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l", Namespace: "default"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, Default: resourceList("cpu", "500m", "memory", "256Mi"), DefaultRequest: resourceList("cpu", "100m"), Max: resourceList("cpu", "1"),
	}}}}
	client, _ := startWithPlugins(t, fakeapi.WithObjects(limits))
	pod, err := createPod(t, client, podWith("p"))
	require.NoError(t, err)
	require.Equal(t, "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c", pod.Annotations["kubernetes.io/limit-ranger"])
	require.Equal(t, "cpu=500m memory=256Mi", listText(pod.Spec.Containers[0].Resources.Limits))
	_, err = createPod(t, client, podWith("q", "cpu", "2"))
	require.EqualError(t, err, `pods "q" is forbidden: maximum cpu usage per Container is 1, but limit is 2`)
}

func TestPodSecurityPlugin(t *testing.T) {
	restricted := map[string]string{"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/warn": "restricted"}
	client, warnings := startWithPlugins(t, fakeapi.WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "safe", Labels: restricted}}))
	pod := podWith("p")
	_, err := client.CoreV1().Pods("safe").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Len(t, warnings.texts, 1)
	require.Contains(t, warnings.texts[0], `would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)`)

	pod.Name, pod.Spec.HostNetwork = "q", true
	_, err = client.CoreV1().Pods("safe").Create(t.Context(), pod, metav1.CreateOptions{})
	require.EqualError(t, err, `pods "q" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`)
	_, err = createPod(t, client, pod)
	require.NoError(t, err)

	warnings.texts = nil
	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
	_, err = client.CoreV1().Namespaces().Patch(t.Context(), "default", "application/merge-patch+json", patch, metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{
		`existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"`, `q: host namespaces`,
	}, warnings.texts)
	patch = []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"high"}}}`)
	_, err = client.CoreV1().Namespaces().Patch(t.Context(), "default", "application/merge-patch+json", patch, metav1.PatchOptions{})
	require.ErrorContains(t, err, `metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "high": must be one of privileged, baseline, restricted`)
}

func TestPriorityPlugin(t *testing.T) {
	client, _ := startWithPlugins(t)
	classes := client.SchedulingV1().PriorityClasses()
	_, err := classes.Create(t.Context(), &schedulingv1.PriorityClass{ObjectMeta: named("gold"), Value: 7, GlobalDefault: true}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = classes.Create(t.Context(), &schedulingv1.PriorityClass{ObjectMeta: named("two"), GlobalDefault: true}, metav1.CreateOptions{})
	require.EqualError(t, err, `priorityclasses.scheduling.k8s.io "two" is forbidden: PriorityClass gold is already marked as default. Only one default can exist`)
	pod, err := createPod(t, client, podWith("p"))
	require.NoError(t, err)
	require.Equal(t, "gold", pod.Spec.PriorityClassName)
	require.Equal(t, int32(7), *pod.Spec.Priority)
	bad := podWith("q")
	bad.Spec.PriorityClassName = "none"
	_, err = createPod(t, client, bad)
	require.EqualError(t, err, `pods "q" is forbidden: no PriorityClass with name none was found`)
}

func TestStoragePlugins(t *testing.T) {
	expandable := true
	class := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "std", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "disk.example.com", AllowVolumeExpansion: &expandable,
	}
	fixed := &storagev1.StorageClass{ObjectMeta: named("fixed"), Provisioner: "disk.example.com"}
	client, _ := startWithPlugins(t, fakeapi.WithObjects(class, fixed))
	claims := client.CoreV1().PersistentVolumeClaims("default")
	claim, err := claims.Create(t.Context(), newClaim("c"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "std", *claim.Spec.StorageClassName)
	require.Equal(t, []string{"kubernetes.io/pvc-protection"}, claim.Finalizers)

	expand := func(claim *corev1.PersistentVolumeClaim) error {
		claim.Status.Phase = corev1.ClaimBound
		claim, err := claims.UpdateStatus(t.Context(), claim, metav1.UpdateOptions{})
		require.NoError(t, err)
		claim.Spec.Resources.Requests["storage"] = apiresource.MustParse("2Gi")
		_, err = claims.Update(t.Context(), claim, metav1.UpdateOptions{})
		return err
	}
	require.NoError(t, expand(claim))
	cannotGrow := newClaim("d")
	cannotGrow.Spec.StorageClassName = &fixed.Name
	cannotGrow, err = claims.Create(t.Context(), cannotGrow, metav1.CreateOptions{})
	require.NoError(t, err)
	require.EqualError(t, expand(cannotGrow), `persistentvolumeclaims "d" is forbidden: `+
		`only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`)
}

func TestClassPlugins(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{corev1.LabelTopologyZone: "z", "other": "x"}}}
	client, _ := startWithPlugins(t, fakeapi.WithObjects(node,
		&networkingv1.IngressClass{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"}},
			Spec:       networkingv1.IngressClassSpec{Controller: "example.com/web"},
		},
		&nodev1.RuntimeClass{ObjectMeta: named("box"), Handler: "box", Overhead: &nodev1.Overhead{PodFixed: resourceList("cpu", "10m")}},
	))
	ingress, err := client.NetworkingV1().Ingresses("default").Create(t.Context(), &networkingv1.Ingress{
		ObjectMeta: named("i"),
		Spec:       networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "s", Port: networkingv1.ServiceBackendPort{Number: 80}}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "web", *ingress.Spec.IngressClassName)

	pod, class := podWith("p"), "box"
	pod.Spec.RuntimeClassName = &class
	pod, err = createPod(t, client, pod)
	require.NoError(t, err)
	require.Equal(t, "cpu=10m", listText(pod.Spec.Overhead))
	require.NoError(t, client.CoreV1().Pods("default").Bind(t.Context(), &corev1.Binding{ObjectMeta: named("p"), Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}, metav1.CreateOptions{}))
	pod, err = client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{corev1.LabelTopologyZone: "z"}, pod.Labels)

	pod, class = podWith("q"), "none"
	pod.Spec.RuntimeClassName = &class
	_, err = createPod(t, client, pod)
	require.EqualError(t, err, `pods "q" is forbidden: pod rejected: RuntimeClass "none" not found`)
}

func TestCertificatePlugins(t *testing.T) {
	client, _ := startWithPlugins(t)
	requests := client.CertificatesV1().CertificateSigningRequests()
	create := func(organization string) error {
		request := newSigningRequest(t, "r", certificatesv1.KubeAPIServerClientSignerName, organization)
		_, err := requests.Create(t.Context(), request, metav1.CreateOptions{})
		return err
	}
	require.EqualError(t, create("system:masters"), `certificatesigningrequests.certificates.k8s.io "r" is forbidden: `+
		`use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`)
	require.NoError(t, create("devs"))
}
