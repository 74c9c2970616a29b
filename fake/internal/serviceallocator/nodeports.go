package serviceallocator

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// allocateNodePorts allocates the node ports and the healthCheckNodePort of a new Service.
func (op *operation) allocateNodePorts(service *corev1.Service) error {
	if needsNodePort(service) {
		if err := op.initNodePorts(service); err != nil {
			return err
		}
	}
	if needsHealthCheck(service) {
		return op.allocateHealthCheckNodePort(service)
	}
	return nil
}

// initNodePorts allocates the node ports of a new Service. Ports with the same number, which have
// different protocols, get the same node port.
func (op *operation) initNodePorts(service *corev1.Service) error {
	byPort := map[int32]int32{} // node ports by port
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		if p.NodePort == 0 && !allocatesNodePorts(service) {
			continue
		}
		shared := byPort[p.Port]
		switch {
		case shared == 0:
			if err := op.initNodePort(service, i); err != nil {
				return err
			}
			byPort[p.Port] = p.NodePort
		case p.NodePort == 0:
			p.NodePort = shared
		case p.NodePort != shared:
			if err := op.allocatePort(p.NodePort); err != nil {
				return invalidNodePort(service, i, p.NodePort, err)
			}
		}
	}
	return nil
}

// initNodePort allocates the node port of the first port with its number: the one that it or a
// later port with that number asks for, or any.
func (op *operation) initNodePort(service *corev1.Service, i int) error {
	p := &service.Spec.Ports[i]
	for _, other := range service.Spec.Ports {
		if other.Port == p.Port && other.NodePort != 0 {
			if err := op.allocatePort(other.NodePort); err != nil {
				return invalidNodePort(service, i, other.NodePort, err)
			}
			p.NodePort = other.NodePort
			return nil
		}
	}
	return op.setNextNodePort(p)
}

// setNextNodePort allocates any node port for p.
func (op *operation) setNextNodePort(p *corev1.ServicePort) error {
	number, err := op.allocateNextPort()
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
	}
	p.NodePort = number
	return nil
}

// serviceNodePort is a node port in the text of an error.
type serviceNodePort struct {
	Protocol corev1.Protocol
	NodePort int32
}

// updateNodePorts allocates the node ports and the healthCheckNodePort that a Service needs besides
// those of old.
func (op *operation) updateNodePorts(service, old *corev1.Service) error {
	if needsNodePort(service) {
		if err := op.allocateNewNodePorts(service, nodePorts(old)); err != nil {
			return err
		}
	}
	if needsHealthCheck(service) && !needsHealthCheck(old) {
		return op.allocateHealthCheckNodePort(service)
	}
	return nil
}

// allocateNewNodePorts allocates the node ports of a Service that are not in allocated.
func (op *operation) allocateNewNodePorts(service *corev1.Service, allocated []int32) error {
	var seen []serviceNodePort
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		switch {
		case p.NodePort == 0 && !allocatesNodePorts(service):
			continue
		case p.NodePort == 0:
			if err := op.setNextNodePort(p); err != nil {
				return err
			}
		case !slices.Contains(allocated, p.NodePort):
			if err := op.allocatePort(p.NodePort); err != nil {
				return invalidNodePort(service, i, p.NodePort, err)
			}
			allocated = append(slices.Clone(allocated), p.NodePort)
		}
		number := serviceNodePort{p.Protocol, p.NodePort}
		if slices.Contains(seen, number) {
			return fmt.Errorf("duplicate nodePort: %v", number)
		}
		seen = append(seen, number)
	}
	return nil
}

// allocateHealthCheckNodePort allocates the healthCheckNodePort of a Service.
func (op *operation) allocateHealthCheckNodePort(service *corev1.Service) error {
	if number := service.Spec.HealthCheckNodePort; number != 0 {
		if err := op.allocatePort(number); err != nil {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %v: %w", number, err))
		}
		return nil
	}
	number, err := op.allocateNextPort()
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a HealthCheck NodePort %v: %w", number, err))
	}
	service.Spec.HealthCheckNodePort = number
	return nil
}

// allocatesNodePorts reports whether ports that do not ask for a node port get one.
func allocatesNodePorts(service *corev1.Service) bool {
	allocate := service.Spec.AllocateLoadBalancerNodePorts
	return needsNodePort(service) &&
		(service.Spec.Type != corev1.ServiceTypeLoadBalancer || allocate == nil || *allocate)
}

func invalidNodePort(service *corev1.Service, i int, number int32, err error) error {
	return invalid(service, field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), number, err.Error()))
}

// errPortAllocated is the error for a port that is in use.
var errPortAllocated = errors.New("provided port is already allocated")
