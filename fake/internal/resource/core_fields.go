package resource

import corev1 "k8s.io/api/core/v1"

func podFields() []Field {
	node := func(p *corev1.Pod) string { return p.Spec.NodeName }
	return []Field{
		StringField("spec.nodeName", node),
		// The name that the field had before v1, which the server still takes.
		StringField("spec.host", node),
		StringField("spec.restartPolicy", func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) }),
		StringField("spec.schedulerName", func(p *corev1.Pod) string { return p.Spec.SchedulerName }),
		StringField("spec.serviceAccountName", func(p *corev1.Pod) string { return p.Spec.ServiceAccountName }),
		BoolField("spec.hostNetwork", func(p *corev1.Pod) bool { return p.Spec.HostNetwork }),
		StringField("status.phase", func(p *corev1.Pod) string { return string(p.Status.Phase) }),
		StringField("status.podIP", podIP),
		// The server takes this label and has no value for it.
		StringField("status.podIPs", func(*corev1.Pod) string { return "" }),
		StringField("status.nominatedNodeName", func(p *corev1.Pod) string { return p.Status.NominatedNodeName }),
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
		StringField("status.phase", func(n *corev1.Namespace) string { return string(n.Status.Phase) }),
	}
}

func nodeFields() []Field {
	return []Field{
		BoolField("spec.unschedulable", func(n *corev1.Node) bool { return n.Spec.Unschedulable }),
	}
}

func replicationControllerFields() []Field {
	return []Field{
		IntField("status.replicas", func(r *corev1.ReplicationController) int32 { return r.Status.Replicas }),
	}
}

func secretFields() []Field {
	return []Field{
		StringField("type", func(s *corev1.Secret) string { return string(s.Type) }),
	}
}

func serviceFields() []Field {
	return []Field{
		StringField("spec.clusterIP", func(s *corev1.Service) string { return s.Spec.ClusterIP }),
		StringField("spec.type", func(s *corev1.Service) string { return string(s.Spec.Type) }),
	}
}
