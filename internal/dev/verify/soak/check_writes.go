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

func (d *operation) String() string { return linearizability.FormatOperation(d.Operation) }

// checkWrites compares the writes to the objects of a group with the history of its clients. writes
// are of the group's kind and namespace, ordered by revision.
func checkWrites(namespace string, history []porcupine.Operation, writes []watchguarantees.Write) (complaints []string) {
	deeds, told := possibleWrites(history)
	for _, w := range writes {
		seen, err := parseContent(w.Content)
		if err != nil {
			complaints = append(complaints, fmt.Sprintf("unreadable: %v: %v", w.Object, err))
			continue
		}
		key := w.Key[len(namespace)+1:]
		if d := told[w.Revision]; d != nil {
			d.matched = true
			if why := d.difference(key, w.Verb, seen); why != "" {
				complaints = append(complaints, fmt.Sprintf("told otherwise: %s of %v, where %s: %v", w.Verb, w.Object, why, d))
			}
			continue
		}
		i := slices.IndexFunc(deeds[key], func(d *operation) bool { return !d.matched && d.mayExplain(w.Verb, seen.Content) })
		if i < 0 {
			complaints = append(complaints, fmt.Sprintf("nobody's doing: %s of %v", w.Verb, w.Object))
			continue
		}
		deeds[key][i].matched = true
	}
	for _, d := range told {
		if !d.matched {
			complaints = append(complaints, fmt.Sprintf("told, and never happened: %v", d))
		}
	}
	return complaints
}

// possibleWrites returns the writes that may have been carried out: those with a known revision by
// that, all others by key, completed ones first.
func possibleWrites(history []porcupine.Operation) (deeds map[string][]*operation, told map[uint64]*operation) {
	deeds, told = map[string][]*operation{}, map[uint64]*operation{}
	for _, lost := range []bool{false, true} {
		for _, op := range history {
			q, a := op.Input.(linearizability.Request), op.Output.(linearizability.Response)
			if q.IsRead() || q.DryRun || a.Code >= http.StatusBadRequest || lost != (a.Code == 0) {
				continue
			}
			d := &operation{Operation: op}
			if a.ResourceVersion != 0 {
				told[a.ResourceVersion] = d
			} else {
				deeds[q.Key] = append(deeds[q.Key], d)
			}
		}
	}
	return deeds, told
}

// parseContent returns the uid and the content of an object from a watch event.
func parseContent(object string) (linearizability.Response, error) {
	uid, content, err := linearizability.ParseObject(object)
	return linearizability.Response{UID: uid, Content: content}, err
}

// difference describes how the response differs from the event, or returns "" if it does not.
func (d *operation) difference(key, verb string, seen linearizability.Response) string {
	q, a := d.Operation.Input.(linearizability.Request), d.Operation.Output.(linearizability.Response)
	switch {
	case q.Key != key:
		return "the key was told"
	case q.WriteVerb() != verb && !(q.Verb == "apply" && verb == "create" && a.Code == http.StatusCreated):
		return "the verb was told"
	case a.UID != seen.UID:
		return "the uid was told"
	case a.Content != q.VisibleContent(seen.Content):
		return "the content was told"
	}
	return ""
}

// mayExplain reports whether an event can be from this operation, whose revision is unknown.
func (d *operation) mayExplain(verb, content string) bool {
	q := d.Operation.Input.(linearizability.Request)
	if q.WriteVerb() != verb && !(q.Verb == "apply" && verb == "create") {
		return false
	}
	now := linearizability.DecodeContent(content)
	for key, value := range q.Set {
		if now[key] != value {
			return false
		}
	}
	return true
}
