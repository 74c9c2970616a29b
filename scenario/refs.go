package scenario

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// Ref names one object.
type Ref struct {
	// Kind is what kubectl takes: the singular, the plural, the kind or a short
	// name, with ".GROUP" behind it where that is needed: "configmap", "deploy",
	// "events.events.k8s.io". Case does not matter.
	Kind string
	Name string
	// Namespace may be "": that is "default", unless objects of the kind have no
	// namespace.
	Namespace string
}

// String gives "KIND/NAME -n NAMESPACE".
func (r Ref) String() string {
	return joinWords(quote(r.Kind+"/"+r.Name), namespaceFlag(r.Namespace))
}

// parseRef reads KIND/NAME.
func parseRef(text, namespace string) (Ref, error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok || kind == "" || name == "" {
		return Ref{}, fmt.Errorf("expected KIND/NAME, found %q", text)
	}
	return Ref{kind, name, namespace}, nil
}

// parseRefOnly reads a line that is KIND/NAME [-n NAMESPACE].
func parseRefOnly(a *args) (Ref, error) {
	ref, words, err := parseRefAndWords(a)
	if err != nil {
		return Ref{}, err
	}
	_, err = unquoteWords(words, 0, 0)
	return ref, err
}

// parseRefAndWords reads a line that begins with KIND/NAME, and gives its further words.
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

// Collection names the objects of a kind that a list or a watch is about.
type Collection struct {
	// Kind as in Ref.
	Kind string
	// Namespace as in Ref. With AllNamespaces it must be "".
	Namespace     string
	AllNamespaces bool
	// Selector is a label selector, "" for all objects: "app=web,tier!=db".
	Selector string
}

// String gives "KIND -n NAMESPACE --selector SELECTOR".
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

// collectionFlags are the flags that narrow a collection.
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
