package scenario

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// linked is a step that others build on, or that builds on others.
type linked interface{ link(*ledger) }

// ledger is what is known in the middle of a scenario, as far as it can be told
// without running it.
type ledger struct {
	step    int               // the number of the step at hand
	facts   map[string]string // about watches, clients and rules
	objects map[string]string // content by "NAMESPACE/NAME"; what was deleted is "deleted"
	writes  []string          // all that was done to objects
	ends    string            // what has ended all watches of a server, in order
	// troubles are those in force.
	troubles map[trouble]bool
	// at is the server that steps are at, "" for the first.
	at string
	// snapshots are the objects that there were, by the name of the snapshot.
	snapshots map[string]map[string]string
	// collections are what watches are about, by their names.
	collections map[string]Collection
	// reads is what the step at hand builds on.
	reads map[string]string
	// stays tells that it cannot be left out.
	stays bool
}

// deleted is the content of an object that was deleted.
const deleted = "deleted"

// read builds on a fact.
func (l *ledger) read(about string) { l.reads[about] = l.facts[about] }

// objectKey is the key of an object. That kinds have several names only a server can
// tell, so the kind is not in it; nor is it known whether it has namespaces.
func objectKey(namespace, name string) string {
	return cmp.Or(namespace, defaultNamespace) + "/" + name
}

// readObject builds on an object as it is, and on its namespace.
func (l *ledger) readObject(namespace, name string) {
	l.readNamespace(namespace)
	key := objectKey(namespace, name)
	l.reads["object "+key] = l.objects[key]
}

// readThere builds on whether there is an object, with whatever is in it.
func (l *ledger) readThere(namespace, name string) {
	key := objectKey(namespace, name)
	content, written := l.objects[key]
	l.reads["there "+key] = strconv.FormatBool(written && content != deleted)
}

// readNamespace builds on a namespace.
func (l *ledger) readNamespace(namespace string) {
	key := objectKey("", cmp.Or(namespace, defaultNamespace))
	l.reads["namespace "+key] = l.objects[key]
}

// write says how an object is from now on.
func (l *ledger) write(namespace, name, content string) {
	l.readNamespace(namespace)
	key := objectKey(namespace, name)
	l.objects[key] = content
	l.writes = append(l.writes, key+" "+content)
}

// change says that a part of an object is another from now on.
func (l *ledger) change(namespace, name, part string) {
	l.write(namespace, name, l.objects[objectKey(namespace, name)]+"\n"+part)
}

// readList builds on which objects there are.
func (l *ledger) readList(of Collection) {
	l.readNamespace(of.Namespace)
	var there []string
	for _, key := range slices.Sorted(maps.Keys(l.objects)) {
		if l.objects[key] != deleted && of.mayHave(key) {
			there = append(there, key)
		}
	}
	l.reads["list"] = strings.Join(there, " ")
}

// readWrites builds on all that was done to the objects of a collection.
func (l *ledger) readWrites(of Collection) {
	var about []string
	for _, w := range l.writes {
		if of.mayHave(w) {
			about = append(about, w)
		}
	}
	l.reads["writes"] = strings.Join(about, "\n")
	l.reads["ends"] = l.ends
}

// endWatches says that the watches of the server that steps are at end.
func (l *ledger) endWatches(why string) { l.ends += why + " " + l.at + "\n" }

// mayHave reports whether an object with such a key may be in the collection.
func (c Collection) mayHave(key string) bool {
	return c.AllNamespaces || strings.HasPrefix(key, objectKey(c.Namespace, ""))
}

// account is what the steps of a scenario build on.
type account map[int]entry

type entry struct {
	reads    map[string]string
	troubles map[trouble]bool
	stays    bool
}

func accountOf(c candidate) account {
	all := account{}
	l := &ledger{
		facts: map[string]string{}, objects: map[string]string{}, troubles: map[trouble]bool{},
		collections: map[string]Collection{}, snapshots: map[string]map[string]string{},
	}
	for _, s := range c {
		l.step, l.reads, l.stays = s.n, map[string]string{}, false
		troubles := maps.Clone(l.troubles)
		link(s.Step, l)
		all[s.n] = entry{l.reads, troubles, l.stays}
	}
	return all
}

// link enters a step.
func link(s Step, l *ledger) {
	if s, ok := s.(linked); ok {
		s.link(l)
	}
}

// repaired leaves the steps of a candidate out that have lost what they build on
// in the original, and reports whether that has helped.
func (original account) repaired(c candidate) (candidate, bool) {
	if twoContents(c) {
		return nil, false
	}
	for {
		now := accountOf(c)
		before := len(c)
		c = slices.DeleteFunc(slices.Clone(c), func(s numbered) bool {
			return !maps.Equal(now[s.n].reads, original[s.n].reads)
		})
		if len(c) == before {
			return c, original.allows(now)
		}
	}
}

// allows reports whether what must stay is there, and no step runs in trouble that was
// over, or had not begun, in the original.
func (original account) allows(now account) bool {
	for n, e := range original {
		if _, there := now[n]; e.stays && !there {
			return false
		}
	}
	for n, e := range now {
		for t := range e.troubles {
			if !original[n].troubles[t] {
				return false
			}
		}
	}
	return true
}

// twoContents reports whether two steps have a file of one name, but not the same.
func twoContents(c candidate) bool {
	known := map[string]string{}
	for _, s := range c {
		for _, f := range filesOf(s.Step) {
			if data, there := known[f.name]; there && data != f.data {
				return true
			}
			known[f.name] = f.data
		}
	}
	return false
}
