package fakeapi

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/admission/plugins"
)

// AdmissionFunc reviews a write as an admission webhook does. The request is that of a webhook: the
// new and the stored object as JSON in the version of the request, the operation and the options.
// The response allows the write or not. It may have warnings, a Status for the refusal, and, from a
// mutating function, a patch of the type JSONPatch. A webhook handler of controller-runtime can be
// called from it.
//
// It is called without locks and may send requests to the server. It may be called for several
// requests at a time, and again for the same request after a concurrent write. If it returns nil or
// panics, the request gets 500.
type AdmissionFunc func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Admission is an admission function; see WithAdmission.
type Admission struct {
	// Name identifies the function in refusals.
	Name string
	// Review is the function.
	Review AdmissionFunc
	// Mutating is true for a function whose patches are applied. All mutating functions are called
	// before the others. Patches of the others are ignored.
	Mutating bool
	// SideEffects declares that the function does more than respond. A dry run that would call it
	// is refused (DR-07). All others are called for dry runs, too.
	SideEffects bool
}

// WithAdmission calls functions for each create, update, patch, apply and delete request, for
// objects and subresources, and for each connection to a pod, a service or a node, whose object is
// its options. The mutating functions are called first. The others are called when the server has
// finished the object. Each group is called in the order of the arguments. Functions are not called
// for fixtures and for writes of controllers. A second WithAdmission adds to the first.
func WithAdmission(functions ...Admission) Option {
	return func(o *options) error {
		for _, f := range functions {
			switch {
			case f.Name == "":
				return errors.New("fakeapi: an admission function has no name")
			case f.Review == nil:
				return fmt.Errorf("fakeapi: admission function %q is nil", f.Name)
			}
			o.reviewers = append(o.reviewers, &admission.Reviewer{
				ReviewerName: f.Name, Review: admission.ReviewFunc(f.Review), Mutates: f.Mutating, SideEffects: f.SideEffects,
			})
		}
		return nil
	}
}

// WithAdmissionPlugins enables admission plugins besides those that are enabled by default, like
// the flag --enable-admission-plugins of kube-apiserver. The default is that of kube-apiserver
// without ServiceAccount, as in envtest. A name that is unknown, or that WithoutAdmissionPlugins
// names, too, is an error. These are the plugins, in the order of their calls; * marks those that
// are not enabled by default:
//
//	NamespaceLifecycle              refuses objects in missing and terminating namespaces, and deletes
//	                                of the namespaces that every cluster has
//	NamespaceExists *               refuses updates and deletes in missing namespaces, too
//	LimitPodHardAntiAffinityTopology *  refuses required anti-affinity by more than the host name
//	LimitRanger                     requests and limits by LimitRanges
//	ServiceAccount *                the account of a pod, which must exist, its token and pull secrets
//	NodeRestriction *               limits writes of kubelets to their Node and its pods
//	TaintNodesByCondition           the taint not-ready of new nodes
//	AlwaysPullImages *              the imagePullPolicy Always
//	PodSecurity                     the Pod Security Standards that a namespace has labels for
//	PodNodeSelector *               the node selector of pods by an annotation of their namespace
//	Priority                        priority and preemptionPolicy of pods by PriorityClass
//	DefaultTolerationSeconds        tolerations of pods for nodes that are not ready or unreachable
//	ExtendedResourceToleration *    tolerations of pods for the extended resources that they request
//	DefaultStorageClass             the class of claims without one
//	StorageObjectInUseProtection    finalizers of claims, volumes and attributes classes, which the
//	                                controllers remove when they are not in use
//	OwnerReferencesPermissionEnforcement *  the permission to delete an object whose ownerReferences
//	                                change, and to update the finalizers of an owner that they block
//	PersistentVolumeClaimResize     refuses to expand claims whose class does not allow it
//	RuntimeClass                    overhead, node selector and tolerations of pods by RuntimeClass
//	CertificateApproval             the permission to approve requests of a signer
//	CertificateSigning              the permission to sign requests of a signer
//	ClusterTrustBundleAttest        the permission to write the bundles of a signer
//	CertificateSubjectRestriction   refuses requests for certificates of system:masters
//	DefaultIngressClass             the class of Ingresses without one
//	DenyServiceExternalIPs *        refuses new externalIPs
//	PodTopologyLabels               labels of pods for the zone and region of their node
//	NodeDeclaredFeatureValidator    refuses updates of pods that need features which their node does
//	                                not declare
//	PodResizeValidator              refuses to resize pods to more than their node has
//	MutatingAdmissionPolicy         changes objects by MutatingAdmissionPolicies
//	MutatingAdmissionWebhook        calls the webhooks of MutatingWebhookConfigurations
//	ValidatingAdmissionPolicy       refuses or warns by ValidatingAdmissionPolicies
//	ValidatingAdmissionWebhook      calls the webhooks of ValidatingWebhookConfigurations
//	ResourceQuota                   refuses what exceeds a ResourceQuota
func WithAdmissionPlugins(names ...string) Option {
	return func(o *options) error {
		o.enabledPlugins = append(o.enabledPlugins, names...)
		return nil
	}
}

// WithoutAdmissionPlugins disables admission plugins, like the flag --disable-admission-plugins of
// kube-apiserver; see WithAdmissionPlugins.
func WithoutAdmissionPlugins(names ...string) Option {
	return func(o *options) error {
		o.disabledPlugins = append(o.disabledPlugins, names...)
		return nil
	}
}

// AdmissionPlugins returns the names of the plugins that WithAdmissionPlugins and
// WithoutAdmissionPlugins accept, in the order of their calls.
func AdmissionPlugins() []string { return plugins.Names() }
