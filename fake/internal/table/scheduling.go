package table

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// schedulingPrinters returns the printers of priority and runtime classes, disruption budgets and
// storage version migrations.
func schedulingPrinters() []entry {
	migrated := named()
	migrated.Format = ""
	return []entry{
		newEntry(schedulingv1.SchemeGroupVersion, func(c *schedulingv1.PriorityClass) []any {
			policy := ptr.Deref(c.PreemptionPolicy, corev1.PreemptLowerPriority)
			return []any{c.Name, c.Value, c.GlobalDefault, since(c.CreationTimestamp), string(policy)}
		},
			named(),
			number("Value", describes(schedulingv1.PriorityClass{}, "value")),
			flag("Global-Default", describes(schedulingv1.PriorityClass{}, "globalDefault")),
			age(),
			text("PreemptionPolicy", describes(schedulingv1.PriorityClass{}, "preemptionPolicy")),
		),
		newEntry(nodev1.SchemeGroupVersion, func(c *nodev1.RuntimeClass) []any {
			return []any{c.Name, c.Handler, since(c.CreationTimestamp)}
		}, named(), text("Handler", ""), age()),
		newEntry(policyv1.SchemeGroupVersion, func(b *policyv1.PodDisruptionBudget) []any {
			return []any{
				b.Name, applies(b.Spec.MinAvailable), applies(b.Spec.MaxUnavailable),
				b.Status.DisruptionsAllowed, since(b.CreationTimestamp),
			}
		},
			named(),
			text("Min Available", "The minimum number of pods that must be available."),
			text("Max Unavailable", "The maximum number of pods that may be unavailable."),
			number("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."),
			age(),
		),
		newEntry(storagemigrationv1.SchemeGroupVersion, migrationCells,
			migrated, text("Resource", "GroupResource to migrate"), text("Status", "Status of the migration")),
	}
}

// applies returns a number or a percentage, or N/A.
func applies(n *intstr.IntOrString) string {
	if n == nil {
		return "N/A"
	}
	return n.String()
}

func migrationCells(m *storagemigrationv1.StorageVersionMigration) []any {
	status := "Unknown"
	for _, c := range m.Status.Conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch storagemigrationv1.MigrationConditionType(c.Type) {
		case storagemigrationv1.MigrationRunning, storagemigrationv1.MigrationFailed, storagemigrationv1.MigrationSucceeded:
			status = string(c.Type)
		}
	}
	return []any{m.Name, m.Spec.Resource.String(), status}
}
