package systemobjects

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

// The values of the system PriorityClasses.
const (
	clusterCriticalPriority = 2_000_000_000
	nodeCriticalPriority    = clusterCriticalPriority + 1000
)

// priorityClasses returns the system PriorityClasses.
func priorityClasses() []runtime.Object {
	class := func(name string, value int32, description string) runtime.Object {
		c := &schedulingv1.PriorityClass{Value: value, Description: description, PreemptionPolicy: new(corev1.PreemptLowerPriority)}
		c.Name = name
		return c
	}
	return []runtime.Object{
		class("system-node-critical", nodeCriticalPriority,
			"Used for system critical pods that must not be moved from their current node."),
		class("system-cluster-critical", clusterCriticalPriority,
			"Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
	}
}

// priorityLevelConfigurations returns the mandatory and the suggested PriorityLevelConfigurations.
func priorityLevelConfigurations() (objects []runtime.Object) {
	for _, level := range slices.Concat(bootstrap.SuggestedPriorityLevelConfigurations, bootstrap.MandatoryPriorityLevelConfigurations) {
		objects = append(objects, level.DeepCopy())
	}
	return objects
}

// flowSchemas returns the mandatory and the suggested FlowSchemas, with the status that API
// priority and fairness writes.
func flowSchemas() (objects []runtime.Object) {
	for _, schema := range slices.Concat(bootstrap.SuggestedFlowSchemas, bootstrap.MandatoryFlowSchemas) {
		schema = schema.DeepCopy()
		schema.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{{
			Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse,
			LastTransitionTime: placeholderTime, Reason: "Found",
			Message: fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", schema.Spec.PriorityLevelConfiguration.Name),
		}}
		objects = append(objects, schema)
	}
	return objects
}
