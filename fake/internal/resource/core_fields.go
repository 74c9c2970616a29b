package resource

import corev1 "k8s.io/api/core/v1"

func podFields() []Field {
	node := func(p *corev1.Pod) string { return p.Spec.NodeName }
	return []Field{
		textField("spec.nodeName", node),
		// The name that the field had before v1, which the server still takes.
		textField("spec.host", node),
		textField("spec.restartPolicy", func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) }),
		textField("spec.schedulerName", func(p *corev1.Pod) string { return p.Spec.SchedulerName }),
		textField("spec.serviceAccountName", func(p *corev1.Pod) string { return p.Spec.ServiceAccountName }),
		boolField("spec.hostNetwork", func(p *corev1.Pod) bool { return p.Spec.HostNetwork }),
		textField("status.phase", func(p *corev1.Pod) string { return string(p.Status.Phase) }),
		textField("status.podIP", podIP),
		// The server takes this label and has no value for it.
		textField("status.podIPs", func(*corev1.Pod) string { return "" }),
		textField("status.nominatedNodeName", func(p *corev1.Pod) string { return p.Status.NominatedNodeName }),
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
		textField("status.phase", func(n *corev1.Namespace) string { return string(n.Status.Phase) }),
	}
}

func nodeFields() []Field {
	return []Field{
		boolField("spec.unschedulable", func(n *corev1.Node) bool { return n.Spec.Unschedulable }),
	}
}

func replicationControllerFields() []Field {
	return []Field{
		countField("status.replicas", func(r *corev1.ReplicationController) int32 { return r.Status.Replicas }),
	}
}

func secretFields() []Field {
	return []Field{
		textField("type", func(s *corev1.Secret) string { return string(s.Type) }),
	}
}

func serviceFields() []Field {
	return []Field{
		textField("spec.clusterIP", func(s *corev1.Service) string { return s.Spec.ClusterIP }),
		textField("spec.type", func(s *corev1.Service) string { return string(s.Spec.Type) }),
	}
}
