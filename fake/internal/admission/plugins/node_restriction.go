package plugins

import (
	"context"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/diff"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/authz/node"
	"example.com/fakeapi/fake/internal/resource"
)

var (
	leases         = coordinationv1.SchemeGroupVersion.WithResource("leases")
	csiNodes       = storagev1.SchemeGroupVersion.WithResource("csinodes")
	resourceSlices = resourcev1.SchemeGroupVersion.WithResource("resourceslices")
)

// nodeRestriction limits the writes of kubelets to their Node, its pods and what belongs to it.
type nodeRestriction struct {
	objects    Objects
	authorizer authz.Authorizer
}

func newNodeRestriction(d Dependencies) admission.Interface {
	return &nodeRestriction{d.Objects, d.Authorizer}
}

func (p *nodeRestriction) Name() string { return "NodeRestriction" }

func (p *nodeRestriction) Handles(attrs *admission.Attributes) bool {
	return attrs.Operation != admissionv1.Connect && slices.Contains([]schema.GroupResource{
		pods.GroupResource(), nodes.GroupResource(), claims.GroupResource(), serviceAccounts.GroupResource(), leases.GroupResource(),
		csiNodes.GroupResource(), resourceSlices.GroupResource(), signingRequests.GroupResource(), podCertificateRequests.GroupResource(),
	}, attrs.GroupResource())
}

func (p *nodeRestriction) Admit(ctx context.Context, attrs *admission.Attributes) error {
	name, isNode := node.NameOf(authn.NewInfo(attrs.User))
	switch {
	case !isNode:
		return nil
	case name == "":
		return forbiddenf(attrs, "could not determine node from user %q", attrs.User.Username)
	}
	r := nodeWrite{attrs, p.objects, p.authorizer, name}
	switch attrs.GroupResource() {
	case pods.GroupResource():
		return r.pod()
	case nodes.GroupResource():
		return r.nodeObject()
	case claims.GroupResource():
		return r.claim()
	case serviceAccounts.GroupResource():
		return r.token(ctx)
	case leases.GroupResource():
		return r.lease()
	case csiNodes.GroupResource():
		return r.csiNode()
	case resourceSlices.GroupResource():
		return r.resourceSlice()
	case signingRequests.GroupResource():
		return r.signingRequest()
	case podCertificateRequests.GroupResource():
		return r.podCertificateRequest(ctx)
	}
	return nil
}

// nodeWrite is a write of the kubelet of a node.
type nodeWrite struct {
	*admission.Attributes
	objects    Objects
	authorizer authz.Authorizer
	node       string
}

func (r nodeWrite) forbiddenf(format string, args ...any) error {
	return forbiddenf(r.Attributes, format, args...)
}

// objectName returns the name of the object, which the path of a create does not have.
func (r nodeWrite) objectName() string {
	if r.Operation == admissionv1.Create && r.Object != nil {
		return resource.Accessor(r.Object).GetName()
	}
	return r.Name
}

// nodeObject limits the write of a Node to that of the kubelet. Taints and labels of others stay.
func (r nodeWrite) nodeObject() error {
	if name := r.objectName(); name != r.node {
		return r.forbiddenf("node %q is not allowed to modify node %q", r.node, name)
	}
	now, ok := r.Object.(*corev1.Node)
	if !ok { // a delete
		return nil
	}
	old, isUpdate := r.OldObject.(*corev1.Node)
	if !isUpdate {
		//lint:ignore SA1019 kube-apiserver still refuses it
		if now.Spec.ConfigSource != nil {
			return r.forbiddenf("node %q is not allowed to create pods with a non-nil configSource", r.node)
		}
		if labels := forbiddenLabels(now.Labels, nil); len(labels) > 0 {
			return r.forbiddenf("node %q is not allowed to set the following labels: %s", r.node, strings.Join(labels, ", "))
		}
		return nil
	}
	//lint:ignore SA1019 kube-apiserver still refuses it
	source, oldSource := now.Spec.ConfigSource, old.Spec.ConfigSource
	switch labels := forbiddenLabels(now.Labels, old.Labels); {
	case source != nil && !equality.Semantic.DeepEqual(source, oldSource):
		return r.forbiddenf("node %q is not allowed to update configSource to a new non-nil configSource", r.node)
	case !equality.Semantic.DeepEqual(now.Spec.Taints, old.Spec.Taints):
		return r.forbiddenf("node %q is not allowed to modify taints", r.node)
	case !equality.Semantic.DeepEqual(now.OwnerReferences, old.OwnerReferences):
		return r.forbiddenf("node %q is not allowed to modify ownerReferences", r.node)
	case len(labels) > 0:
		return r.forbiddenf("is not allowed to modify labels: %s", strings.Join(labels, ", "))
	}
	return nil
}

