package scenario

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// ExpectChanges expects how often objects were created (ADDED), changed (MODIFIED) or deleted
// (DELETED) since the beginning of the scenario, by anyone. ref.Name may end in "*", which matches
// any suffix. An object that waits for its finalizers has been changed, and is deleted later.
func ExpectChanges(change string, ref Ref, count Count) Step {
	return expectChanges{change, ref, count}
}

type expectChanges struct {
	change string
	ref    Ref
	count  Count
}

func (kinds) ExpectChanges() stepKind {
	return stepKind{"expect changes TYPE KIND/NAME [-n NAMESPACE] COUNT", parseExpectChanges}
}

func parseExpectChanges(a *args) (Step, error) {
	all, given, err := a.wordsAndFlags("-n=")
	if err != nil {
		return nil, err
	}
	words, err := unquoteWords(all, 3, 3)
	if err != nil {
		return nil, err
	}
	s := expectChanges{change: words[0]}
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.ref, err = parseRef(words[1], given["-n"]); err != nil {
		return nil, err
	}
	s.count, err = parseCount(words[2])
	return s, err
}

// validate returns an error if the type of the changes is unknown.
func (s expectChanges) validate() error {
	switch s.change {
	case "ADDED", "MODIFIED", "DELETED":
		return nil
	}
	return fmt.Errorf("expected ADDED, MODIFIED or DELETED, found %q", s.change)
}

func (s expectChanges) String() string {
	return joinWords("expect changes", s.change, s.ref.String(), s.count.String())
}

func (s expectChanges) Run(_ context.Context, e *Env) error {
	if err := s.validate(); err != nil {
		return err
	}
	e.waitIdle()
	mapping, err := e.restMapping(s.ref.Kind)
	if err != nil {
		return err
	}
	key := changeKey{change: s.change, group: mapping.Resource.Group, resource: mapping.Resource.Resource, namespace: s.ref.Namespace}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace && key.namespace == "" {
		key.namespace = defaultNamespace
	}
	if saw := e.changes.count(key, s.ref.Name); !s.count.matches(saw) {
		return mismatch{fmt.Sprintf("%s times %s of %s", s.count, s.change, s.ref), strconv.Itoa(saw)}
	}
	return nil
}

// changeKey identifies the changes of one type of one object.
type changeKey struct{ change, group, resource, namespace, name string }

// changeCounts counts the changes of objects.
type changeCounts struct {
	mu       *sync.Mutex // guards byObject
	byObject map[changeKey]int
}

func newChangeCounts() changeCounts {
	return changeCounts{mu: &sync.Mutex{}, byObject: map[changeKey]int{}}
}

func (c changeCounts) add(change fakeapi.Change) {
	key := changeKey{"MODIFIED", change.Resource.Group, change.Resource.Resource, change.Namespace, change.Name}
	switch {
	case change.Previous == nil:
		key.change = "ADDED"
	case change.Object == nil:
		key.change = "DELETED"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byObject[key]++
}

// count returns the number of changes of the objects whose names match a pattern. The name of key
// is not used.
func (c changeCounts) count(key changeKey, pattern string) int {
	prefix, isPrefix := strings.CutSuffix(pattern, "*")
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for other, count := range c.byObject {
		key.name = other.name
		if other == key && (other.name == pattern || isPrefix && strings.HasPrefix(other.name, prefix)) {
			n += count
		}
	}
	return n
}

// countChanges starts counting changes if a step of the script expects their number.
func (e *Env) countChanges(ctx context.Context, s script) {
	needed := false
	for _, p := range s {
		needed = needed || expectsChanges(p.step)
	}
	if !needed {
		return
	}
	server, after := e.Server(), e.Server().ResourceVersion()
	go func() {
		if err := server.EachChange(ctx, after, e.changes.add); err != nil {
			utilruntime.HandleError(err)
		}
	}()
	e.waitIdleFunc()
}

// expectsChanges reports whether a step is an expectChanges, or runs one.
func expectsChanges(s Step) bool {
	_, is := innermost(s).(expectChanges)
	return is
}
