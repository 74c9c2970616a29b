package lifecycle

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"
)

// reconcileCRD returns the states that the controllers write for a definition, in order. Each is a
// changed copy of the one before; there are none if nothing changes. now is the time of changed
// conditions. others may include definitions of other groups, and crd.
func reconcileCRD(crd *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition, now time.Time) []*apiextensionsv1.CustomResourceDefinition {
	return runControllers(crd,
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return updateApproval(crd, now)
		},
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return updateNames(crd, others, now)
		},
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return updateNonStructural(crd, now)
		},
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return updateEstablished(crd, now)
		},
	)
}

// Reconcile returns the states that the controllers write after the definition with the name
// changed was created, updated or deleted, in order. If the definition was deleted or its names
// changed, the other definitions of its group can get the names that became free. They do so in the
// order of their own names; on a real server the order is random.
func Reconcile(all []*apiextensionsv1.CustomResourceDefinition, changed string, now time.Time) (states []*apiextensionsv1.CustomResourceDefinition) {
	current := make(map[string]*apiextensionsv1.CustomResourceDefinition, len(all))
	for _, crd := range all {
		current[crd.Name] = crd
	}
	others := func() []*apiextensionsv1.CustomResourceDefinition { return slices.Collect(maps.Values(current)) }
	var queue []string
	record := func(name string, next []*apiextensionsv1.CustomResourceDefinition) {
		if len(next) == 0 {
			return
		}
		if namesChanged(current[name], next[len(next)-1]) {
			queue = appendMissing(queue, othersInGroup(current, name))
		}
		current[name] = next[len(next)-1]
		states = append(states, next...)
	}
	if crd, ok := current[changed]; ok {
		record(changed, reconcileCRD(crd, others(), now))
	} else {
		queue = othersInGroup(current, changed)
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		record(name, reconcileNames(current[name], others, now))
	}
	return states
}

// reconcileNames returns the states of a definition after the names of another one of its group
// changed. It calls others only if the definition lacks requested names, which is rare.
func reconcileNames(crd *apiextensionsv1.CustomResourceDefinition, others func() []*apiextensionsv1.CustomResourceDefinition, now time.Time) []*apiextensionsv1.CustomResourceDefinition {
	if hasRequestedNames(crd) {
		return nil
	}
	return runControllers(crd,
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return updateNames(crd, others(), now)
		},
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return updateEstablished(crd, now)
		},
	)
}

// runControllers calls the controllers one after the other and returns the states that they write.
func runControllers(crd *apiextensionsv1.CustomResourceDefinition, controllers ...func(*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition) (all []*apiextensionsv1.CustomResourceDefinition) {
	for _, controller := range controllers {
		if next := controller(crd); next != nil {
			all = append(all, next)
			crd = next
		}
	}
	return all
}

// namesChanged reports whether the naming controller changed the definition.
func namesChanged(before, after *apiextensionsv1.CustomResourceDefinition) bool {
	cond := apihelpers.FindCRDCondition(after, apiextensionsv1.NamesAccepted)
	return !equalNames(before.Status.AcceptedNames, after.Status.AcceptedNames) || cond != nil && !hasCondition(before, *cond)
}

// othersInGroup returns the names of the other definitions of a group, sorted. The group is taken
// from name, because the definition may be deleted.
func othersInGroup(all map[string]*apiextensionsv1.CustomResourceDefinition, name string) (others []string) {
	_, group, _ := strings.Cut(name, ".")
	for other, crd := range all {
		if crd.Spec.Group == group && other != name {
			others = append(others, other)
		}
	}
	slices.Sort(others)
	return others
}

// appendMissing appends the names that are not in queue.
func appendMissing(queue, more []string) []string {
	for _, name := range more {
		if !slices.Contains(queue, name) {
			queue = append(queue, name)
		}
	}
	return queue
}

// updateEstablished is the establishing controller. It returns a copy with the condition
// Established, which is False if the caBundle is invalid, or nil.
func updateEstablished(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) || isEstablished(crd) {
		return nil
	}
	cond := condition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	}
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil &&
		len(webhook.ValidateCABundle(field.NewPath("caBundle"), c.Webhook.ClientConfig.CABundle)) > 0 {
		cond.Status = apiextensionsv1.ConditionFalse
		cond.Reason, cond.Message = "InvalidCABundle", "The conversion webhook CABundle is invalid"
	}
	if hasCondition(crd, cond) {
		return nil
	}
	return withConditions(crd, now, cond)
}
