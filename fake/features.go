package fakeapi

import (
	"fmt"
	"slices"
)

// Feature is a feature gate of the API server, by its name in Kubernetes.
type Feature string

// The features that can be switched off, to be what servers were before they had them.
const (
	// WatchList is streaming lists. Without it sendInitialEvents is refused with 422,
	// and clients fall back to a list and a watch (SI-12).
	WatchList Feature = "WatchList"
	// AggregatedDiscovery is all of discovery in two documents. Without it a client that
	// asks for them gets the plain ones, if it accepts those.
	AggregatedDiscovery Feature = "AggregatedDiscoveryEndpoint"
)

// features are those that can be switched off.
func features() []Feature { return []Feature{WatchList, AggregatedDiscovery} }

// WithoutFeatures switches features off from the start; see Server.SetFeature.
func WithoutFeatures(off ...Feature) Option {
	return func(o *options) error {
		for _, f := range off {
			if err := f.check(); err != nil {
				return err
			}
		}
		o.disabledFeatures = append(o.disabledFeatures, off...)
		return nil
	}
}

// SetFeature switches a feature on or off, for requests that come from now on. All are
// on by default; another than those named above is refused.
func (s *Server) SetFeature(f Feature, on bool) error {
	if err := f.check(); err != nil {
		return err
	}
	switch f {
	case WatchList:
		s.api.SetWatchList(on)
		s.compressor.SetWatchList(on)
	case AggregatedDiscovery:
		s.aggregatedDiscoveryOff.Store(!on)
	}
	return nil
}

func (f Feature) check() error {
	if !slices.Contains(features(), f) {
		return fmt.Errorf("fakeapi: feature %q cannot be switched; those that can are %q", f, features())
	}
	return nil
}

// disableFeatures switches off what the options say.
func (s *Server) disableFeatures() error {
	for _, f := range s.opts.disabledFeatures {
		if err := s.SetFeature(f, false); err != nil {
			return err
		}
	}
	return nil
}
