package lifecycle

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
)

// names are those that the definitions of a group have been given.
type names struct {
	resources, kinds sets.Set[string]
}

// namesOf gathers the accepted names of a definition and of the others of its group,
// among whom it may be itself, as it was. Its own count too: none of them may become
// another of its names.
func namesOf(crd *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition) names {
	taken := names{resources: sets.New[string](), kinds: sets.New[string]()}
	taken.add(crd)
	for _, c := range others {
		if c.Spec.Group == crd.Spec.Group && c.Name != crd.Name {
			taken.add(c)
		}
	}
	return taken
}

// add notes which names a definition has been given.
func (n names) add(crd *apiextensionsv1.CustomResourceDefinition) {
	accepted := crd.Status.AcceptedNames
	n.resources.Insert(accepted.Plural, accepted.Singular).Insert(accepted.ShortNames...)
	n.kinds.Insert(accepted.Kind, accepted.ListKind)
}

// nameCheck collects what can be accepted of the names that are asked for.
type nameCheck struct {
	verdict condition
}

// conflict notes that a name is refused. A later one is told instead of this one.
func (n *nameCheck) conflict(reason string, err error) {
	n.verdict.Status, n.verdict.Reason, n.verdict.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
}

// one gives the name that is accepted: the one that is asked for, or the one
// accepted before if that is in use.
func (n *nameCheck) one(asked, accepted string, taken sets.Set[string], reason string) string {
	if asked != accepted && taken.Has(asked) {
		n.conflict(reason, inUse(asked))
		return accepted
	}
	return asked
}

// short gives the short names that are accepted: all or none of those asked for.
func (n *nameCheck) short(asked, accepted []string, taken sets.Set[string]) []string {
	if reflect.DeepEqual(asked, accepted) {
		return accepted
	}
	var refused []error
	for _, name := range asked {
		if !slices.Contains(accepted, name) && taken.Has(name) {
			refused = append(refused, inUse(name))
		}
	}
	if err := utilerrors.NewAggregate(refused); err != nil {
		n.conflict("ShortNamesConflict", err)
		return accepted
	}
	return asked
}

// inUse refuses a name.
func inUse(name string) error { return fmt.Errorf("%q is already in use", name) }

// acceptNames is the naming controller: the state with other accepted names or
// another word on them, or nil.
func acceptNames(crd *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	if hasItsNames(crd) {
		return nil // even if NamesAccepted is False since another wish was refused
	}
	asked, before := crd.Spec.Names, crd.Status.AcceptedNames
	taken := namesOf(crd, others)
	check := nameCheck{verdict: condition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue,
		Reason: "NoConflicts", Message: "no conflicts found",
	}}
	accepted := apiextensionsv1.CustomResourceDefinitionNames{ // in this order: the last conflict is told
		Plural:     check.one(asked.Plural, before.Plural, taken.resources, "PluralConflict"),
		Singular:   check.one(asked.Singular, before.Singular, taken.resources, "SingularConflict"),
		ShortNames: check.short(asked.ShortNames, before.ShortNames, taken.resources),
		Kind:       check.one(asked.Kind, before.Kind, taken.kinds, "KindConflict"),
		ListKind:   check.one(asked.ListKind, before.ListKind, taken.kinds, "ListKindConflict"),
		Categories: asked.Categories,
	}
	if reflect.DeepEqual(before, accepted) && says(crd, check.verdict) {
		return nil
	}
	changed := with(crd, now, check.verdict, installing(crd, check.verdict))
	accepted.DeepCopyInto(&changed.Status.AcceptedNames)
	return changed
}

// hasItsNames reports whether the names that a definition asks for are accepted.
func hasItsNames(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return sameNames(crd.Spec.Names, crd.Status.AcceptedNames)
}

// sameNames compares names; to have none and an empty list of them is the same.
func sameNames(a, b apiextensionsv1.CustomResourceDefinitionNames) bool {
	return apiequality.Semantic.DeepEqual(a, b)
}

// installing is what the naming controller says about Established: never more than
// that it will be, so that no client sees it before requests are served.
func installing(crd *apiextensionsv1.CustomResourceDefinition, naming condition) condition {
	before := apihelpers.FindCRDCondition(crd, apiextensionsv1.Established)
	switch {
	case before != nil && before.Status == apiextensionsv1.ConditionTrue:
		return *before
	case naming.Status == apiextensionsv1.ConditionTrue:
		return condition{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse,
			Reason: "Installing", Message: "the initial names have been accepted",
		}
	case before != nil:
		return *before
	}
	return condition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse,
		Reason: "NotAccepted", Message: "not all names are accepted",
	}
}
