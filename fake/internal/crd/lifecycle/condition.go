package lifecycle

import (
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// condition is a condition set by a controller. withConditions sets its lastTransitionTime.
type condition = apiextensionsv1.CustomResourceDefinitionCondition

// withConditions returns a copy with conditions set. Their lastTransitionTime is now, unless the
// status of the condition is unchanged.
func withConditions(crd *apiextensionsv1.CustomResourceDefinition, now time.Time, conditions ...condition) *apiextensionsv1.CustomResourceDefinition {
	changed := crd.DeepCopy()
	for _, c := range conditions {
		c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		before := apihelpers.FindCRDCondition(changed, c.Type)
		if before == nil {
			changed.Status.Conditions = append(changed.Status.Conditions, c)
			continue
		}
		if before.Status == c.Status && !before.LastTransitionTime.IsZero() {
			c.LastTransitionTime = before.LastTransitionTime
		}
		c.ObservedGeneration = before.ObservedGeneration
		*before = c
	}
	return changed
}

// hasCondition reports whether crd has a condition, with any lastTransitionTime.
func hasCondition(crd *apiextensionsv1.CustomResourceDefinition, c condition) bool {
	return apihelpers.IsCRDConditionEquivalent(&c, apihelpers.FindCRDCondition(crd, c.Type))
}
