package plugins

import (
	"context"
	"errors"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/warning"
	podsecurity "k8s.io/pod-security-admission/admission"
	podsecurityconfig "k8s.io/pod-security-admission/admission/api"
	podsecurityapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// podSecurityLabels precedes the labels of namespaces that PodSecurity reads.
const podSecurityLabels = "pod-security.kubernetes.io/"

// podSecurity evaluates the Pod Security Standards that the labels of a namespace name. Pods are
// refused, objects that create pods get warnings. A namespace without these labels allows all.
type podSecurity struct {
	objects Objects
	specs   podsecurity.PodSpecExtractor
	library func() *podsecurity.Admission
}

func newPodSecurity(d Dependencies) admission.Interface {
	return &podSecurity{d.Objects, podsecurity.DefaultPodSpecExtractor{}, sync.OnceValue(func() *podsecurity.Admission {
		return newPodSecurityLibrary(d.Objects)
	})}
}

// newPodSecurityLibrary returns the library with the configuration that kube-apiserver has by
// default: everything is allowed, and nothing is exempt.
func newPodSecurityLibrary(objects Objects) *podsecurity.Admission {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err) // the checks are those of the library
	}
	defaults := podsecurityconfig.PodSecurityDefaults{
		Enforce: string(podsecurityapi.LevelPrivileged), EnforceVersion: podsecurityapi.VersionLatest,
		Audit: string(podsecurityapi.LevelPrivileged), AuditVersion: podsecurityapi.VersionLatest,
		Warn: string(podsecurityapi.LevelPrivileged), WarnVersion: podsecurityapi.VersionLatest,
	}
	library := &podsecurity.Admission{
		Configuration: &podsecurityconfig.PodSecurityConfiguration{Defaults: defaults}, Evaluator: evaluator, Metrics: noMetrics{},
		NamespaceGetter: podSecurityObjects{objects}, PodLister: podSecurityObjects{objects},
	}
	if err := library.CompleteConfiguration(); err != nil {
		panic(err) // the configuration is a constant
	}
	return library
}

func (p *podSecurity) Name() string { return "PodSecurity" }

func (p *podSecurity) Handles(attrs *admission.Attributes) bool {
	if attrs.Operation != admissionv1.Create && attrs.Operation != admissionv1.Update {
		return false
	}
	res := attrs.GroupResource()
	return res == namespaces.GroupResource() || p.specs.HasPodSpec(res)
}

func (p *podSecurity) Validate(ctx context.Context, attrs *admission.Attributes) error {
	if !p.isAffected(attrs) && !audit.AuditContextFrom(ctx).Enabled() {
		return nil
	}
	response := p.library().Validate(ctx, podSecurityAttributes{attrs})
	for key, value := range response.AuditAnnotations {
		audit.AddAuditAnnotation(ctx, podsecurityapi.AuditAnnotationPrefix+key, value)
	}
	for _, text := range response.Warnings {
		warning.AddWarning(ctx, "", text)
	}
	if response.Allowed {
		return nil
	}
	refusal := &apierrors.StatusError{}
	if !errors.As(forbiddenf(attrs, "Not allowed by PodSecurity"), &refusal) || response.Result == nil {
		return refusal
	}
	refusal.ErrStatus.Message, refusal.ErrStatus.Reason = response.Result.Message, response.Result.Reason
	refusal.ErrStatus.Code = response.Result.Code
	if response.Result.Details != nil {
		refusal.ErrStatus.Details = response.Result.Details
	}
	return refusal
}

// isAffected reports whether the namespace has labels of PodSecurity, which most do not have, or
// does not exist, so that pods are refused. For the update of a namespace it may have had them.
func (p *podSecurity) isAffected(attrs *admission.Attributes) bool {
	if attrs.GroupResource() != namespaces.GroupResource() {
		rec := p.objects.Record(namespaces, "", attrs.Namespace)
		return rec == nil || hasPodSecurityLabels(rec)
	}
	for _, obj := range [...]runtime.Object{attrs.Object, attrs.OldObject} {
		if obj == nil {
			continue
		}
		for key := range resource.Accessor(obj).GetLabels() {
			if strings.HasPrefix(key, podSecurityLabels) {
				return true
			}
		}
	}
	return false
}

func hasPodSecurityLabels(rec *memstore.Record) bool {
	for _, pair := range rec.Labels {
		if strings.HasPrefix(pair.Key, podSecurityLabels) {
			return true
		}
	}
	return false
}

// podSecurityObjects are the stored objects that the library reads.
type podSecurityObjects struct {
	objects Objects
}

// GetNamespace returns a namespace, or NotFound.
func (o podSecurityObjects) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	obj, err := o.objects.Get(namespaces, "", name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}

// ListPods returns the pods in a namespace.
func (o podSecurityObjects) ListPods(_ context.Context, namespace string) ([]*corev1.Pod, error) {
	objects, err := o.objects.List(pods, namespace)
	if err != nil {
		return nil, err
	}
	list := make([]*corev1.Pod, len(objects))
	for i, obj := range objects {
		list[i] = obj.(*corev1.Pod)
	}
	return list, nil
}

// noMetrics counts nothing.
type noMetrics struct{}

func (noMetrics) RecordEvaluation(metrics.Decision, podsecurityapi.LevelVersion, metrics.Mode, podsecurityapi.Attributes) {
}
func (noMetrics) RecordExemption(podsecurityapi.Attributes)   {}
func (noMetrics) RecordError(bool, podsecurityapi.Attributes) {}
