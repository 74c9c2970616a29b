package table

import (
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"
)

// defaultIngressClass is the annotation of the class of ingresses that name none.
const defaultIngressClass = networkingv1.AnnotationIsDefaultIngressClass

func ingressPrinters() []entry {
	gv := networkingv1.SchemeGroupVersion
	return []entry{
		newEntry(gv, ingressCells,
			named(),
			text("Class", "The name of the IngressClass resource that should be used for additional configuration"),
			text("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
			text("Address", "Address is a list containing ingress points for the load-balancer"),
			text("Ports", "Ports of TLS configurations that open"),
			age(),
		),
		newEntry(gv, ingressClassCells,
			named(),
			text("Controller", "Controller that is responsible for handling this class"),
			text("Parameters", "A reference to a resource with additional parameters"),
			age(),
		),
	}
}

func ingressCells(i *networkingv1.Ingress) []any {
	var points []string
	for _, p := range i.Status.LoadBalancer.Ingress {
		points = append(points, orDefault(p.IP, p.Hostname))
	}
	ports := "80"
	if len(i.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	return []any{
		i.Name, ptr.Deref(i.Spec.IngressClassName, none), hosts(i.Spec.Rules), distinct(points), ports, since(i.CreationTimestamp),
	}
}

// hosts returns the first hosts of an ingress, and the number of further rules, with or without a
// host.
func hosts(rules []networkingv1.IngressRule) string {
	const most = 3
	var names []string
	for _, rule := range rules {
		if len(names) == most {
			return fmt.Sprintf("%s + %d more...", strings.Join(names, ","), len(rules)-most)
		}
		if rule.Host != "" {
			names = append(names, rule.Host)
		}
	}
	return orDefault(strings.Join(names, ","), "*")
}

func ingressClassCells(c *networkingv1.IngressClass) []any {
	name := c.Name
	if c.Annotations[defaultIngressClass] == "true" {
		name += defaultMark
	}
	parameters := none
	if p := c.Spec.Parameters; p != nil {
		parameters = p.Kind
		if p.APIGroup != nil {
			parameters += "." + *p.APIGroup
		}
		parameters += "/" + p.Name
	}
	return []any{name, c.Spec.Controller, parameters, since(c.CreationTimestamp)}
}
