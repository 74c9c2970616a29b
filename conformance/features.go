package conformance

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The feature gates that rules depend on, by their names in Kubernetes: keys of [Config].Features.
const (
	// CBORServingAndStorage lets clients send and ask for CBOR (CB). It is off by default in v1.37.
	CBORServingAndStorage = "CBORServingAndStorage"
	// WatchList is streaming lists (SI). It is on by default.
	WatchList = "WatchList"
)

// FeatureGates gives the names of the feature gates that cases depend on, which are the keys that [Config].Features may have.
func FeatureGates() []string { return []string{CBORServingAndStorage, WatchList} }

// checkFeatures refuses gates that no case looks at.
func (c Config) checkFeatures() error {
	known := FeatureGates()
	var wrong []error
	for _, gate := range slices.Sorted(maps.Keys(c.Features)) {
		if !slices.Contains(known, gate) {
			wrong = append(wrong, fmt.Errorf("conformance: Features names %q, but no case depends on it; there are %q", gate, known))
		}
	}
	return errors.Join(wrong...)
}

// forFeature is an expectation that depends on a feature: of servers without it, and of those with it. What Config.Features does not say is up
// to the server.
func (s *session) forFeature(gate string, without, with failure) expectation {
	on, specified := s.run.config.Features[gate]
	return func(a *response) error {
		err := without.check(a)
		if specified && on || err != nil && !specified && with.check(a) == nil {
			return with.check(a)
		}
		return err
	}
}

// skipWithoutFeature ends a case that needs a feature which the server was found not to have: it is skipped, unless the server should have it.
func (s *session) skipWithoutFeature(gate, seen string) error { return s.skipOrFail(gate, false, seen) }

// skipWithFeature ends a case about servers without a feature which this one was found to have.
func (s *session) skipWithFeature(gate, seen string) error { return s.skipOrFail(gate, true, seen) }

// skipOrFail holds what was seen of a feature against Config.Features.
func (s *session) skipOrFail(gate string, on bool, seen string) error {
	if want, specified := s.run.config.Features[gate]; specified && want != on {
		return fmt.Errorf("Config.Features says %s=%t, but %s", gate, want, seen)
	}
	return s.skipf("%s: the rule depends on the feature gate %s", seen, gate)
}
