package plugins

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"example.com/fakeapi/fake/internal/admission"
)

// asKubelet calls NodeRestriction for a write of the kubelet of the node n1.
func asKubelet(t *testing.T, objects storedObjects, attrs *admission.Attributes) error {
	attrs.User = authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{user.NodesGroup}}
	return call(t, newNodeRestriction(Dependencies{Objects: objects}), attrs)
}

// A mirror pod is owned by the node and refers to no other object.
func TestMirrorPodsOfNodes(t *testing.T) {
	volume := func(v corev1.VolumeSource) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Volumes = []corev1.Volume{{}, {VolumeSource: v}} }
	}
	projected := func(p corev1.VolumeProjection) func(*corev1.Pod) {
		return volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{p}}})
	}
	owner := func(change func(*metav1.OwnerReference)) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { change(&pod.OwnerReferences[0]) }
	}
	const noOwner, noController = "can only create pods with an owner reference set to itself", "can only create pods with a controller owner reference set to itself"
	const reference = "can not create pods that reference "
	for _, c := range []struct {
		want   string
		change func(*corev1.Pod)
	}{
		{"", func(*corev1.Pod) {}},
		{"", owner(func(o *metav1.OwnerReference) { o.BlockOwnerDeletion = new(false) })},
		{"", volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})},
		{"", projected(corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{}})},
		{"can only create pods with spec.nodeName set to itself", func(pod *corev1.Pod) { pod.Spec.NodeName = "n2" }},
		{"can only create pods with a single owner reference set to itself", func(pod *corev1.Pod) { pod.OwnerReferences = append(pod.OwnerReferences, pod.OwnerReferences[0]) }},
		{noOwner, owner(func(o *metav1.OwnerReference) { o.Name = "n2" })},
		{noOwner, owner(func(o *metav1.OwnerReference) { o.Kind = "Pod" })},
		{noOwner, owner(func(o *metav1.OwnerReference) { o.APIVersion = "v2" })},
		{noController, owner(func(o *metav1.OwnerReference) { o.Controller = nil })},
		{noController, owner(func(o *metav1.OwnerReference) { o.Controller = new(false) })},
		{"must not set blockOwnerDeletion on an owner reference", owner(func(o *metav1.OwnerReference) { o.BlockOwnerDeletion = new(true) })},
		{"node n1 UID mismatch: expected x got uid", owner(func(o *metav1.OwnerReference) { o.UID = "x" })},
		{reference + "configmaps", func(pod *corev1.Pod) {
			pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}
		}},
		{reference + "resourceclaims", func(pod *corev1.Pod) { pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c"}} }},
		{reference + "configmaps (via configmap volumes)", volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}})},
		{reference + "secrets (via secret volumes)", volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}})},
		{reference + "endpoints (via glusterFS volumes)", volume(corev1.VolumeSource{Glusterfs: &corev1.GlusterfsVolumeSource{}})},
		{reference + "persistentvolumeclaims", volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}})},
		{reference + "secrets (via azureFile volumes)", volume(corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{}})},
		{reference + "configmaps (via projected volumes)", projected(corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{}})},
		{reference + "secrets (via projected volumes)", projected(corev1.VolumeProjection{Secret: &corev1.SecretProjection{}})},
		{reference + "clustertrustbundles", projected(corev1.VolumeProjection{ClusterTrustBundle: &corev1.ClusterTrustBundleProjection{}})},
		{reference + "podcertificates", projected(corev1.VolumeProjection{PodCertificate: &corev1.PodCertificateProjection{}})},
	} {
		pod := newPod(nil, nil)
		pod.Annotations, pod.Spec.NodeName = map[string]string{corev1.MirrorPodAnnotationKey: "x"}, "n1"
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "uid", Controller: new(true)}}
		c.change(pod)
		err := asKubelet(t, storedObjects{nodes: {&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "uid"}}}}, writeOf(pods, pod, nil))
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
		require.True(t, apierrors.IsForbidden(err))
	}
}

