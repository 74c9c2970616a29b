package plugins

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authz"
)

// A kubelet requests certificates for the pods on its node. Refusals that may be due to what the
// server does not know yet are not Forbidden.
func TestPodCertificateRequestsOfNodes(t *testing.T) {
	pod, mirror, elsewhere := newPod(nil, nil), newPod(nil, nil), newPod(nil, nil)
	for _, p := range []*corev1.Pod{pod, mirror, elsewhere} {
		p.UID, p.Spec.NodeName, p.Spec.ServiceAccountName = "pod-uid", "n1", "robot"
	}
	mirror.Name, mirror.Annotations = "mirror", map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	elsewhere.Name, elsewhere.Spec.NodeName = "elsewhere", "n2"
	p := newNodeRestriction(Dependencies{Objects: storedObjects{
		pods:            {pod, mirror, elsewhere},
		nodes:           {&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "node-uid"}}},
		serviceAccounts: {&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "robot", UID: "robot-uid"}}},
	}})
	for _, c := range []struct {
		want        string
		isForbidden bool
		change      func(*certificatesv1.PodCertificateRequestSpec)
	}{
		{"", false, func(*certificatesv1.PodCertificateRequestSpec) {}},
		{`PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"`, true, func(s *certificatesv1.PodCertificateRequestSpec) { s.NodeName = "n2" }},
		{`PodCertificateRequest for pod "ns/p" names node UID "x", inconsistent with the running node ("node-uid")`, false, func(s *certificatesv1.PodCertificateRequestSpec) { s.NodeUID = "x" }},
		{`while retrieving pod "ns/none" named in the PodCertificateRequest: pod "none" not found`, false, func(s *certificatesv1.PodCertificateRequestSpec) { s.PodName = "none" }},
		{`PodCertificateRequest for pod "ns/p" contains pod UID ("x") which differs from running pod "pod-uid"`, false, func(s *certificatesv1.PodCertificateRequestSpec) { s.PodUID = "x" }},
		{`pod "ns/elsewhere" is not running on node "n1" named in the PodCertificateRequest`, true, func(s *certificatesv1.PodCertificateRequestSpec) { s.PodName = "elsewhere" }},
		{`pod "ns/mirror" is a mirror pod`, true, func(s *certificatesv1.PodCertificateRequestSpec) { s.PodName = "mirror" }},
		{`PodCertificateRequest for pod "ns/p" contains serviceAccountName ("x") that differs from running pod ("robot")`, true, func(s *certificatesv1.PodCertificateRequestSpec) { s.ServiceAccountName = "x" }},
		{`PodCertificateRequest for pod "ns/p" names service account UID "x", which differs from the running service account ("robot-uid")`, false, func(s *certificatesv1.PodCertificateRequestSpec) { s.ServiceAccountUID = "x" }},
	} {
		request := &certificatesv1.PodCertificateRequest{ObjectMeta: inNamespace("r"), Spec: certificatesv1.PodCertificateRequestSpec{
			NodeName: "n1", NodeUID: "node-uid", PodName: "p", PodUID: "pod-uid", ServiceAccountName: "robot", ServiceAccountUID: "robot-uid",
		}}
		c.change(&request.Spec)
		attrs := writeOf(podCertificateRequests, request, nil)
		attrs.User = authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{user.NodesGroup}}
		err := call(t, p, attrs)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
		require.Equal(t, c.isForbidden, apierrors.IsForbidden(err), c.want)
	}
}

