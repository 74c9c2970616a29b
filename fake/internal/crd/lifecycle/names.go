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

// groupNames are those that the definitions of a group have been given.
type groupNames struct {
	resources, kinds sets.Set[string]
}

// newGroupNames gathers the accepted names of a definition and of the others of its group,
// among whom it may be itself, as it was. Its own count too: none of them may become
// another of its names.
func newGroupNames(crd *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition) groupNames {
	used := groupNames{resources: sets.New[string](), kinds: sets.New[string]()}
	used.add(crd)
	for _, c := range others {
		if c.Spec.Group == crd.Spec.Group && c.Name != crd.Name {
			used.add(c)
		}
	}
	return used
}

// add notes which names a definition has been given.
func (n groupNames) add(crd *apiextensionsv1.CustomResourceDefinition) {
	accepted := crd.Status.AcceptedNames
	n.resources.Insert(accepted.Plural, accepted.Singular).Insert(accepted.ShortNames...)
	n.kinds.Insert(accepted.Kind, accepted.ListKind)
}

// nameChecker collects what can be accepted of the names that are asked for.
type nameChecker struct {
	cond condition
}

// setConflict notes that a name is refused. A later one is told instead of this one.
func (n *nameChecker) setConflict(reason string, err error) {
	n.cond.Status, n.cond.Reason, n.cond.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
}

// checkName gives the name that is accepted: the one that is asked for, or the one
// accepted before if that is in use.
func (n *nameChecker) checkName(requested, accepted string, used sets.Set[string], reason string) string {
	if requested != accepted && used.Has(requested) {
		n.setConflict(reason, errNameInUse(requested))
		return accepted
	}
	return requested
}

// checkShortNames gives the short names that are accepted: all or none of those asked for.
func (n *nameChecker) checkShortNames(requested, accepted []string, used sets.Set[string]) []string {
	if reflect.DeepEqual(requested, accepted) {
		return accepted
	}
	var refused []error
	for _, name := range requested {
		if !slices.Contains(accepted, name) && used.Has(name) {
			refused = append(refused, errNameInUse(name))
		}
	}
	if err := utilerrors.NewAggregate(refused); err != nil {
		n.setConflict("ShortNamesConflict", err)
		return accepted
	}
	return requested
}

// errNameInUse refuses a name.
func errNameInUse(name string) error { return fmt.Errorf("%q is already in use", name) }

// updateNames is the naming controller: the state with other accepted names or
// another word on them, or nil.
func updateNames(crd *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	if hasRequestedNames(crd) {
		return nil // even if NamesAccepted is False since another wish was refused
	}
	requested, before := crd.Spec.Names, crd.Status.AcceptedNames
	used := newGroupNames(crd, others)
	check := nameChecker{cond: condition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue,
		Reason: "NoConflicts", Message: "no conflicts found",
	}}
	accepted := apiextensionsv1.CustomResourceDefinitionNames{ // in this order: the last conflict is told
		Plural:     check.checkName(requested.Plural, before.Plural, used.resources, "PluralConflict"),
		Singular:   check.checkName(requested.Singular, before.Singular, used.resources, "SingularConflict"),
		ShortNames: check.checkShortNames(requested.ShortNames, before.ShortNames, used.resources),
		Kind:       check.checkName(requested.Kind, before.Kind, used.kinds, "KindConflict"),
		ListKind:   check.checkName(requested.ListKind, before.ListKind, used.kinds, "ListKindConflict"),
		Categories: requested.Categories,
	}
	if reflect.DeepEqual(before, accepted) && hasCondition(crd, check.cond) {
		return nil
	}
	changed := withConditions(crd, now, check.cond, establishedAfterNaming(crd, check.cond))
	accepted.DeepCopyInto(&changed.Status.AcceptedNames)
	return changed
}

// hasRequestedNames reports whether the names that a definition asks for are accepted.
func hasRequestedNames(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return equalNames(crd.Spec.Names, crd.Status.AcceptedNames)
}

// equalNames compares names; to have none and an empty list of them is the same.
func equalNames(a, b apiextensionsv1.CustomResourceDefinitionNames) bool {
	return apiequality.Semantic.DeepEqual(a, b)
}

// establishedAfterNaming is what the naming controller says about Established: never more than
// that it will be, so that no client sees it before requests are served.
func establishedAfterNaming(crd *apiextensionsv1.CustomResourceDefinition, naming condition) condition {
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