// A kubelet creates its Node and deletes it, and writes no others.
func TestNewNodesOfKubelets(t *testing.T) {
	const prefix = `nodes "n1" is forbidden: node "n1" is not allowed to `
	for want, change := range map[string]func(*corev1.Node){
		"": func(n *corev1.Node) {
			n.Labels = map[string]string{"plain": "", "example.com/x": "", "kubelet.kubernetes.io/x": "", "x.kubelet.kubernetes.io/y": "", corev1.LabelOSStable: "linux"}
		},
		prefix + "create pods with a non-nil configSource": func(n *corev1.Node) {
			//lint:ignore SA1019 kube-apiserver still refuses it
			n.Spec.ConfigSource = &corev1.NodeConfigSource{}
		},
		prefix + "set the following labels: k8s.io/x, node-restriction.kubernetes.io/y, x.kubernetes.io/z": func(n *corev1.Node) {
			n.Labels = map[string]string{"x.kubernetes.io/z": "", "node-restriction.kubernetes.io/y": "", "k8s.io/x": ""}
		},
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
		change(node)
		requireRefusal(t, want, asKubelet(t, nil, writeOf(nodes, node, nil)))
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	deletion := writeOf(nodes, node, node)
	deletion.Operation, deletion.Object = admissionv1.Delete, nil
	requireRefusal(t, "", asKubelet(t, nil, deletion))
	deletion.Name = "n2"
	requireRefusal(t, `nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"`, asKubelet(t, nil, deletion))
	labeled := node.DeepCopy()
	labeled.Labels = map[string]string{"k8s.io/x": "a"}
	relabeled := node.DeepCopy()
	relabeled.Labels = map[string]string{"k8s.io/x": "b"}
	requireRefusal(t, `nodes "n1" is forbidden: is not allowed to modify labels: k8s.io/x`, asKubelet(t, nil, writeOf(nodes, relabeled, labeled)))
	configured := node.DeepCopy()
	//lint:ignore SA1019 kube-apiserver still refuses it
	configured.Spec.ConfigSource = &corev1.NodeConfigSource{}
	requireRefusal(t, prefix+"update configSource to a new non-nil configSource", asKubelet(t, nil, writeOf(nodes, configured, node)))
	requireRefusal(t, "", asKubelet(t, nil, writeOf(nodes, configured, configured)))
	requireRefusal(t, "", asKubelet(t, nil, writeOf(nodes, node, configured)))
	require.NoError(t, asKubelet(t, nil, writeOf(csiNodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, nil)))
}

// A kubelet deletes the pods of its node one by one: the path of a collection has no name.
func TestDeletedPodsOfNodes(t *testing.T) {
	own, elsewhere := newPod(nil, nil), newPod(nil, nil)
	own.Spec.NodeName = "n1"
	elsewhere.Name, elsewhere.Spec.NodeName = "elsewhere", "n2"
	for name, want := range map[string]string{
		"p":         "",
		"elsewhere": `pods "elsewhere" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself`,
		"gone":      `pod "gone" not found`,
		"":          `pod "" not found`,
	} {
		deletion := writeOf(pods, own, own)
		deletion.Operation, deletion.Object, deletion.Name = admissionv1.Delete, nil, name
		err := asKubelet(t, storedObjects{pods: {own, elsewhere}}, deletion)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, want)
		require.Equal(t, name != "elsewhere", apierrors.IsNotFound(err), name)
	}
}

