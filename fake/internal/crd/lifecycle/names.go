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

// groupNames has the accepted names of the definitions of a group.
type groupNames struct {
	resources, kinds sets.Set[string]
}

// newGroupNames returns the accepted names of crd and of the other definitions of its group. others
// may include crd. The names of crd count too: no other name of crd may be equal to them.
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

// add adds the accepted names of a definition.
func (n groupNames) add(crd *apiextensionsv1.CustomResourceDefinition) {
	accepted := crd.Status.AcceptedNames
	n.resources.Insert(accepted.Plural, accepted.Singular).Insert(accepted.ShortNames...)
	n.kinds.Insert(accepted.Kind, accepted.ListKind)
}

// nameChecker determines which of the requested names are accepted.
type nameChecker struct {
	cond condition
}

// setConflict sets the condition to a conflict. The last conflict counts.
func (n *nameChecker) setConflict(reason string, err error) {
	n.cond.Status, n.cond.Reason, n.cond.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
}

// checkName returns the accepted name: the requested one, or the one accepted before if that is in
// use.
func (n *nameChecker) checkName(requested, accepted string, used sets.Set[string], reason string) string {
	if requested != accepted && used.Has(requested) {
		n.setConflict(reason, errNameInUse(requested))
		return accepted
	}
	return requested
}

// checkShortNames returns the accepted short names: all requested ones, or those accepted before.
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

// errNameInUse returns the error for a name that is in use.
func errNameInUse(name string) error { return fmt.Errorf("%q is already in use", name) }

// updateNames is the naming controller. It returns a copy with changed accepted names or
// conditions, or nil.
func updateNames(crd *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	if hasRequestedNames(crd) {
		return nil // even if NamesAccepted is False because of an earlier request
	}
	requested, before := crd.Spec.Names, crd.Status.AcceptedNames
	used := newGroupNames(crd, others)
	check := nameChecker{cond: condition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue,
		Reason: "NoConflicts", Message: "no conflicts found",
	}}
	accepted := apiextensionsv1.CustomResourceDefinitionNames{ // the order matters, because the last conflict is reported
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

// hasRequestedNames reports whether all requested names are accepted.
func hasRequestedNames(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return equalNames(crd.Spec.Names, crd.Status.AcceptedNames)
}

// equalNames compares names. nil and empty lists are equal.
func equalNames(a, b apiextensionsv1.CustomResourceDefinitionNames) bool {
	return apiequality.Semantic.DeepEqual(a, b)
}

// establishedAfterNaming returns the condition Established after naming. It does not become True
// here, because requests are not served yet.
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
