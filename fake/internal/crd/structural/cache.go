package structural

import (
	"sync"

	"k8s.io/utils/lru"
)

// cacheSize is the number of schemas that the cache of the process holds. The compiled form of a
// large schema takes some megabytes.
const cacheSize = 128

// shared is the cache of the process, the only state of this package.
var shared = sync.OnceValue(func() *cache { return newCache(cacheSize) })

// compiledKey identifies a compiled schema.
type compiledKey struct {
	schema   string // digest
	preserve bool
}

// cache holds the compiled schemas that were used last.
type cache struct {
	mu      sync.Mutex // makes a look-up and the following addition one operation
	entries *lru.Cache // of func() (*compiled, error) by compiledKey
}

func newCache(size int) *cache { return &cache{entries: lru.New(size)} }

// get returns the schema with a key, which it compiles once, outside of the lock. It keeps failures
// too.
func (c *cache) get(key compiledKey, compile func() (*compiled, error)) (*compiled, error) {
	return c.entry(key, compile)()
}

// entry returns the entry of a key, and adds it if there is none.
func (c *cache) entry(key compiledKey, compile func() (*compiled, error)) func() (*compiled, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Get(key); ok {
		return e.(func() (*compiled, error))
	}
	added := sync.OnceValues(compile)
	c.entries.Add(key, added)
	return added
}