// A kubelet creates and deletes the ResourceSlices of its node.
func TestResourceSlicesOfNodes(t *testing.T) {
	for _, c := range []struct {
		node      *string
		operation admissionv1.Operation
		want      string
	}{
		{new("n1"), admissionv1.Create, ""},
		{new("n1"), admissionv1.Delete, ""},
		{new("n2"), admissionv1.Create, "can only create ResourceSlice with the same NodeName as the requesting node"},
		{nil, admissionv1.Create, "can only create ResourceSlice with the same NodeName as the requesting node"},
		{new("n2"), admissionv1.Delete, "can only delete ResourceSlice with the same NodeName as the requesting node"},
		{new("n2"), admissionv1.Update, ""}, // which the authorizer refuses
	} {
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{NodeName: c.node}}
		attrs := writeOf(resourceSlices, slice, nil)
		if attrs.Operation = c.operation; c.operation != admissionv1.Create {
			attrs.OldObject = slice
		}
		if c.operation == admissionv1.Delete {
			attrs.Object = nil
		}
		if c.want != "" {
			c.want = `resourceslices.resource.k8s.io "s" is forbidden: ` + c.want
		}
		requireRefusal(t, c.want, asKubelet(t, nil, attrs))
	}
}

// A kubelet requests certificates of nodes for its own.
func TestSigningRequestsOfNodes(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	request := func(name string) []byte {
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
		require.NoError(t, err)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	}
	const prefix = `certificatesigningrequests.certificates.k8s.io "r" is forbidden: `
	const otherName, noRequest = prefix + "can only create a node CSR with CN=system:node:n1", prefix + "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"
	for _, c := range []struct {
		signer, want string
		request      []byte
	}{
		{certificatesv1.KubeletServingSignerName, "", request("system:node:n1")},
		{certificatesv1.KubeletServingSignerName, otherName, request("system:node:n2")},
		{certificatesv1.KubeAPIServerClientKubeletSignerName, otherName, request("n1")},
		{certificatesv1.KubeAPIServerClientKubeletSignerName, noRequest, []byte("none")},
		{certificatesv1.KubeAPIServerClientSignerName, "", request("system:node:n2")},
	} {
		csr := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
		csr.Spec.SignerName, csr.Spec.Request = c.signer, c.request
		requireRefusal(t, c.want, asKubelet(t, nil, writeOf(signingRequests, csr, nil)))
		requireRefusal(t, "", asKubelet(t, nil, writeOf(signingRequests, csr, csr)))
	}
}

// A kubelet requests tokens for one audience at most, bound to a pod.
func TestTokensOfNodes(t *testing.T) {
	pod := newPod(nil, nil)
	pod.UID, pod.Spec.NodeName = "uid", "n1"
	pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{Secret: &corev1.SecretProjection{}}, {ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "a"}},
	}}}}}
	elsewhere := newPod(nil, nil)
	elsewhere.Name, elsewhere.UID, elsewhere.Spec.NodeName = "elsewhere", "uid", "n2"
	const notBound = "node requested token not bound to a pod"
	for _, c := range []struct {
		want      string
		ref       authenticationv1.BoundObjectReference
		audiences []string
	}{
		{"", authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "uid"}, []string{"a"}},
		{"", authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "uid"}, nil},
		{"node may only request 0 or 1 audiences", authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "uid"}, []string{"a", "b"}},
		{notBound, authenticationv1.BoundObjectReference{APIVersion: "v2", Kind: "Pod", Name: "p", UID: "uid"}, nil},
		{notBound, authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: "p", UID: "uid"}, nil},
		{notBound, authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", UID: "uid"}, nil},
		{"the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated",
			authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "x"}, nil},
		{"node requested token bound to a pod scheduled on a different node", authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "elsewhere", UID: "uid"}, nil},
	} {
		request := &authenticationv1.TokenRequest{ObjectMeta: inNamespace("robot"), Spec: authenticationv1.TokenRequestSpec{Audiences: c.audiences, BoundObjectRef: &c.ref}}
		attrs := writeOf(serviceAccounts, request, nil)
		attrs.Subresource = "token"
		if c.want != "" {
			c.want = `serviceaccounts "robot" is forbidden: ` + c.want
		}
		requireRefusal(t, c.want, asKubelet(t, storedObjects{pods: {pod, elsewhere}}, attrs))
	}
	require.NoError(t, asKubelet(t, nil, writeOf(serviceAccounts, &corev1.ServiceAccount{ObjectMeta: inNamespace("robot")}, nil)), "no token")
}
