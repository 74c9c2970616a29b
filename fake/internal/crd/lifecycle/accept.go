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

// Accept gives the states that a definition goes through now, given the others,
// in the order in which a server writes them: each a changed copy of the one before,
// none if nothing changes. Conditions that change hold since now. Others may hold
// definitions of other groups, and the definition itself.
func Accept(crd *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition, now time.Time) []*apiextensionsv1.CustomResourceDefinition {
	return states(crd,
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return approve(crd, now)
		},
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return acceptNames(crd, others, now)
		},
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return checkStructure(crd, now)
		},
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return establish(crd, now)
		},
	)
}

// Settle gives the states that definitions go through after one of them, by name,
// came, changed or went, in the order in which a server writes them. It is Accept for
// that one; if its names changed, or if it is not among the definitions any more,
// those of its group get the names that became free, in the order of their names.
// (A real server takes them in no order.)
func Settle(all []*apiextensionsv1.CustomResourceDefinition, changed string, now time.Time) (written []*apiextensionsv1.CustomResourceDefinition) {
	current := make(map[string]*apiextensionsv1.CustomResourceDefinition, len(all))
	for _, crd := range all {
		current[crd.Name] = crd
	}
	others := func() []*apiextensionsv1.CustomResourceDefinition { return slices.Collect(maps.Values(current)) }
	var queue []string
	note := func(name string, next []*apiextensionsv1.CustomResourceDefinition) {
		if len(next) == 0 {
			return
		}
		if renamed(current[name], next[len(next)-1]) {
			queue = union(queue, neighbours(current, name))
		}
		current[name] = next[len(next)-1]
		written = append(written, next...)
	}
	if crd, ok := current[changed]; ok {
		note(changed, Accept(crd, others(), now))
	} else {
		queue = neighbours(current, changed)
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		note(name, rename(current[name], others, now))
	}
	return written
}

// rename gives the states of a definition whose neighbours' names changed. It asks
// for the others only if there are names to be had, as most have theirs.
func rename(crd *apiextensionsv1.CustomResourceDefinition, others func() []*apiextensionsv1.CustomResourceDefinition, now time.Time) []*apiextensionsv1.CustomResourceDefinition {
	if hasItsNames(crd) {
		return nil
	}
	return states(crd,
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return acceptNames(crd, others(), now)
		},
		func(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			return establish(crd, now)
		},
	)
}

// states lets controllers take their turns, and gives what each made of the one before.
func states(crd *apiextensionsv1.CustomResourceDefinition, controllers ...func(*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition) (all []*apiextensionsv1.CustomResourceDefinition) {
	for _, controller := range controllers {
		if next := controller(crd); next != nil {
			all = append(all, next)
			crd = next
		}
	}
	return all
}

// renamed reports whether the naming controller had a word to say.
func renamed(before, after *apiextensionsv1.CustomResourceDefinition) bool {
	word := apihelpers.FindCRDCondition(after, apiextensionsv1.NamesAccepted)
	return !sameNames(before.Status.AcceptedNames, after.Status.AcceptedNames) || word != nil && !says(before, *word)
}

// neighbours are the names of the other definitions of a group, sorted. The group is
// what follows the first dot of the name: the definition may be gone.
func neighbours(all map[string]*apiextensionsv1.CustomResourceDefinition, name string) (others []string) {
	_, group, _ := strings.Cut(name, ".")
	for other, crd := range all {
		if crd.Spec.Group == group && other != name {
			others = append(others, other)
		}
	}
	slices.Sort(others)
	return others
}

// union appends those that are not there yet.
func union(queue, more []string) []string {
	for _, name := range more {
		if !slices.Contains(queue, name) {
			queue = append(queue, name)
		}
	}
	return queue
}

// establish is the establishing controller: the state in which requests are served,
// or cannot be for want of a caBundle; or nil.
func establish(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) || apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		return nil
	}
	verdict := condition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	}
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil &&
		len(webhook.ValidateCABundle(field.NewPath("caBundle"), c.Webhook.ClientConfig.CABundle)) > 0 {
		verdict.Status = apiextensionsv1.ConditionFalse
		verdict.Reason, verdict.Message = "InvalidCABundle", "The conversion webhook CABundle is invalid"
	}
	if says(crd, verdict) {
		return nil
	}
	return with(crd, now, verdict)
}
