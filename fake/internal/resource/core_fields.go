package resource

import corev1 "k8s.io/api/core/v1"

func podFields() []Field {
	node := func(p *corev1.Pod) string { return p.Spec.NodeName }
	return []Field{
		stringField("spec.nodeName", node),
		// The name that the field had before v1, which the server still takes.
		stringField("spec.host", node),
		stringField("spec.restartPolicy", func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) }),
		stringField("spec.schedulerName", func(p *corev1.Pod) string { return p.Spec.SchedulerName }),
		stringField("spec.serviceAccountName", func(p *corev1.Pod) string { return p.Spec.ServiceAccountName }),
		boolField("spec.hostNetwork", func(p *corev1.Pod) bool { return p.Spec.HostNetwork }),
		stringField("status.phase", func(p *corev1.Pod) string { return string(p.Status.Phase) }),
		stringField("status.podIP", podIP),
		// The server takes this label and has no value for it.
		stringField("status.podIPs", func(*corev1.Pod) string { return "" }),
		stringField("status.nominatedNodeName", func(p *corev1.Pod) string { return p.Status.NominatedNodeName }),
	}
}

// podIP is the first address, which a pod may have in either of two fields.
func podIP(p *corev1.Pod) string {
	if p.Status.PodIP == "" && len(p.Status.PodIPs) > 0 {
		return p.Status.PodIPs[0].IP
	}
	return p.Status.PodIP
}

func namespaceFields() []Field {
	return []Field{
		stringField("status.phase", func(n *corev1.Namespace) string { return string(n.Status.Phase) }),
	}
}

func nodeFields() []Field {
	return []Field{
		boolField("spec.unschedulable", func(n *corev1.Node) bool { return n.Spec.Unschedulable }),
	}
}

func replicationControllerFields() []Field {
	return []Field{
		intField("status.replicas", func(r *corev1.ReplicationController) int32 { return r.Status.Replicas }),
	}
}

func secretFields() []Field {
	return []Field{
		stringField("type", func(s *corev1.Secret) string { return string(s.Type) }),
	}
}

func serviceFields() []Field {
	return []Field{
		stringField("spec.clusterIP", func(s *corev1.Service) string { return s.Spec.ClusterIP }),
		stringField("spec.type", func(s *corev1.Service) string { return string(s.Spec.Type) }),
	}
}
