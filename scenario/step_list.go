package scenario

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExpectList lists a collection, which must have exactly the objects named, in
// the order of the list. With AllNamespaces the names are NAMESPACE/NAME.
func ExpectList(of Collection, names ...string) Step { return expectList{of, copied(names)} }

type expectList struct {
	of    Collection
	names []string
}

func parseExpectList(a *args) (Step, error) {
	words, given, err := a.raw(collectionFlags...)
	if err != nil {
		return nil, err
	}
	all, err := texts(words, 1, -1)
	if err != nil {
		return nil, err
	}
	of, err := newCollection(all[0], given)
	s := expectList{of: of}
	if len(all) > 1 {
		s.names = copied(all[1:])
	}
	return s, err
}

func (s expectList) String() string {
	return joinWords("expect list", s.of.String(), strings.Join(quoteAll(s.names), " "))
}

func (s expectList) Run(ctx context.Context, e *Env) error {
	ctx, cancel := e.patience(ctx)
	defer cancel()
	resource, err := e.collection(e.at.dynamic, s.of)
	if err != nil {
		return err
	}
	list, err := resource.List(ctx, metav1.ListOptions{LabelSelector: s.of.Selector})
	if err != nil {
		return answered(ctx, err)
	}
	var saw []string
	for _, o := range list.Items {
		saw = append(saw, s.of.nameOf(&o))
	}
	if !slices.Equal(saw, s.names) {
		return mismatch{"the " + s.of.Kind + " list " + inBrackets(s.names), inBrackets(saw)}
	}
	return nil
}

// nameOf is what an object of the collection is called in steps.
func (c Collection) nameOf(o metav1.Object) string {
	if c.AllNamespaces && o.GetNamespace() != "" {
		return o.GetNamespace() + "/" + o.GetName()
	}
	return o.GetName()
}

func inBrackets(words []string) string { return "[" + strings.Join(words, " ") + "]" }
