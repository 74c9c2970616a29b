package handlers

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
)

// IDs makes what a server invents: uids, the ends of generated names, the random
// part of a time. With a seed it makes the same ones in the same order every time.
type IDs struct {
	seed   [32]byte
	mu     sync.Mutex
	source *rand.ChaCha8
}

// NewIDs makes a source from a seed.
func NewIDs(seed [32]byte) *IDs { return &IDs{seed: seed, source: rand.NewChaCha8(seed)} }

// UID makes a version 4 UUID (MD-02).
func (ids *IDs) UID() types.UID {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	return types.UID(uuid.Must(uuid.NewRandomFromReader(ids.source)).String())
}

// Jitter makes a duration from 0 up to d.
func (ids *IDs) Jitter(d time.Duration) time.Duration {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	return time.Duration(rand.New(ids.source).Int64N(int64(d)))
}

// The parts of a generated name (NM-05, NM-06, NM-10): the base is cut so that
// the name is no longer than a DNS label may be, and the end has no letters
// that could make a word.
const (
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"
	suffixLength  = 5
	maxBaseLength = 63 - suffixLength
)

// GenerateName makes a name from a generateName base.
func (ids *IDs) GenerateName(base string) string {
	if len(base) > maxBaseLength {
		base = base[:maxBaseLength]
	}
	name := append(make([]byte, 0, len(base)+suffixLength), base...)
	ids.mu.Lock()
	defer ids.mu.Unlock()
	random := rand.New(ids.source)
	for range suffixLength {
		name = append(name, suffixLetters[random.IntN(len(suffixLetters))])
	}
	return string(name)
}