// forbiddenLabels returns the labels that differ and that a kubelet may not set: those of
// Kubernetes that are not for kubelets, sorted.
func forbiddenLabels(now, old map[string]string) (forbidden []string) {
	all := maps.Clone(old)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, now)
	for _, label := range slices.Sorted(maps.Keys(all)) {
		before, existed := old[label]
		after, exists := now[label]
		if (existed != exists || before != after) && !isAllowedLabel(label) {
			forbidden = append(forbidden, label)
		}
	}
	return forbidden
}

func isAllowedLabel(label string) bool {
	prefix, _, _ := strings.Cut(label, "/")
	if prefix == label {
		return true
	}
	switch {
	case isBelow(prefix, corev1.LabelNamespaceNodeRestriction):
		return false
	case !isBelow(prefix, "kubernetes.io") && !isBelow(prefix, "k8s.io"):
		return true
	}
	return isBelow(prefix, corev1.LabelNamespaceSuffixKubelet) || isBelow(prefix, corev1.LabelNamespaceSuffixNode) ||
		slices.Contains(kubeletLabels(), label)
}

// isBelow reports whether a domain is base or a subdomain of it.
func isBelow(domain, base string) bool { return domain == base || strings.HasSuffix(domain, "."+base) }

// kubeletLabels returns the labels of Kubernetes that a kubelet sets, besides those of whole
// domains.
func kubeletLabels() []string {
	return []string{
		corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
		corev1.LabelInstanceType, corev1.LabelInstanceTypeStable, corev1.LabelOSStable, corev1.LabelArchStable,
		"beta.kubernetes.io/os", "beta.kubernetes.io/arch",
	}
}

// claim limits the write of a claim to the capacity and the conditions of its status.
func (r nodeWrite) claim() error {
	switch {
	case r.Subresource != "status":
		return r.forbiddenf("may only update PVC status")
	case r.Operation != admissionv1.Update:
		return r.forbiddenf("unexpected operation %q", r.Operation)
	}
	old, now := claimWithoutCapacity(r.OldObject), claimWithoutCapacity(r.Object)
	if !equality.Semantic.DeepEqual(old, now) {
		return r.forbiddenf("node %q is not allowed to update fields other than status.quantity and status.conditions: %v", r.node, diff.Diff(old, now))
	}
	return nil
}

// claimWithoutCapacity returns a claim without the fields that a kubelet writes.
func claimWithoutCapacity(obj any) *corev1.PersistentVolumeClaim {
	c := obj.(*corev1.PersistentVolumeClaim).DeepCopy()
	c.ResourceVersion, c.ManagedFields = "", nil
	c.Status.Capacity, c.Status.Conditions = nil, nil
	c.Status.AllocatedResourceStatuses, c.Status.AllocatedResources = nil, nil
	return c
}

func (r nodeWrite) lease() error {
	switch {
	case r.Namespace != corev1.NamespaceNodeLease:
		return r.forbiddenf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
	case r.objectName() != r.node:
		return r.forbiddenf("can only access node lease with the same name as the requesting node")
	}
	return nil
}

// csiNode limits writes to the CSINode of the node. With the default feature gates a kubelet does
// not write its status.
func (r nodeWrite) csiNode() error {
	switch {
	case r.objectName() != r.node:
		return r.forbiddenf("can only access CSINode with the same name as the requesting node")
	case r.Subresource == "status":
		return r.forbiddenf("CSIVolumeHealth feature gate is disabled")
	}
	return nil
}

// resourceSlice limits creates and deletes to the slices of the node. The authorizer limits
// updates.
func (r nodeWrite) resourceSlice() error {
	obj, verb := r.Object, "create"
	switch r.Operation {
	case admissionv1.Delete:
		obj, verb = r.OldObject, "delete"
	case admissionv1.Update:
		return nil
	}
	if slice, ok := obj.(*resourcev1.ResourceSlice); ok && (slice.Spec.NodeName == nil || *slice.Spec.NodeName != r.node) {
		return r.forbiddenf("can only %s ResourceSlice with the same NodeName as the requesting node", verb)
	}
	return nil
}

// signingRequest limits requests for certificates of kubelets to that of the node.
func (r nodeWrite) signingRequest() error {
	request, ok := r.Object.(*certificatesv1.CertificateSigningRequest)
	if !ok || r.Operation != admissionv1.Create || r.Subresource != "" {
		return nil
	}
	if s := request.Spec.SignerName; s != certificatesv1.KubeletServingSignerName && s != certificatesv1.KubeAPIServerClientKubeletSignerName {
		return nil
	}
	parsed, err := parseCertificateRequest(request.Spec.Request)
	switch {
	case err != nil:
		return r.forbiddenf("unable to parse csr: %w", err)
	case parsed.Subject.CommonName != r.User.Username:
		return r.forbiddenf("can only create a node CSR with CN=system:node:%s", r.node)
	}
	return nil
}
