package memstore

import (
	"strings"
	"sync"

	"github.com/google/btree"
)

// dirCounts counts the keys in each directory: "" is the whole store, "pods/" a resource,
// "pods/default/" a namespace. Trees of successive states share unchanged nodes, and a write that
// neither creates nor deletes shares the whole tree.
type dirCounts struct {
	mu   sync.Mutex // guards tree during Clone, which modifies it; forks may clone it concurrently
	tree *btree.BTreeG[dirCount]
}

type dirCount struct {
	dir string
	n   int
}

func newDirCounts() *dirCounts {
	const degree = 8 // small nodes, because changed nodes are copied
	return &dirCounts{tree: btree.NewG(degree, func(a, b dirCount) bool { return a.dir < b.dir })}
}

// get returns the number of keys in a directory, which is "" or ends in "/".
func (c *dirCounts) get(dir string) int {
	d, _ := c.tree.Get(dirCount{dir: dir})
	return d.n
}

// apply returns the counts after events.
func (c *dirCounts) apply(events []*Event) *dirCounts {
	next := c
	for _, e := range events {
		if (e.Record == nil) == (e.Prev == nil) {
			continue
		}
		if next == c {
			c.mu.Lock()
			next = &dirCounts{tree: c.tree.Clone()}
			c.mu.Unlock()
		}
		if e.Prev == nil {
			next.addKey(e.Record.Key, 1)
		} else {
			next.addKey(e.Prev.Key, -1)
		}
	}
	return next
}

// addKey adds n to the counts of all directories that contain key.
func (c *dirCounts) addKey(key string, n int) {
	for dir := 0; ; {
		d, _ := c.tree.Get(dirCount{dir: key[:dir]})
		if d.n += n; d.n == 0 {
			c.tree.Delete(d)
		} else {
			c.tree.ReplaceOrInsert(dirCount{key[:dir], d.n})
		}
		i := strings.IndexByte(key[dir:], '/')
		if i < 0 {
			return
		}
		dir += i + 1
	}
}
