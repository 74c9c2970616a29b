package soak

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/anishathalye/porcupine"

	"example.com/fakeapi/internal/dev/verify/linearizability"
	"example.com/fakeapi/internal/dev/verify/watchguarantees"
)

// The functions of this file compare the events that the recorder saw with the responses that the
// clients received.

// operation is a write of a client that may have been carried out.
type operation struct {
	Operation porcupine.Operation
	matched   bool
}

func (o *operation) String() string { return linearizability.FormatOperation(o.Operation) }

// checkWrites compares the writes to the objects of a group with the history of its clients. writes
// are of the group's kind and namespace, ordered by revision.
func checkWrites(namespace string, history []porcupine.Operation, writes []watchguarantees.Write) (violations []string) {
	byKey, byRevision := possibleWrites(history)
	for _, w := range writes {
		seen, err := parseContent(w.Content)
		if err != nil {
			violations = append(violations, fmt.Sprintf("unreadable: %v: %v", w.Object, err))
			continue
		}
		key := w.Key[len(namespace)+1:]
		if o := byRevision[w.Revision]; o != nil {
			o.matched = true
			if why := o.difference(key, w.Verb, seen); why != "" {
				violations = append(violations, fmt.Sprintf("wrong response: %s of %v, where %s: %v", w.Verb, w.Object, why, o))
			}
			continue
		}
		i := slices.IndexFunc(byKey[key], func(o *operation) bool { return !o.matched && o.mayExplain(w.Verb, seen.Content) })
		if i < 0 {
			violations = append(violations, fmt.Sprintf("unexplained write: %s of %v", w.Verb, w.Object))
			continue
		}
		byKey[key][i].matched = true
	}
	for _, o := range byRevision {
		if !o.matched {
			violations = append(violations, fmt.Sprintf("never happened: %v", o))
		}
	}
	return violations
}

// possibleWrites returns the writes that may have been carried out: those with a known revision by
// that, all others by key, completed ones first.
func possibleWrites(history []porcupine.Operation) (byKey map[string][]*operation, byRevision map[uint64]*operation) {
	byKey, byRevision = map[string][]*operation{}, map[uint64]*operation{}
	for _, lost := range []bool{false, true} {
		for _, op := range history {
			req, resp := op.Input.(linearizability.Request), op.Output.(linearizability.Response)
			if req.IsRead() || req.DryRun || resp.Code >= http.StatusBadRequest || lost != (resp.Code == 0) {
				continue
			}
			o := &operation{Operation: op}
			if resp.ResourceVersion != 0 {
				byRevision[resp.ResourceVersion] = o
			} else {
				byKey[req.Key] = append(byKey[req.Key], o)
			}
		}
	}
	return byKey, byRevision
}

// parseContent returns the uid and the content of an object from a watch event.
func parseContent(object string) (linearizability.Response, error) {
	uid, content, err := linearizability.ParseObject(object)
	return linearizability.Response{UID: uid, Content: content}, err
}

// difference describes how the response differs from the event, or returns "" if it does not.
func (o *operation) difference(key, verb string, seen linearizability.Response) string {
	req, resp := o.Operation.Input.(linearizability.Request), o.Operation.Output.(linearizability.Response)
	switch {
	case req.Key != key:
		return "the key differs"
	case req.WriteVerb() != verb && !(req.Verb == "apply" && verb == "create" && resp.Code == http.StatusCreated):
		return "the verb differs"
	case resp.UID != seen.UID:
		return "the uid differs"
	case resp.Content != req.VisibleContent(seen.Content):
		return "the content differs"
	}
	return ""
}

// mayExplain reports whether an event can be from this operation, whose revision is unknown.
func (o *operation) mayExplain(verb, content string) bool {
	req := o.Operation.Input.(linearizability.Request)
	if req.WriteVerb() != verb && !(req.Verb == "apply" && verb == "create") {
		return false
	}
	now := linearizability.DecodeContent(content)
	for key, value := range req.Set {
		if now[key] != value {
			return false
		}
	}
	return true
}
