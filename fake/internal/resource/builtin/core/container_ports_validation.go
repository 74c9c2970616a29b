package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateContainerPorts validates the ports of a container.
func validateContainerPorts(ports []corev1.ContainerPort, p *validate.Path) (errs field.ErrorList) {
	var names smallSet[string]
	for i := range ports {
		port, at := &ports[i], p.Index(i)
		if port.Name != "" {
			if messages := validation.IsValidPortName(port.Name); len(messages) > 0 {
				errs = append(errs, validate.Messages(port.Name, messages, at.Child("name"))...)
			} else if !names.add(port.Name) {
				errs = append(errs, at.Child("name").Duplicate(port.Name))
			}
		}
		if port.ContainerPort == 0 {
			errs = append(errs, at.Child("containerPort").Required(""))
		} else {
			errs = append(errs, validate.PortNumber(port.ContainerPort, at.Child("containerPort"))...)
		}
		if port.HostPort != 0 {
			errs = append(errs, validate.PortNumber(port.HostPort, at.Child("hostPort"))...)
		}
		errs = append(errs, validatePortProtocol(port.Protocol, at.Child("protocol"))...)
	}
	return errs
}

// validatePortProtocol validates the protocol of a port.
func validatePortProtocol(protocol corev1.Protocol, p *validate.Path) field.ErrorList {
	switch protocol {
	case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
		return nil
	case "":
		return field.ErrorList{p.Required("")}
	}
	return field.ErrorList{validate.NotSupported(p, protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)}
}

// hostPort is a port of the node that a container uses.
type hostPort struct {
	protocol corev1.Protocol
	ip       string
	port     int32
}

// validateHostPortsUnique validates that the ports of a container do not use the same ports of the
// node, nor those in use. It adds them to inUse. p is the path of the container.
func validateHostPortsUnique(ports []corev1.ContainerPort, inUse *smallSet[hostPort], p *validate.Path) (errs field.ErrorList) {
	for i := range ports {
		h := hostPort{ports[i].Protocol, ports[i].HostIP, ports[i].HostPort}
		if h.port != 0 && !inUse.add(h) {
			errs = append(errs, p.Child("ports").Index(i).Child("hostPort").Duplicate(fmt.Sprintf("%s/%s/%d", h.protocol, h.ip, h.port)))
		}
	}
	return errs
}
