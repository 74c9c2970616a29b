package plugins

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podCertificateRequest limits requests for certificates of pods to those of pods on the node.
func (r nodeWrite) podCertificateRequest(ctx context.Context) error {
	request, ok := r.Object.(*certificatesv1.PodCertificateRequest)
	switch {
	case !ok || r.Operation != admissionv1.Create:
		return r.forbiddenf("unexpected operation %v", r.Operation)
	case r.Subresource != "":
		return r.forbiddenf("unexpected subresource %v", r.Subresource)
	case string(request.Spec.NodeName) != r.node:
		return r.forbiddenf("PodCertificateRequest.Spec.NodeName=%q, which is not the requesting node %q", request.Spec.NodeName, r.node)
	}
	if err := r.checkNodeUID(&request.Spec); err != nil {
		return err
	}
	pod, err := r.requestedPod(&request.Spec)
	if err != nil {
		return err
	}
	if err := r.checkAccount(&request.Spec, pod); err != nil {
		return err
	}
	return r.checkSigner(ctx, &request.Spec, pod)
}

// podOf returns the pod of a request, with its namespace.
func (r nodeWrite) podOf(spec *certificatesv1.PodCertificateRequestSpec) string {
	return types.NamespacedName{Namespace: r.Namespace, Name: spec.PodName}.String()
}

// checkNodeUID refuses a request of a former node with the same name. As other refusals that may be
// due to what the server does not know yet, it is no 403.
func (r nodeWrite) checkNodeUID(spec *certificatesv1.PodCertificateRequestSpec) error {
	obj, err := r.listed(nodes, "node", "", r.node)
	if err != nil {
		return fmt.Errorf("while retrieving node %q named in the PodCertificateRequest: %w", r.node, err)
	}
	if uid := obj.(*corev1.Node).UID; uid != spec.NodeUID {
		return fmt.Errorf("PodCertificateRequest for pod %q names node UID %q, inconsistent with the running node (%q)",
			r.podOf(spec), spec.NodeUID, uid)
	}
	return nil
}

// requestedPod returns the pod of a request if it runs on the node.
func (r nodeWrite) requestedPod(spec *certificatesv1.PodCertificateRequestSpec) (*corev1.Pod, error) {
	name := r.podOf(spec)
	obj, err := r.listed(pods, "pod", r.Namespace, spec.PodName)
	if err != nil {
		return nil, fmt.Errorf("while retrieving pod %q named in the PodCertificateRequest: %w", name, err)
	}
	pod := obj.(*corev1.Pod)
	switch {
	case pod.UID != spec.PodUID:
		return nil, fmt.Errorf("PodCertificateRequest for pod %q contains pod UID (%q) which differs from running pod %q", name, spec.PodUID, pod.UID)
	case pod.Spec.NodeName != r.node:
		return nil, r.forbiddenf("pod %q is not running on node %q named in the PodCertificateRequest", name, r.node)
	case isMirrorPod(pod):
		return nil, r.forbiddenf("pod %q is a mirror pod", name)
	}
	return pod, nil
}

// checkAccount refuses a request for another service account than that of the pod.
func (r nodeWrite) checkAccount(spec *certificatesv1.PodCertificateRequestSpec, pod *corev1.Pod) error {
	if has := pod.Spec.ServiceAccountName; has != spec.ServiceAccountName {
		return r.forbiddenf("PodCertificateRequest for pod %q contains serviceAccountName (%q) that differs from running pod (%q)",
			r.podOf(spec), spec.ServiceAccountName, has)
	}
	obj, err := r.listed(serviceAccounts, "serviceaccount", r.Namespace, spec.ServiceAccountName)
	if err != nil {
		name := types.NamespacedName{Namespace: r.Namespace, Name: spec.ServiceAccountName}.String()
		return fmt.Errorf("while retrieving service account %q named in the PodCertificateRequest: %w", name, err)
	}
	if uid := obj.(*corev1.ServiceAccount).UID; uid != spec.ServiceAccountUID {
		return fmt.Errorf("PodCertificateRequest for pod %q names service account UID %q, which differs from the running service account (%q)",
			r.podOf(spec), spec.ServiceAccountUID, uid)
	}
	return nil
}

// checkSigner refuses a request to a signer that no volume of the pod names and that the user has
// no permission for (pull request 140006 of Kubernetes, in v1.37). As rules of RBAC have no
// resource with a slash, the permission has colons, as the names of ClusterTrustBundles have.
func (r nodeWrite) checkSigner(ctx context.Context, spec *certificatesv1.PodCertificateRequestSpec, pod *corev1.Pod) error {
	signer := spec.SignerName
	if r.authorizer == nil || slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return isProjectedSigner(v.Projected, signer) }) {
		return nil
	}
	requested := strings.ReplaceAll(signer, "/", ":")
	switch allowed, err := r.mayRequest(ctx, "request-serviceaccounts-podcertificate-signer", requested, spec.ServiceAccountName); {
	case allowed:
		return nil
	case err != nil:
		return r.forbiddenf("error authorizing %s to request podcertificaterequests for signer %q: %w", r.User.Username, signer, err)
	}
	return r.forbiddenf("pod %q does not mount a podCertificate projected volume for signer %q", r.podOf(spec), signer)
}

func isProjectedSigner(projected *corev1.ProjectedVolumeSource, signer string) bool {
	return projected != nil && slices.ContainsFunc(projected.Sources, func(s corev1.VolumeProjection) bool {
		return s.PodCertificate != nil && s.PodCertificate.SignerName == signer
	})
}
