package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/faults"
)

// ruleJSON is the JSON form of a fault rule.
type ruleJSON struct{ faults.Rule }

// MarshalJSON implements json.Marshaler.
func (r ruleJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name string `json:"name,omitempty"`
		Rule string `json:"rule"`
	}{r.Name, r.String()})
}

func toRulesJSON(rules []faults.Rule) []ruleJSON {
	list := make([]ruleJSON, len(rules))
	for i, r := range rules {
		list[i] = ruleJSON{r}
	}
	return list
}

// readyMadeJSON is the JSON form of a ready-made fault.
type readyMadeJSON struct {
	Name    string     `json:"name"`
	Usage   string     `json:"usage"`
	Doc     string     `json:"description"`
	Example string     `json:"example"`
	Rules   []ruleJSON `json:"rules"`
}

// String returns the form of the fault, and below it its description, an example, and its rules.
func (f readyMadeJSON) String() string {
	lines := []string{f.Usage, f.Doc, "example: " + f.Example}
	for _, r := range f.Rules {
		lines = append(lines, r.String())
	}
	return strings.Join(lines, "\n    ") + "\n"
}

func (c *controlAPI) listReadyMade(w http.ResponseWriter, r *http.Request) error {
	var list []readyMadeJSON
	for _, f := range faults.ReadyMade() {
		list = append(list, readyMadeJSON{f.Name, f.Usage(), f.Doc, f.Example, toRulesJSON(f.Rules)})
	}
	return writeList(w, r, http.StatusOK, "faults", list)
}

// testFaults are the functions that remove the rules of tests, by the names of the tests.
type testFaults struct {
	mu     sync.Mutex // guards the fields below
	remove map[string][]func()
	count  int // of all functions
}

// add calls add and keeps the function that it returns for a test.
func (t *testFaults) add(test string, add func() (remove func(), err error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count >= maxTestFaults {
		return limitError(maxTestFaults, "additions of faults of tests")
	}
	remove, err := add()
	if err != nil {
		return err
	}
	if t.remove == nil {
		t.remove = make(map[string][]func())
	}
	t.remove[test] = append(t.remove[test], remove)
	t.count++
	return nil
}

// take returns the functions of a test, or of all tests for "", and forgets them.
func (t *testFaults) take(test string) (remove []func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if test == "" {
		t.remove, t.count = nil, 0
		return nil
	}
	remove = t.remove[test]
	t.count -= len(remove)
	delete(t.remove, test)
	return remove
}

func (c *controlAPI) listFaults(w http.ResponseWriter, r *http.Request) error {
	return writeList(w, r, http.StatusOK, "rules", toRulesJSON(c.server.faults.Rules()))
}

// addFaults adds the rules of the body, all or none, and responds with them.
func (c *controlAPI) addFaults(w http.ResponseWriter, r *http.Request) error {
	test, err := testParam(r)
	if err != nil {
		return err
	}
	body, err := readControlBody(w, r)
	if err != nil {
		return err
	}
	rules, err := faults.ParseAll(body)
	switch {
	case err != nil:
		return apierrors.NewBadRequest(err.Error())
	case len(rules) == 0:
		return apierrors.NewBadRequest("the body has no fault rule; it has one rule per line")
	case len(c.server.faults.Rules())+len(rules) > maxRules:
		return limitError(maxRules, "fault rules")
	}
	add := func() (remove func(), err error) {
		if remove, err = c.server.faults.Add(rules...); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return remove, nil
	}
	if test == "" {
		_, err = add()
	} else {
		err = c.testFaults.add(test, add)
	}
	if err != nil {
		return err
	}
	for _, rule := range rules {
		c.server.note("add fault %s%s", rule, ofTest(test))
	}
	return writeList(w, r, http.StatusCreated, "rules", toRulesJSON(rules))
}

// ofTest returns " of test TEST", or "" without one.
func ofTest(test string) string {
	if test == "" {
		return ""
	}
	return " of test " + test
}

func testParam(r *http.Request) (string, error) {
	test := r.URL.Query().Get("test")
	if len(test) > maxControlName {
		return "", apierrors.NewBadRequest(fmt.Sprintf("test: a name has at most %d bytes", maxControlName))
	}
	return test, nil
}

// clearFaults removes all rules, or those of the test of the parameter test.
func (c *controlAPI) clearFaults(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Has("test") {
		test, err := testParam(r)
		if err != nil {
			return err
		}
		if test == "" {
			return apierrors.NewBadRequest("test: the name is empty")
		}
		c.server.note("remove the faults of test %s", test)
		for _, remove := range c.testFaults.take(test) {
			remove()
		}
		return writeNoContent(w)
	}
	c.server.note("remove all faults")
	c.removeAllFaults()
	return writeNoContent(w)
}

func (c *controlAPI) removeAllFaults() {
	c.testFaults.take("")
	c.server.faults.Clear()
}

func (c *controlAPI) removeFaults(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if c.server.faults.Remove(name) == 0 {
		return faultNotFound(name)
	}
	c.server.note("remove fault %s", name)
	return writeNoContent(w)
}

func faultNotFound(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "faults"}, name)
}

// hitJSON is the JSON form of a hit.
type hitJSON struct{ faults.Hit }

// MarshalJSON implements json.Marshaler.
func (h hitJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"seq": h.Seq, "order": h.Order, "time": h.Time, "rule": h.Rule.Name, "phase": h.Op.Phase.String(), "operation": h.Op.String(),
		"path": h.Op.Path, "userAgent": h.Op.UserAgent, "webhook": h.Op.Webhook, "notApplied": h.NotApplied, "text": h.String(),
	})
}

func toHitsJSON(hits []faults.Hit) []hitJSON {
	list := make([]hitJSON, len(hits))
	for i, h := range hits {
		list[i] = hitJSON{h}
	}
	return list
}

// listHits responds with the hits that the parameters select. With wait, it waits for count of them
// that were applied.
func (c *controlAPI) listHits(w http.ResponseWriter, r *http.Request) error {
	since, err := c.sinceParam(r)
	if err != nil {
		return err
	}
	p, err := readWaitParams(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	rule, hasRule := query.Get("rule"), query.Has("rule")
	selected := func(h faults.Hit) bool { return h.Order > since && (!hasRule || h.Rule.Name == rule) }
	set := &c.server.faults
	if hasRule && !c.hasRule(rule) && !slices.ContainsFunc(set.Hits(), selected) {
		return faultNotFound(rule)
	}
	found, last := 0, uint64(0)
	fields, err := c.await(w, r, p, func() (bool, <-chan struct{}) {
		hits, next := set.HitsAfter(last)
		for _, h := range hits {
			last = h.Seq
			if selected(h) && h.NotApplied == "" {
				found++
			}
		}
		return found >= p.count, next
	})
	if err != nil {
		return err
	}
	next := c.server.recorder.Order()
	hits := slices.DeleteFunc(set.Hits(), func(h faults.Hit) bool { return !selected(h) || h.Order > next })
	setNext(w, next)
	return writeList(w, r, http.StatusOK, "hits", toHitsJSON(hits), append(fields, "next", next)...)
}

// hasRule reports whether there is an active rule with a name.
func (c *controlAPI) hasRule(name string) bool {
	return slices.ContainsFunc(c.server.faults.Rules(), func(r faults.Rule) bool { return r.Name == name })
}
