package networking

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// ingressClassAnnotation is the annotation that spec.ingressClassName has replaced.
const ingressClassAnnotation = "kubernetes.io/ingress.class"

// ingressOptions are rules that depend on the ingress that an update replaces: what it has already
// stays valid. The zero value has the rules for new ingresses.
type ingressOptions struct {
	// anySecretName accepts malformed names of secrets.
	anySecretName bool
	// anyWildcardRule leaves out the paths of rules for hosts with a wildcard.
	anyWildcardRule bool
}

// validateIngress validates a new ingress. Only a new one is refused for an annotation with another
// class than that of the field.
func validateIngress(ing *networkingv1.Ingress) field.ErrorList {
	var root *validate.Path
	errs := validateIngressSpec(&ing.Spec, ingressOptions{}, root.Child("spec"))
	class, ok := ing.Annotations[ingressClassAnnotation]
	if ok && ing.Spec.IngressClassName != nil && *ing.Spec.IngressClassName != class {
		errs = append(errs, root.Child("annotations").Child(ingressClassAnnotation).Invalid(class, "must match `ingressClassName` when both are specified"))
	}
	return errs
}

// validateIngressUpdate validates an ingress that replaces old.
func validateIngressUpdate(ing, old *networkingv1.Ingress) field.ErrorList {
	var root *validate.Path
	var opts ingressOptions
	for i := range old.Spec.TLS {
		opts.anySecretName = opts.anySecretName || len(validateTLSSecretName(old.Spec.TLS[i].SecretName, root)) > 0
	}
	for i := range old.Spec.Rules {
		rule := &old.Spec.Rules[i]
		opts.anyWildcardRule = opts.anyWildcardRule || isWildcard(rule.Host) && len(validateIngressPaths(rule.HTTP, root)) > 0
	}
	return validateIngressSpec(&ing.Spec, opts, root.Child("spec"))
}

