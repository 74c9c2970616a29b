package faults

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
)

// randomSequences are sequences of random numbers, one for each key, that follow from
// one seed: the order in which keys take their turns changes none of them.
type randomSequences struct {
	seed uint64

	mu    sync.Mutex           // guards byKey
	byKey map[string]*rand.PCG // nil until the first is asked for
}

func newRandomSequences(seed uint64) *randomSequences { return &randomSequences{seed: seed} }

// next gives a number from 0 to below 1.
func (s *randomSequences) next(key string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byKey[key]
	if one == nil {
		h := fnv.New64a()
		h.Write([]byte(key))
		one = rand.NewPCG(s.seed, h.Sum64())
		if s.byKey == nil {
			s.byKey = map[string]*rand.PCG{}
		}
		s.byKey[key] = one
	}
	return rand.New(one).Float64()
}
