package scenario

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExpectList expects that a collection has exactly the objects with these names, in this order.
// With AllNamespaces the names are NAMESPACE/NAME.
func ExpectList(of Collection, names ...string) Step { return expectList{of, cloneSlice(names)} }

type expectList struct {
	of    Collection
	names []string
}

func (kinds) ExpectList() stepKind {
	return stepKind{"expect list KIND [-n NAMESPACE | -A] [--selector SELECTOR] [NAME ...]", parseExpectList}
}

func parseExpectList(a *args) (Step, error) {
	words, given, err := a.wordsAndFlags(collectionFlags...)
	if err != nil {
		return nil, err
	}
	all, err := unquoteWords(words, 1, -1)
	if err != nil {
		return nil, err
	}
	of, err := newCollection(all[0], given)
	s := expectList{of: of}
	if len(all) > 1 {
		s.names = cloneSlice(all[1:])
	}
	return s, err
}

func (s expectList) String() string {
	return joinWords("expect list", s.of.String(), strings.Join(quoteAll(s.names), " "))
}

func (s expectList) Run(ctx context.Context, e *Env) error {
	ctx, cancel := e.withRequestTimeout(ctx)
	defer cancel()
	resource, err := e.collection(e.current.dynamic, s.of)
	if err != nil {
		return err
	}
	list, err := resource.List(ctx, metav1.ListOptions{LabelSelector: s.of.Selector})
	if err != nil {
		return requestError(ctx, err)
	}
	var saw []string
	for _, o := range list.Items {
		saw = append(saw, s.of.nameOf(&o))
	}
	if !slices.Equal(saw, s.names) {
		return mismatch{"the " + s.of.Kind + " list " + formatList(s.names), formatList(saw)}
	}
	return nil
}

// nameOf returns the name of an object of the collection in steps.
func (c Collection) nameOf(o metav1.Object) string {
	if c.AllNamespaces && o.GetNamespace() != "" {
		return o.GetNamespace() + "/" + o.GetName()
	}
	return o.GetName()
}

func formatList(words []string) string { return "[" + strings.Join(words, " ") + "]" }