func validateIngressSpec(spec *networkingv1.IngressSpec, opts ingressOptions, p *validate.Path) (errs field.ErrorList) {
	if len(spec.Rules) == 0 && spec.DefaultBackend == nil {
		errs = append(errs, p.Invalid(spec.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	if spec.DefaultBackend != nil {
		errs = append(errs, validateIngressBackend(spec.DefaultBackend, p.Child("defaultBackend"))...)
	}
	for i := range spec.Rules {
		errs = append(errs, validateIngressRule(&spec.Rules[i], opts, p.Child("rules").Index(i))...)
	}
	for i := range spec.TLS {
		errs = append(errs, validateIngressTLS(&spec.TLS[i], opts, p.Child("tls").Index(i))...)
	}
	if spec.IngressClassName != nil {
		errs = append(errs, validate.DNSSubdomain(*spec.IngressClassName, p.Child("ingressClassName"))...)
	}
	return errs
}

// validateIngressTLS validates the hosts and the secret of certificates.
func validateIngressTLS(tls *networkingv1.IngressTLS, opts ingressOptions, p *validate.Path) (errs field.ErrorList) {
	for i, host := range tls.Hosts {
		errs = append(errs, validateHost(host, p.Child("hosts").Index(i))...)
	}
	if !opts.anySecretName {
		errs = append(errs, validateTLSSecretName(tls.SecretName, p.Child("secretName"))...)
	}
	return errs
}

// validateTLSSecretName validates the name of a secret, which may be "".
func validateTLSSecretName(name string, p *validate.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return validate.DNSSubdomain(name, p)
}

// validateIngressRule validates the host of a rule, which may be "", and its paths.
func validateIngressRule(rule *networkingv1.IngressRule, opts ingressOptions, p *validate.Path) (errs field.ErrorList) {
	if rule.Host != "" {
		errs = append(errs, validateNotAddress(rule.Host, p.Child("host"))...)
		errs = append(errs, validateHost(rule.Host, p.Child("host"))...)
	}
	if opts.anyWildcardRule && isWildcard(rule.Host) {
		return errs
	}
	return append(errs, validateIngressPaths(rule.HTTP, p.Child("http"))...)
}

// validateHost validates the name of a host, which may start with a wildcard.
func validateHost(host string, p *validate.Path) field.ErrorList {
	if isWildcard(host) {
		return validate.Messages(host, validation.IsWildcardDNS1123Subdomain(host), p)
	}
	return validate.DNSSubdomain(host, p)
}

func isWildcard(host string) bool { return strings.Contains(host, "*") }

// validateNotAddress validates that the name of a host is not an IP address.
func validateNotAddress(host string, p *validate.Path) field.ErrorList {
	if netutils.ParseIPSloppy(host) == nil {
		return nil
	}
	return field.ErrorList{p.Invalid(host, "must be a DNS name, not an IP address")}
}

// validateIngressPaths validates the paths of a rule, which may have no HTTP part.
func validateIngressPaths(http *networkingv1.HTTPIngressRuleValue, p *validate.Path) (errs field.ErrorList) {
	if http == nil {
		return nil
	}
	if len(http.Paths) == 0 {
		return field.ErrorList{p.Child("paths").Required("")}
	}
	for i := range http.Paths {
		errs = append(errs, validateIngressPath(&http.Paths[i], p.Child("paths").Index(i))...)
	}
	return errs
}

// validateIngressPath validates a path by its type, and the backend.
func validateIngressPath(path *networkingv1.HTTPIngressPath, p *validate.Path) (errs field.ErrorList) {
	if path.PathType == nil {
		return field.ErrorList{p.Child("pathType").Required("pathType must be specified")}
	}
	switch *path.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		errs = append(errs, validateAbsolutePath(path.Path, p.Child("path"))...)
		errs = append(errs, validatePathSegments(path.Path, p.Child("path"))...)
	case networkingv1.PathTypeImplementationSpecific:
		if path.Path != "" {
			errs = append(errs, validateAbsolutePath(path.Path, p.Child("path"))...)
		}
	default:
		errs = append(errs, validate.NotSupported(p.Child("pathType"), *path.PathType,
			networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix))
	}
	return append(errs, validateIngressBackend(&path.Backend, p.Child("backend"))...)
}

func validateAbsolutePath(path string, p *validate.Path) field.ErrorList {
	if strings.HasPrefix(path, "/") {
		return nil
	}
	return field.ErrorList{p.Invalid(path, "must be an absolute path")}
}

// validatePathSegments validates that no segment of a path is empty, "." or "..", and that there is
// no encoded slash.
func validatePathSegments(path string, p *validate.Path) (errs field.ErrorList) {
	for _, sequence := range []string{"//", "/./", "/../", "%2f", "%2F"} {
		if strings.Contains(path, sequence) {
			errs = append(errs, p.Invalid(path, fmt.Sprintf("must not contain '%s'", sequence)))
		}
	}
	for _, suffix := range []string{"/..", "/."} {
		if strings.HasSuffix(path, suffix) {
			errs = append(errs, p.Invalid(path, fmt.Sprintf("cannot end with '%s'", suffix)))
		}
	}
	return errs
}

// validateIngressBackend validates that a backend is either an object or a port of a service.
func validateIngressBackend(backend *networkingv1.IngressBackend, p *validate.Path) field.ErrorList {
	switch {
	case backend.Resource != nil && backend.Service != nil:
		return field.ErrorList{p.Invalid("", "cannot set both resource and service backends")}
	case backend.Resource != nil:
		return validateBackendResource(backend.Resource, p.Child("resource"))
	case backend.Service != nil:
		return validateBackendService(backend.Service, p)
	}
	return field.ErrorList{p.Invalid("", "resource or service backend is required")}
}

// validateBackendService validates a port of a service. p is the path of the backend.
func validateBackendService(service *networkingv1.IngressServiceBackend, p *validate.Path) (errs field.ErrorList) {
	if service.Name == "" {
		errs = append(errs, p.Child("service").Child("name").Required(""))
	} else {
		errs = append(errs, validate.DNSLabel(service.Name, p.Child("service").Child("name"))...)
	}
	port, portPath := service.Port, p.Child("service").Child("port")
	switch {
	case port.Name != "" && port.Number != 0:
		errs = append(errs, p.Invalid("", "cannot set both port name & port number"))
	case port.Name != "":
		errs = append(errs, validate.Messages(port.Name, validation.IsValidPortName(port.Name), portPath.Child("name"))...)
	case port.Number != 0:
		errs = append(errs, validate.PortNumber(port.Number, portPath.Child("number"))...)
	default:
		errs = append(errs, p.Required("port name or number is required"))
	}
	return errs
}

// validateBackendResource validates a reference to an object in the namespace of the ingress.
func validateBackendResource(ref *corev1.TypedLocalObjectReference, p *validate.Path) (errs field.ErrorList) {
	if ref.APIGroup != nil {
		errs = append(errs, validate.DNSSubdomain(*ref.APIGroup, p.Child("apiGroup"))...)
	}
	if ref.Kind == "" {
		errs = append(errs, p.Child("kind").Required("kind is required"))
	}
	errs = append(errs, validatePathSegmentName(ref.Kind, p.Child("kind"))...)
	if ref.Name == "" {
		errs = append(errs, p.Child("name").Required("name is required"))
	}
	return append(errs, validatePathSegmentName(ref.Name, p.Child("name"))...)
}

// validatePathSegmentName validates that a text, which may be "", can be a part of a URL.
func validatePathSegmentName(name string, p *validate.Path) field.ErrorList {
	return validate.Messages(name, content.IsPathSegmentName(name), p)
}

// validateIngressStatusUpdate validates the addresses and host names in a status. Addresses that
// old has stay valid.
func validateIngressStatusUpdate(ing, old *networkingv1.Ingress) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("status").Child("loadBalancer").Child("ingress")
	known := make(map[string]bool, len(old.Status.LoadBalancer.Ingress))
	for _, point := range old.Status.LoadBalancer.Ingress {
		known[point.IP] = true
	}
	for i, point := range ing.Status.LoadBalancer.Ingress {
		if point.IP != "" && !known[point.IP] {
			errs = append(errs, validation.IsValidIPForLegacyField(p.Index(i).Child("ip").Field(), point.IP, true, nil)...)
		}
		if point.Hostname != "" {
			errs = append(errs, validate.DNSSubdomain(point.Hostname, p.Index(i).Child("hostname"))...)
			errs = append(errs, validateNotAddress(point.Hostname, p.Index(i).Child("hostname"))...)
		}
	}
	return errs
}
