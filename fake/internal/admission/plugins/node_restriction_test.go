package plugins

import (
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

// A kubelet requests certificates for the pods on its node. Refusals that may be due to what the server
// does not know yet are not Forbidden.
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
