package fakeapi

import (
	"fmt"
	"maps"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// WithRuntimeConfig enables and disables built-in APIs, as --runtime-config of kube-apiserver does.
// The keys are api/all, api/ga, api/beta, api/alpha, GROUP/VERSION or GROUP/VERSION/RESOURCE, where the
// core group is "". The values are "true" or "false". By default the server serves what kube-apiserver
// v1.37 does: all stable versions, and no others of most groups. A version that is disabled has no
// paths, no discovery and no OpenAPI; its objects stay in the storage. An unknown version, and one
// that this server cannot serve, is an error. If the option is given several times, the keys of all
// count.
func WithRuntimeConfig(config map[string]string) Option {
	return func(o *options) error {
		merged := maps.Clone(o.runtimeConfig)
		if merged == nil {
			merged = map[string]string{}
		}
		maps.Copy(merged, config)
		o.runtimeConfig = merged
		return nil
	}
}

// withRuntimeConfig returns the resources of table that the runtime configuration enables.
func (o *options) withRuntimeConfig(table *resource.Table) (*resource.Table, error) {
	if len(o.runtimeConfig) == 0 {
		return table, nil
	}
	served, err := builtin.WithRuntimeConfig(table, o.runtimeConfig)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: runtime config: %w", err)
	}
	return served, nil
}
