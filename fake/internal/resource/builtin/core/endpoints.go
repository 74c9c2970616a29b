//lint:file-ignore SA1019 Endpoints are served

package core

import corev1 "k8s.io/api/core/v1"

func setEndpointsDefaults(e *corev1.Endpoints) {
	for i := range e.Subsets {
		ports := e.Subsets[i].Ports
		for j := range ports {
			if ports[j].Protocol == "" {
				ports[j].Protocol = corev1.ProtocolTCP
			}
		}
	}
}
