package faults

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
)

// randomSequences has one sequence of random numbers for each key. The sequences depend on the seed
// and the key only, not on the order in which keys are used.
type randomSequences struct {
	seed uint64

	mu    sync.Mutex           // guards byKey
	byKey map[string]*rand.PCG // nil until the first use
}

func newRandomSequences(seed uint64) *randomSequences { return &randomSequences{seed: seed} }

// next returns the next number of a key, from 0 up to but not including 1.
func (s *randomSequences) next(key string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	pcg := s.byKey[key]
	if pcg == nil {
		h := fnv.New64a()
		h.Write([]byte(key))
		pcg = rand.NewPCG(s.seed, h.Sum64())
		if s.byKey == nil {
			s.byKey = map[string]*rand.PCG{}
		}
		s.byKey[key] = pcg
	}
	return rand.New(pcg).Float64()
}
