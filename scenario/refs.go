package scenario

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// Ref identifies an object.
type Ref struct {
	// Kind is the singular or plural resource name, the kind or a short name, as for kubectl, with
	// ".GROUP" if it is ambiguous: "configmap", "deploy", "events.events.k8s.io". Case does not
	// matter.
	Kind string
	Name string
	// Namespace defaults to "default" for namespaced kinds.
	Namespace string
}

// String returns "KIND/NAME -n NAMESPACE".
func (r Ref) String() string {
	return joinWords(quote(r.Kind+"/"+r.Name), namespaceFlag(r.Namespace))
}

// parseRef parses KIND/NAME.
func parseRef(text, namespace string) (Ref, error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok || kind == "" || name == "" {
		return Ref{}, fmt.Errorf("expected KIND/NAME, found %q", text)
	}
	return Ref{kind, name, namespace}, nil
}

// parseRefOnly parses a line of KIND/NAME [-n NAMESPACE].
func parseRefOnly(a *args) (Ref, error) {
	ref, words, err := parseRefAndWords(a)
	if err != nil {
		return Ref{}, err
	}
	_, err = unquoteWords(words, 0, 0)
	return ref, err
}

// parseRefAndWords parses a line that begins with KIND/NAME and returns its other words.
func parseRefAndWords(a *args) (Ref, []word, error) {
	words, given, err := a.wordsAndFlags("-n=")
	if err != nil {
		return Ref{}, nil, err
	}
	if len(words) == 0 {
		return Ref{}, nil, fmt.Errorf("expected KIND/NAME, found the end of the line")
	}
	text, err := words[0].text()
	if err != nil {
		return Ref{}, nil, err
	}
	ref, err := parseRef(text, given["-n"])
	return ref, words[1:], err
}

// Collection identifies the objects of a list or a watch.
type Collection struct {
	// Kind is as in Ref.
	Kind string
	// Namespace is as in Ref. It must be "" with AllNamespaces.
	Namespace     string
	AllNamespaces bool
	// Selector is a label selector, or "" for all objects: "app=web,tier!=db".
	Selector string
}

// String returns "KIND -n NAMESPACE --selector SELECTOR".
func (c Collection) String() string {
	return joinWords(quote(c.Kind), c.flags())
}

func (c Collection) flags() string {
	all, selector := "", ""
	if c.AllNamespaces {
		all = "-A"
	}
	if c.Selector != "" {
		selector = "--selector " + quote(c.Selector)
	}
	return joinWords(namespaceFlag(c.Namespace), all, selector)
}

// collectionFlags are the flags of a collection.
var collectionFlags = []string{"-n=", "-A", "--selector="}

func newCollection(kind string, given flags) (Collection, error) {
	c := Collection{kind, given["-n"], given["-A"] != "", given["--selector"]}
	if kind == "" {
		return c, fmt.Errorf(`expected a kind, found ""`)
	}
	if c.AllNamespaces && c.Namespace != "" {
		return c, fmt.Errorf("expected -n or -A, found both")
	}
	if _, err := labels.Parse(c.Selector); err != nil {
		return c, fmt.Errorf("expected a label selector, found %q: %w", c.Selector, err)
	}
	return c, nil
}

func namespaceFlag(namespace string) string {
	if namespace == "" {
		return ""
	}
	return "-n " + quote(namespace)
}
