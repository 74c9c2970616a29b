package core

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource"
)

func podFields() []resource.Field {
	node := func(p *corev1.Pod) string { return p.Spec.NodeName }
	return []resource.Field{
		resource.StringField("spec.nodeName", node),
		// The name of the field before v1, which a server still accepts.
		resource.StringField("spec.host", node),
		resource.StringField("spec.restartPolicy", func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) }),
		resource.StringField("spec.schedulerName", func(p *corev1.Pod) string { return p.Spec.SchedulerName }),
		resource.StringField("spec.serviceAccountName", func(p *corev1.Pod) string { return p.Spec.ServiceAccountName }),
		resource.BoolField("spec.hostNetwork", func(p *corev1.Pod) bool { return p.Spec.HostNetwork }),
		resource.StringField("status.phase", func(p *corev1.Pod) string { return string(p.Status.Phase) }),
		resource.StringField("status.podIP", podIP),
		// A server accepts this label, and its value is always empty.
		resource.StringField("status.podIPs", func(*corev1.Pod) string { return "" }),
		resource.StringField("status.nominatedNodeName", func(p *corev1.Pod) string { return p.Status.NominatedNodeName }),
	}
}

// podIP returns the first address, which is in one of two fields.
func podIP(p *corev1.Pod) string {
	if p.Status.PodIP == "" && len(p.Status.PodIPs) > 0 {
		return p.Status.PodIPs[0].IP
	}
	return p.Status.PodIP
}

func namespaceFields() []resource.Field {
	return []resource.Field{
		resource.StringField("status.phase", func(n *corev1.Namespace) string { return string(n.Status.Phase) }),
	}
}

func nodeFields() []resource.Field {
	return []resource.Field{
		resource.BoolField("spec.unschedulable", func(n *corev1.Node) bool { return n.Spec.Unschedulable }),
	}
}

func replicationControllerFields() []resource.Field {
	return []resource.Field{
		resource.IntField("status.replicas", func(r *corev1.ReplicationController) int32 { return r.Status.Replicas }),
	}
}

func secretFields() []resource.Field {
	return []resource.Field{
		resource.StringField("type", func(s *corev1.Secret) string { return string(s.Type) }),
	}
}

func serviceFields() []resource.Field {
	return []resource.Field{
		resource.StringField("spec.clusterIP", func(s *corev1.Service) string { return s.Spec.ClusterIP }),
		resource.StringField("spec.type", func(s *corev1.Service) string { return string(s.Spec.Type) }),
	}
}
