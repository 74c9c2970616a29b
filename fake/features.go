package fakeapi

import (
	"fmt"
	"slices"
)

// Feature is a feature gate of the API server, by its name in Kubernetes.
type Feature string

// The features that can be enabled and disabled.
const (
	// WatchList is streaming lists. If it is disabled, sendInitialEvents gets 422, and clients fall
	// back to a list and a watch (SI-12). The default is enabled.
	WatchList Feature = "WatchList"
	// AggregatedDiscovery is all of discovery in two documents. If it is disabled, a client that
	// asks for them gets the others, if it accepts those. The default is enabled.
	AggregatedDiscovery Feature = "AggregatedDiscoveryEndpoint"
	// CBOR is the encoding CBOR for requests and responses (CB-02): application/cbor for objects
	// and lists, application/cbor-seq for watches, and application/apply-patch+cbor. The default is
	// disabled, as in v1.37: these media types get 406 and 415 (CB-01).
	CBOR Feature = "CBORServingAndStorage"
)

func allFeatures() []Feature { return []Feature{WatchList, AggregatedDiscovery, CBOR} }

// WithFeature enables or disables a feature from the start; see Server.SetFeature.
func WithFeature(f Feature, enabled bool) Option {
	return func(o *options) error {
		if err := f.validate(); err != nil {
			return err
		}
		if o.features == nil {
			o.features = map[Feature]bool{}
		}
		o.features[f] = enabled
		return nil
	}
}

// SetFeature enables or disables a feature for requests from now on. Other features than the
// constants of this package are an error.
func (s *Server) SetFeature(f Feature, enabled bool) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.note("SetFeature %s to %t", f, enabled)
	switch f {
	case WatchList:
		s.api.SetWatchList(enabled)
		s.compressor.SetWatchList(enabled)
	case AggregatedDiscovery:
		s.aggregatedDiscovery.Store(enabled)
	case CBOR:
		s.cbor.Store(enabled)
	}
	return nil
}

func (f Feature) validate() error {
	if !slices.Contains(allFeatures(), f) {
		return fmt.Errorf("fakeapi: feature %q cannot be set; the features are %q", f, allFeatures())
	}
	return nil
}

// setFeatures sets the features of the options.
func (s *Server) setFeatures() error {
	s.aggregatedDiscovery.Store(true)
	for f, enabled := range s.opts.features {
		if err := s.SetFeature(f, enabled); err != nil {
			return err
		}
	}
	return nil
}