// A kubelet requests certificates from the signers that volumes of the pod name, and from those
// that the authorizer allows.
func TestSignersOfNodes(t *testing.T) {
	pod := newPod(nil, nil)
	pod.UID, pod.Spec.NodeName, pod.Spec.ServiceAccountName = "pod-uid", "n1", "robot"
	pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}}, {PodCertificate: &corev1.PodCertificateProjection{SignerName: "example.com/mounted"}},
	}}}}}
	p := newNodeRestriction(Dependencies{Objects: storedObjects{
		pods:            {pod},
		nodes:           {&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "node-uid"}}},
		serviceAccounts: {&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "robot", UID: "robot-uid"}}},
	}, Authorizer: authz.New(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		require.Equal(t, "request-serviceaccounts-podcertificate-signer", a.GetVerb())
		require.Equal(t, "system:node:n1", a.GetUser().GetName())
		require.Equal(t, []string{"certificates.k8s.io", "v1", "ns", "robot"}, []string{a.GetAPIGroup(), a.GetAPIVersion(), a.GetNamespace(), a.GetName()})
		switch a.GetResource() {
		case "example.com:allowed":
			return authorizer.DecisionAllow, "", nil
		case "example.com:failing":
			return authorizer.DecisionNoOpinion, "", errors.New("no answer")
		}
		return authorizer.DecisionNoOpinion, "", nil
	}))})
	for signer, want := range map[string]string{
		"example.com/mounted": "",
		"example.com/allowed": "",
		"example.com/other":   `pod "ns/p" does not mount a podCertificate projected volume for signer "example.com/other"`,
		"example.com/failing": `error authorizing system:node:n1 to request podcertificaterequests for signer "example.com/failing": no answer`,
	} {
		attrs := writeOf(podCertificateRequests, &certificatesv1.PodCertificateRequest{ObjectMeta: inNamespace("r"), Spec: certificatesv1.PodCertificateRequestSpec{
			SignerName: signer, NodeName: "n1", NodeUID: "node-uid", PodName: "p", PodUID: "pod-uid", ServiceAccountName: "robot", ServiceAccountUID: "robot-uid",
		}}, nil)
		attrs.User = authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{user.NodesGroup}}
		err := call(t, p, attrs)
		if want == "" {
			require.NoError(t, err, signer)
			continue
		}
		require.ErrorContains(t, err, want)
		require.True(t, apierrors.IsForbidden(err), signer)
	}
}

// A kubelet requests tokens for the audiences of the CSI drivers of a pod, also of those that have
// replaced a volume plugin, and for those that the authorizer allows.
func TestTokenAudiencesOfNodes(t *testing.T) {
	claimed := func(claim string) corev1.VolumeSource {
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
	}
	azureFile := corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "s", ShareName: "n"}}
	const denied = `serviceaccounts "robot" is forbidden: system:node:n1 is not authorized to request tokens for audience "a"`
	for name, c := range map[string]struct {
		volume   corev1.VolumeSource
		decision authorizer.Decision // the default is a denial
		err      error
		want     string
	}{
		"a migrated volume":            {volume: azureFile},
		"a migrated PersistentVolume":  {volume: claimed("bound")},
		"a driver without audiences":   {volume: corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "v"}}, want: denied},
		"an unbound claim":             {volume: claimed("unbound"), want: `serviceaccounts "robot" is forbidden: error validating audience "a": persistentvolume "" not found`},
		"a volume of the node":         {volume: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, want: denied},
		"an authorizer that fails":     {err: errors.New("no answer"), want: `serviceaccounts "robot" is forbidden: error authorizing system:node:n1 to request tokens for audience "a": no answer`},
		"one that fails and allows it": {decision: authorizer.DecisionAllow, err: errors.New("no answer")},
	} {
		t.Run(name, func(t *testing.T) {
			pod := newPod(nil, nil)
			pod.UID, pod.Spec.NodeName, pod.Spec.Volumes = "pod-uid", "n1", []corev1.Volume{{Name: "v", VolumeSource: c.volume}}
			driver := func(name string, requests ...storagev1.TokenRequest) runtime.Object {
				return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSIDriverSpec{TokenRequests: requests}}
			}
			p := newNodeRestriction(Dependencies{Objects: storedObjects{
				pods: {pod},
				claims: {
					&corev1.PersistentVolumeClaim{ObjectMeta: inNamespace("bound"), Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}},
					&corev1.PersistentVolumeClaim{ObjectMeta: inNamespace("unbound")},
				},
				persistentVolumes: {&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
					PersistentVolumeSource: corev1.PersistentVolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "v"}},
				}}},
				csiDrivers: {
					driver("file.csi.azure.com", storagev1.TokenRequest{Audience: "a"}), driver("csi.vsphere.vmware.com", storagev1.TokenRequest{Audience: "a"}),
					driver("cinder.csi.openstack.org"),
				},
			}, Authorizer: authz.New(authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
				return c.decision, "", c.err
			}))})
			request := &authenticationv1.TokenRequest{ObjectMeta: inNamespace("robot"), Spec: authenticationv1.TokenRequestSpec{
				Audiences: []string{"a"}, BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "pod-uid"},
			}}
			attrs := writeOf(serviceAccounts, request, nil)
			attrs.Subresource, attrs.User = "token", authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{user.NodesGroup}}
			requireRefusal(t, c.want, call(t, p, attrs))
		})
	}
}

