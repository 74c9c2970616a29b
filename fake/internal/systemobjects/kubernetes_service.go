//lint:file-ignore SA1019 Endpoints are served

package systemobjects

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/fakeapi/fake/internal/serviceallocator"
)

// The Service kubernetes in the namespace default leads to the API server.
const (
	serviceName = "kubernetes"
	portName    = "https"
	servicePort = 443
	// address is the address of the API server.
	address = "127.0.0.1"
)

// KubernetesServiceIP returns the cluster IP of the Service kubernetes.
func (c *Config) KubernetesServiceIP() netip.Addr { return c.ServiceCIDRs[0].Addr().Next() }

// kubernetesService returns the Service kubernetes, its address, its endpoints in both forms, and
// the ranges of cluster IPs.
func (c *Config) kubernetesService() []runtime.Object {
	addr := c.KubernetesServiceIP()
	ip := addr.String()
	family := corev1.IPv4Protocol
	if addr.Is6() {
		family = corev1.IPv6Protocol
	}
	meta := metav1.ObjectMeta{Name: serviceName, Namespace: metav1.NamespaceDefault}
	service := &corev1.Service{
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			Type:      corev1.ServiceTypeClusterIP,
			ClusterIP: ip, ClusterIPs: []string{ip},
			IPFamilies:     []corev1.IPFamily{family},
			IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack),
			Ports:          []corev1.ServicePort{{Name: portName, Protocol: corev1.ProtocolTCP, Port: servicePort, TargetPort: intstr.FromInt32(c.Port)}},
		},
	}
	service.Labels = map[string]string{"component": "apiserver", "provider": "kubernetes"}

	endpoints := &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{{
		Addresses: []corev1.EndpointAddress{{IP: address}},
		Ports:     []corev1.EndpointPort{{Name: portName, Port: c.Port, Protocol: corev1.ProtocolTCP}},
	}}}
	endpoints.Labels = map[string]string{discoveryv1.LabelSkipMirror: "true"}

	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}},
		Ports:     []discoveryv1.EndpointPort{{Name: new(portName), Port: &c.Port, Protocol: new(corev1.ProtocolTCP)}},
	}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: serviceName}

	cidr := serviceallocator.Config{ServiceClusterIPRange: c.ServiceCIDRs}.DefaultServiceCIDR(placeholderTime)
	return []runtime.Object{cidr, serviceallocator.NewIPAddress(service, addr), service, endpoints, slice}
}
