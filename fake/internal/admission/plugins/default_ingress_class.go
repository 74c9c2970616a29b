package plugins

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"example.com/fakeapi/fake/internal/admission"
)

var (
	ingresses      = networkingv1.SchemeGroupVersion.WithResource("ingresses")
	ingressClasses = networkingv1.SchemeGroupVersion.WithResource("ingressclasses")
)

// ingressClassAnnotation is the way to name the class of an Ingress before it had a field for it.
const ingressClassAnnotation = "kubernetes.io/ingress.class"

// defaultIngressClass sets the class of Ingresses without one.
type defaultIngressClass struct {
	objects Objects
}

func newDefaultIngressClass(d Dependencies) admission.Interface {
	return &defaultIngressClass{d.Objects}
}

func (p *defaultIngressClass) Name() string { return "DefaultIngressClass" }

func (p *defaultIngressClass) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, ingresses, admissionv1.Create)
}

func (p *defaultIngressClass) Admit(_ context.Context, attrs *admission.Attributes) error {
	ingress := attrs.Object.(*networkingv1.Ingress)
	if _, ok := ingress.Annotations[ingressClassAnnotation]; ok || ingress.Spec.IngressClassName != nil {
		return nil
	}
	name, err := newestDefault(p.objects, ingressClasses, networkingv1.AnnotationIsDefaultIngressClass)
	if err != nil {
		return forbidden(attrs, err)
	}
	ingress.Spec.IngressClassName = name
	return nil
}
