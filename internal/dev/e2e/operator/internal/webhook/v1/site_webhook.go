// Package v1 contains the admission webhooks of Sites.
package v1

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

// ProtectedAnnotation is the annotation of a site that cannot be changed or deleted.
const ProtectedAnnotation = "hosting.example.com/protected"

// SetupSiteWebhookWithManager registers the webhooks, that for conversion too.
func SetupSiteWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &hostingv1.Site{}).
		WithDefaulter(&SiteDefaulter{}).
		WithValidator(&SiteValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-hosting-example-com-v1-site,mutating=true,failurePolicy=fail,sideEffects=None,groups=hosting.example.com,resources=sites,verbs=create;update,versions=v1,name=msite-v1.kb.io,admissionReviewVersions=v1

// SiteDefaulter sets defaults that the schema cannot express.
type SiteDefaulter struct{}

// Default gives a site without hosts one that follows from its name, and writes hosts in lower
// case.
func (*SiteDefaulter) Default(_ context.Context, site *hostingv1.Site) error {
	if len(site.Spec.Hosts) == 0 && site.Name != "" {
		site.Spec.Hosts = []string{site.Name + ".sites.example.com"}
	}
	for i, host := range site.Spec.Hosts {
		site.Spec.Hosts[i] = strings.ToLower(host)
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-hosting-example-com-v1-site,mutating=false,failurePolicy=fail,sideEffects=None,groups=hosting.example.com,resources=sites,verbs=create;update;delete,versions=v1,name=vsite-v1.kb.io,admissionReviewVersions=v1

// SiteValidator refuses sites that the schema cannot refuse.
type SiteValidator struct{}

// ValidateCreate refuses the image tag latest.
func (*SiteValidator) ValidateCreate(_ context.Context, site *hostingv1.Site) (admission.Warnings, error) {
	return checkImage(site)
}

// ValidateUpdate refuses changes of a protected site, and the image tag latest. It lets the
// operator remove its finalizer.
func (*SiteValidator) ValidateUpdate(_ context.Context, old, site *hostingv1.Site) (admission.Warnings, error) {
	if site.DeletionTimestamp != nil {
		return nil, nil
	}
	if err := checkProtection(old); err != nil {
		return nil, err
	}
	return checkImage(site)
}

// ValidateDelete refuses to delete a protected site.
func (*SiteValidator) ValidateDelete(_ context.Context, site *hostingv1.Site) (admission.Warnings, error) {
	return admission.Warnings{fmt.Sprintf("the hosts of %s become free", site.Name)}, checkProtection(site)
}

func checkProtection(site *hostingv1.Site) error {
	if site.Annotations[ProtectedAnnotation] != "" {
		return fmt.Errorf("site %s is protected", site.Name)
	}
	return nil
}

func checkImage(site *hostingv1.Site) (admission.Warnings, error) {
	switch _, tag, found := strings.Cut(site.Spec.Image, ":"); {
	case !found:
		return admission.Warnings{"spec.image: an image without a tag can change"}, nil
	case tag == "latest":
		wrong := field.Invalid(field.NewPath("spec", "image"), site.Spec.Image, "the tag latest can change")
		return nil, apierrors.NewInvalid(hostingv1.GroupVersion.WithKind("Site").GroupKind(), site.Name, field.ErrorList{wrong})
	}
	return nil, nil
}
