// Package ids generates the random values of an API server from a seed: uids, suffixes of generated
// names and the jitter of timeouts.
package ids

import (
	"crypto/sha256"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
)

// Generator generates random values. Generators with the same seed return the same values in the
// same order. It is safe for concurrent use.
type Generator struct {
	seed   [32]byte
	mu     sync.Mutex
	source *rand.ChaCha8 // guarded by mu
}

// New returns a Generator with a seed.
func New(seed [32]byte) *Generator {
	return &Generator{seed: seed, source: rand.NewChaCha8(seed)}
}

// Derive returns a seed for another purpose. It depends on the seed of g and on purpose only.
func (g *Generator) Derive(purpose string) [32]byte {
	return sha256.Sum256(append([]byte(purpose), g.seed[:]...))
}

// UID returns a version 4 UUID (MD-02).
func (g *Generator) UID() types.UID {
	g.mu.Lock()
	defer g.mu.Unlock()
	return types.UID(uuid.Must(uuid.NewRandomFromReader(g.source)).String())
}

// Jitter returns a random duration in [0, d).
func (g *Generator) Jitter(d time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Duration(rand.New(g.source).Int64N(int64(d)))
}

// The parts of a generated name (NM-05, NM-06, NM-10). The base is truncated so that the name is
// not longer than a DNS label. The letters of the suffix cannot form words.
const (
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"
	suffixLength  = 5
	maxBaseLength = 63 - suffixLength
)

// GenerateName returns base, the generateName of an object, with a random suffix.
func (g *Generator) GenerateName(base string) string {
	if len(base) > maxBaseLength {
		base = base[:maxBaseLength]
	}
	name := append(make([]byte, 0, len(base)+suffixLength), base...)
	g.mu.Lock()
	defer g.mu.Unlock()
	random := rand.New(g.source)
	for range suffixLength {
		name = append(name, suffixLetters[random.IntN(len(suffixLetters))])
	}
	return string(name)
}

// Uint64N returns a random number in [0, n).
func (g *Generator) Uint64N(n uint64) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return rand.New(g.source).Uint64N(n)
}
