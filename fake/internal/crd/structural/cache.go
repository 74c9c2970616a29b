package structural

import (
	"container/list"
	"sync"
)

// cacheSize is how many schemas are kept. More than a test defines; of a large one
// the compiled form takes some megabytes.
const cacheSize = 128

// shared is the cache of the process. A cache is all the state that this package has.
var shared = sync.OnceValue(func() *cache { return newCache(cacheSize) })

// compiledKey finds a compiled schema.
type compiledKey struct {
	schema   string // digest
	preserve bool
}

// cache keeps compiled schemas, those that were asked for last.
type cache struct {
	size int

	mu     sync.Mutex // guards what follows
	recent *list.List // of *cached, the latest in front
	byKey  map[compiledKey]*list.Element
}

// cached is a schema that is made outside the lock of the cache, once.
type cached struct {
	key  compiledKey
	make func() (*compiled, error)
}

func newCache(size int) *cache {
	return &cache{size: size, recent: list.New(), byKey: map[compiledKey]*list.Element{}}
}

// get gives what is kept under a key, or makes and keeps it. One that cannot be made
// is kept as well, and fails the same way again.
func (c *cache) get(key compiledKey, make func() (*compiled, error)) (*compiled, error) {
	return c.entry(key, make).make()
}

// entry finds an entry or adds it, and drops the oldest beyond the size.
func (c *cache) entry(key compiledKey, make func() (*compiled, error)) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.recent.MoveToFront(e)
		return e.Value.(*cached)
	}
	added := &cached{key: key, make: sync.OnceValues(make)}
	c.byKey[key] = c.recent.PushFront(added)
	for c.recent.Len() > c.size {
		oldest := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.byKey, oldest.key)
	}
	return added
}