// Of several changes that a kubelet may not make to its Node, the refusal names the first of
// taints, owners and labels.
func TestChangesOfNodes(t *testing.T) {
	old := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	changed := old.DeepCopy()
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() { changed.Labels = map[string]string{"k8s.io/role": "x"} }, `nodes "n1" is forbidden: is not allowed to modify labels: k8s.io/role`},
		{func() { changed.OwnerReferences = []metav1.OwnerReference{{Name: "o"}} }, `nodes "n1" is forbidden: node "n1" is not allowed to modify ownerReferences`},
		{func() { changed.Spec.Taints = []corev1.Taint{{Key: "a"}} }, `nodes "n1" is forbidden: node "n1" is not allowed to modify taints`},
	} {
		c.change()
		attrs := writeOf(nodes, changed, old)
		attrs.User = authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{user.NodesGroup}}
		requireRefusal(t, c.want, call(t, newNodeRestriction(Dependencies{}), attrs))
	}
}

// What is not found has the singular of its kind, as in the listers of kube-apiserver.
func TestNotFoundOfNodes(t *testing.T) {
	mirror := newPod(nil, nil)
	mirror.Annotations, mirror.Spec.NodeName = map[string]string{corev1.MirrorPodAnnotationKey: "x"}, "n1"
	mirror.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", Controller: new(true)}}
	request := &authenticationv1.TokenRequest{ObjectMeta: inNamespace("robot"), Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "gone", UID: "u"},
	}}
	for _, c := range []struct {
		attrs       *admission.Attributes
		subresource string
		want        string
	}{
		{writeOf(pods, mirror, nil), "", `node "n1" not found`},
		{writeOf(pods, &policyv1.Eviction{ObjectMeta: inNamespace("gone")}, nil), "eviction", `pod "gone" not found`},
		{writeOf(serviceAccounts, request, nil), "token", `pod "gone" not found`},
	} {
		c.attrs.Subresource, c.attrs.User = c.subresource, authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{user.NodesGroup}}
		err := call(t, newNodeRestriction(Dependencies{Objects: storedObjects{}}), c.attrs)
		require.True(t, apierrors.IsNotFound(err))
		require.EqualError(t, err, c.want)
	}
}

// A kubelet writes its CSINode, but not the status, whose only field has a feature gate that is
// off.
func TestCSINodesOfNodes(t *testing.T) {
	for _, c := range []struct{ name, subresource, want string }{
		{"n1", "", ""},
		{"n1", "status", "CSIVolumeHealth feature gate is disabled"},
		{"n2", "", "can only access CSINode with the same name as the requesting node"},
		{"n2", "status", "can only access CSINode with the same name as the requesting node"},
	} {
		obj := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: c.name}}
		attrs := writeOf(csiNodes, obj, obj.DeepCopy())
		attrs.Subresource, attrs.User = c.subresource, authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{user.NodesGroup}}
		if c.want != "" {
			c.want = fmt.Sprintf("csinodes.storage.k8s.io %q is forbidden: %s", c.name, c.want)
		}
		requireRefusal(t, c.want, call(t, newNodeRestriction(Dependencies{}), attrs))
	}
}

// A kubelet does not change which claims are those of a pod.
func TestPodStatusesOfNodes(t *testing.T) {
	claim := "claim"
	for want, change := range map[string]func(*corev1.PodStatus){
		"": func(s *corev1.PodStatus) { s.Phase = corev1.PodRunning },
		`pods "p" is forbidden: node "n1" cannot update resource claim statues`: func(s *corev1.PodStatus) {
			s.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "c", ResourceClaimName: &claim}}
		},
		`pods "p" is forbidden: node "n1" cannot update extended resource claim status`: func(s *corev1.PodStatus) {
			s.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: claim}
		},
		`pods "p" is forbidden: node "n1" cannot update node allocatable resource claim statuses`: func(s *corev1.PodStatus) {
			s.NodeAllocatableResourceClaimStatuses = []corev1.NodeAllocatableResourceClaimStatus{{ResourceClaimName: claim}}
		},
	} {
		old := newPod(nil, nil)
		old.Spec.NodeName = "n1"
		pod := old.DeepCopy()
		change(&pod.Status)
		attrs := writeOf(pods, pod, old)
		attrs.Subresource, attrs.User = "status", authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{user.NodesGroup}}
		requireRefusal(t, want, call(t, newNodeRestriction(Dependencies{}), attrs))
	}
}
