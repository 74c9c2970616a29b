package fakeapi_test

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/anishathalye/porcupine"
)

// The record of a round is what the scribe saw, held against what the clients did: what a
// client was told of happened as it was told, and what happened was somebody's doing.

// deed is a write of a client that may have happened.
type deed struct {
	op   porcupine.Operation
	used bool
}

func (d *deed) String() string { return shownOperation(d.op) }

// unaccounted holds the writes to the objects of an arena against its history. writes are of
// its kind and namespace, in the order of their revisions.
func unaccounted(namespace string, history []porcupine.Operation, writes []write) (complaints []string) {
	deeds, told := deedsOf(history)
	for _, w := range writes {
		seen, err := seenContent(w.content)
		if err != nil {
			complaints = append(complaints, fmt.Sprintf("unreadable: %v: %v", w.thing, err))
			continue
		}
		key := w.key[len(namespace)+1:]
		if d := told[w.rev]; d != nil {
			d.used = true
			if why := d.differs(key, w.verb, seen); why != "" {
				complaints = append(complaints, fmt.Sprintf("told otherwise: %s of %v, where %s: %v", w.verb, w.thing, why, d))
			}
			continue
		}
		i := slices.IndexFunc(deeds[key], func(d *deed) bool { return !d.used && d.explains(w.verb, seen.content) })
		if i < 0 {
			complaints = append(complaints, fmt.Sprintf("nobody's doing: %s of %v", w.verb, w.thing))
			continue
		}
		deeds[key][i].used = true
	}
	for _, d := range told {
		if !d.used {
			complaints = append(complaints, fmt.Sprintf("told, and never happened: %v", d))
		}
	}
	return complaints
}

// deedsOf are the writes that may have happened, by key, those first that have; of those
// whose revision was told, only that.
func deedsOf(history []porcupine.Operation) (deeds map[string][]*deed, told map[uint64]*deed) {
	deeds, told = map[string][]*deed{}, map[uint64]*deed{}
	for _, lost := range []bool{false, true} {
		for _, op := range history {
			q, a := op.Input.(question), op.Output.(tell)
			if q.reads() || q.dry || a.code >= http.StatusBadRequest || lost != (a.code == 0) {
				continue
			}
			d := &deed{op: op}
			if a.rv != 0 {
				told[a.rv] = d
			} else {
				deeds[q.key] = append(deeds[q.key], d)
			}
		}
	}
	return deeds, told
}

// seenContent is what the model knows of an object that a watch has shown.
func seenContent(object string) (tell, error) {
	uid, content, err := parseObject(object)
	return tell{uid: uid, content: content}, err
}

// differs tells how what the client was told differs from what was seen; "" if it does not.
func (d *deed) differs(key, verb string, seen tell) string {
	q, a := d.op.Input.(question), d.op.Output.(tell)
	switch {
	case q.key != key:
		return "the key was told"
	case q.writesAs() != verb && !(q.verb == "apply" && verb == "create" && a.code == http.StatusCreated):
		return "the verb was told"
	case a.uid != seen.uid:
		return "the uid was told"
	case a.content != q.sees(seen.content):
		return "the content was told"
	}
	return ""
}

// explains reports whether a write can be this deed, of which nobody was told the revision.
func (d *deed) explains(verb, content string) bool {
	q := d.op.Input.(question)
	if q.writesAs() != verb && !(q.verb == "apply" && verb == "create") {
		return false
	}
	now := annotations(content)
	for key, value := range q.set {
		if now[key] != value {
			return false
		}
	}
	return true
}

// writesAs is what a watch shows the write of a question as; an apply can be a create, too.
func (q question) writesAs() string {
	switch q.verb {
	case "create":
		return "create"
	case "delete", "sweep":
		return "delete"
	}
	return "update"
}
