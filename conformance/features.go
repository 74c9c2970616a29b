package conformance

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The feature gates that rules depend on.
const (
	gateCBOR    = "CBORServingAndStorage"
	gateStreams = "WatchList"
)

// checkFeatures refuses gates that no case looks at.
func (c Config) checkFeatures() error {
	known := []string{gateCBOR, gateStreams}
	var wrong []error
	for _, gate := range slices.Sorted(maps.Keys(c.Features)) {
		if !slices.Contains(known, gate) {
			wrong = append(wrong, fmt.Errorf("conformance: Features names %q, but no case depends on it; there are %q", gate, known))
		}
	}
	return errors.Join(wrong...)
}

// without ends a case that needs a feature which the server was found not to have: it is skipped, unless the server should have it.
func (s *session) without(gate, seen string) error { return s.found(gate, false, seen) }

// despite ends a case about servers without a feature which this one was found to have.
func (s *session) despite(gate, seen string) error { return s.found(gate, true, seen) }

// found holds what was seen of a feature against Config.Features.
func (s *session) found(gate string, on bool, seen string) error {
	if want, said := s.run.config.Features[gate]; said && want != on {
		return fmt.Errorf("Config.Features says %s=%t, but %s", gate, want, seen)
	}
	return s.skipf("%s: the rule depends on the feature gate %s", seen, gate)
}
