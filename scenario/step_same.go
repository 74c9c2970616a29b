package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExpectSame expects that two namespaces have the same objects of a kind, with the same names and
// contents except for metadata and status. It is the expectation for a client that copies objects
// from one namespace to the other. Objects that the server creates in every namespace are in both.
func ExpectSame(kind, namespace, other string) Step { return expectSame{kind, namespace, other} }

type expectSame struct{ kind, one, other string }

func (kinds) ExpectSame() stepKind {
	return stepKind{"expect same KIND NAMESPACE NAMESPACE", parseExpectSame}
}

func parseExpectSame(a *args) (Step, error) {
	words, err := a.words(3, 3)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		if w == "" {
			return nil, errors.New(`expected a kind and two namespaces, found ""`)
		}
	}
	return expectSame{words[0], words[1], words[2]}, nil
}

func (s expectSame) String() string {
	return joinWords("expect same", quote(s.kind), quote(s.one), quote(s.other))
}

func (s expectSame) Run(ctx context.Context, e *Env) error {
	one, err := contents(ctx, e, Collection{Kind: s.kind, Namespace: s.one})
	if err != nil {
		return err
	}
	other, err := contents(ctx, e, Collection{Kind: s.kind, Namespace: s.other})
	if err != nil {
		return err
	}
	names := maps.Clone(one)
	maps.Copy(names, other)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		here, there := contentOrNone(one, name), contentOrNone(other, name)
		if here != there {
			return mismatch{fmt.Sprintf("%s/%s to be the same in %s and %s", s.kind, name, s.one, s.other),
				fmt.Sprintf("in %s %s, in %s %s", s.one, here, s.other, there)}
		}
	}
	return nil
}

func contentOrNone(all map[string]string, name string) string {
	if content, ok := all[name]; ok {
		return content
	}
	return "none"
}

// contents returns the objects of a collection without metadata and status, by name.
func contents(ctx context.Context, e *Env, of Collection) (map[string]string, error) {
	ctx, cancel := e.withRequestTimeout(ctx)
	defer cancel()
	resource, err := e.collection(e.current.dynamic, of)
	if err != nil {
		return nil, err
	}
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, requestError(ctx, err)
	}
	all := map[string]string{}
	for _, o := range list.Items {
		content := maps.Clone(o.Object)
		delete(content, "metadata")
		delete(content, "status")
		all[o.GetName()] = formatValue(content)
	}
	return all, nil
}
