package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const (
	maxUserPriority       = 1_000_000_000
	systemPrefix          = "system-"
	systemClusterPriority = 2 * maxUserPriority
	systemNodePriority    = systemClusterPriority + 1000
)

// The priority classes that a server creates.
const (
	nodeCritical    = "system-node-critical"
	clusterCritical = "system-cluster-critical"
)

func validatePriorityClass(c *schedulingv1.PriorityClass) (errs field.ErrorList) {
	var root *validate.Path
	switch {
	case !strings.HasPrefix(c.Name, systemPrefix):
		if c.Value > maxUserPriority {
			errs = append(errs, root.Child("value").Forbidden(fmt.Sprintf("maximum allowed value of a user defined priority is %d", maxUserPriority)))
		}
	default:
		if err := checkSystemPriorityClass(c); err != nil {
			errs = append(errs, root.Child("metadata").Child("name").Forbidden(
				"priority class names with 'system-' prefix are reserved for system use only. error: "+err.Error()))
		}
	}
	if c.PreemptionPolicy == nil {
		return errs
	}
	switch policy, p := *c.PreemptionPolicy, root.Child("preemptionPolicy"); policy {
	case corev1.PreemptLowerPriority, corev1.PreemptNever:
	case "":
		errs = append(errs, p.Required(""))
	default:
		errs = append(errs, validate.NotSupported(p, policy, corev1.PreemptLowerPriority, corev1.PreemptNever))
	}
	return errs
}

// checkSystemPriorityClass returns an error if c is not one of the classes that a server creates.
func checkSystemPriorityClass(c *schedulingv1.PriorityClass) error {
	var value int32
	switch c.Name {
	case nodeCritical:
		value = systemNodePriority
	case clusterCritical:
		value = systemClusterPriority
	default:
		return fmt.Errorf("%s is not a known system priority class", c.Name)
	}
	if c.Value != value {
		return fmt.Errorf("value of %s PriorityClass must be %d", c.Name, value)
	}
	if c.GlobalDefault {
		return fmt.Errorf("globalDefault of %s PriorityClass must be false", c.Name)
	}
	return nil
}

func validatePriorityClassUpdate(c, old *schedulingv1.PriorityClass) (errs field.ErrorList) {
	var root *validate.Path
	if c.Value != old.Value {
		errs = append(errs, root.Child("value").Forbidden("may not be changed in an update."))
	}
	return append(errs, validate.Immutable(c.PreemptionPolicy, old.PreemptionPolicy, root.Child("preemptionPolicy"))...)
}
