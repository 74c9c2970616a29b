package conformance

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The feature gates that rules depend on, by their Kubernetes names. They are keys of
// [Config].Features.
const (
	// CBORServingAndStorage enables requests and responses in CBOR (CB). It is off by default in
	// v1.37.
	CBORServingAndStorage = "CBORServingAndStorage"
	// ConstrainedImpersonation enables verbs such as impersonate-on:user-info:get (RB). It is on by
	// default.
	ConstrainedImpersonation = "ConstrainedImpersonation"
	// WatchList enables streaming lists (SI). It is on by default.
	WatchList = "WatchList"
)

// FeatureGates returns the names of the feature gates that cases depend on, which are the valid
// keys of [Config].Features.
func FeatureGates() []string {
	return []string{CBORServingAndStorage, ConstrainedImpersonation, WatchList}
}

// checkFeatures returns an error for gates that no case depends on.
func (c Config) checkFeatures() error {
	known := FeatureGates()
	var wrong []error
	for _, gate := range slices.Sorted(maps.Keys(c.Features)) {
		if !slices.Contains(known, gate) {
			wrong = append(wrong, fmt.Errorf("conformance: unknown feature gate %q in Features; known are %q", gate, known))
		}
	}
	return errors.Join(wrong...)
}

// forFeature returns an expectation that depends on a feature gate. If Config.Features does not
// contain the gate, the response may match either failure.
func (s *session) forFeature(gate string, without, with failure) expectation {
	on, specified := s.run.config.Features[gate]
	return func(r *response) error {
		err := without.check(r)
		if specified && on || err != nil && !specified && with.check(r) == nil {
			return with.check(r)
		}
		return err
	}
}

// skipWithoutFeature skips a case because the server lacks a feature, or fails it if the server
// should have the feature.
func (s *session) skipWithoutFeature(gate, seen string) error { return s.skipOrFail(gate, false, seen) }

// skipWithFeature skips a case because the server has a feature, or fails it if the server should
// not have the feature.
func (s *session) skipWithFeature(gate, seen string) error { return s.skipOrFail(gate, true, seen) }

// skipOrFail returns a failure if the observed state of a feature contradicts Config.Features, and
// skips the case otherwise.
func (s *session) skipOrFail(gate string, on bool, seen string) error {
	if want, specified := s.run.config.Features[gate]; specified && want != on {
		return fmt.Errorf("Config.Features says %s=%t, but %s", gate, want, seen)
	}
	return s.skipf("%s: the rule depends on the feature gate %s", seen, gate)
}
