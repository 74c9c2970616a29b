package lifecycle

import (
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// condition is what a controller says. Its lastTransitionTime is not said: that
// follows from what was said before.
type condition = apiextensionsv1.CustomResourceDefinitionCondition

// withConditions gives a copy of a definition in which a condition holds since now, or since
// it had that status.
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

// hasCondition reports whether a definition has a condition already, whatever its time.
func hasCondition(crd *apiextensionsv1.CustomResourceDefinition, c condition) bool {
	return apihelpers.IsCRDConditionEquivalent(&c, apihelpers.FindCRDCondition(crd, c.Type))
}
