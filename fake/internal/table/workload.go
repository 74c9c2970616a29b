package table

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// workloadPrinters returns the printers of workloads. The descriptions of those in the group apps
// are of older versions, as on a real server.
func workloadPrinters() []entry {
	gv := appsv1.SchemeGroupVersion
	template := containerColumns()
	selector := func(of documented) metav1.TableColumnDefinition {
		return wide(text("Selector", describes(of, "selector")))
	}
	return []entry{
		newEntry(gv, deploymentCells,
			named(), text("Ready", "Number of the pod with ready state"),
			text("Up-to-date", describes(extensionsv1beta1.DeploymentStatus{}, "updatedReplicas")),
			text("Available", describes(extensionsv1beta1.DeploymentStatus{}, "availableReplicas")),
			age(), template[0], template[1], selector(extensionsv1beta1.DeploymentSpec{})),
		newEntry(gv, replicaSetCells,
			named(), number("Desired", describes(extensionsv1beta1.ReplicaSetSpec{}, "replicas")),
			number("Current", describes(extensionsv1beta1.ReplicaSetStatus{}, "replicas")),
			number("Ready", describes(extensionsv1beta1.ReplicaSetStatus{}, "readyReplicas")),
			age(), template[0], template[1], selector(extensionsv1beta1.ReplicaSetSpec{})),
		newEntry(gv, statefulSetCells,
			named(), text("Ready", "Number of the pod with ready state"), age(), template[0], template[1]),
		newEntry(gv, daemonSetCells,
			named(), number("Desired", describes(extensionsv1beta1.DaemonSetStatus{}, "desiredNumberScheduled")),
			number("Current", describes(extensionsv1beta1.DaemonSetStatus{}, "currentNumberScheduled")),
			number("Ready", describes(extensionsv1beta1.DaemonSetStatus{}, "numberReady")),
			number("Up-to-date", describes(extensionsv1beta1.DaemonSetStatus{}, "updatedNumberScheduled")),
			number("Available", describes(extensionsv1beta1.DaemonSetStatus{}, "numberAvailable")),
			text("Node Selector", describes(corev1.PodSpec{}, "nodeSelector")),
			age(), template[0], template[1], selector(extensionsv1beta1.DaemonSetSpec{})),
		newEntry(gv, revisionCells,
			named(), text("Controller", "Controller of the object"),
			text("Revision", describes(appsv1beta1.ControllerRevision{}, "revision")), age()),
		newEntry(corev1.SchemeGroupVersion, replicationControllerCells,
			named(), number("Desired", describes(corev1.ReplicationControllerSpec{}, "replicas")),
			number("Current", describes(corev1.ReplicationControllerStatus{}, "replicas")),
			number("Ready", describes(corev1.ReplicationControllerStatus{}, "readyReplicas")),
			age(), template[0], template[1], selector(corev1.ReplicationControllerSpec{})),
	}
}

func deploymentCells(d *appsv1.Deployment) []any {
	selected := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); err == nil {
		selected = s.String()
	}
	cells := []any{
		d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1)),
		d.Status.UpdatedReplicas, d.Status.AvailableReplicas, since(d.CreationTimestamp),
	}
	return append(append(cells, containers(&d.Spec.Template)...), selected)
}

func replicaSetCells(r *appsv1.ReplicaSet) []any {
	cells := []any{r.Name, ptr.Deref(r.Spec.Replicas, 1), r.Status.Replicas, r.Status.ReadyReplicas, since(r.CreationTimestamp)}
	return append(append(cells, containers(&r.Spec.Template)...), metav1.FormatLabelSelector(r.Spec.Selector))
}

func replicationControllerCells(r *corev1.ReplicationController) []any {
	cells := []any{r.Name, ptr.Deref(r.Spec.Replicas, 1), r.Status.Replicas, r.Status.ReadyReplicas, since(r.CreationTimestamp)}
	return append(append(cells, containers(r.Spec.Template)...), labels.FormatLabels(r.Spec.Selector))
}

func statefulSetCells(s *appsv1.StatefulSet) []any {
	cells := []any{s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, ptr.Deref(s.Spec.Replicas, 1)), since(s.CreationTimestamp)}
	return append(cells, containers(&s.Spec.Template)...)
}

func daemonSetCells(d *appsv1.DaemonSet) []any {
	s := &d.Status
	cells := []any{
		d.Name, s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberAvailable,
		labels.FormatLabels(d.Spec.Template.Spec.NodeSelector), since(d.CreationTimestamp),
	}
	return append(append(cells, containers(&d.Spec.Template)...), metav1.FormatLabelSelector(d.Spec.Selector))
}

func revisionCells(r *appsv1.ControllerRevision) []any {
	controller := none
	if owner := metav1.GetControllerOf(r); owner != nil {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		controller = strings.ToLower(kind.String()) + "/" + owner.Name
	}
	return []any{r.Name, controller, r.Revision, since(r.CreationTimestamp)}
}
