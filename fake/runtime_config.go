package fakeapi

import (
	"fmt"
	"maps"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// WithRuntimeConfig enables and disables built-in APIs, as --runtime-config of kube-apiserver does.
// The keys are api/all, api/ga, api/beta, api/alpha, GROUP/VERSION or GROUP/VERSION/RESOURCE, where
// the core group is "". The values are "true" or "false". By default the server serves what
// kube-apiserver v1.37 does: all stable versions. A version that is disabled has no paths, no
// discovery and no OpenAPI; its objects stay in the storage. These can be enabled besides:
//
//	admissionregistration.k8s.io/v1beta1, v1alpha1   MutatingAdmissionPolicies and their bindings
//	certificates.k8s.io/v1beta1                      ClusterTrustBundles
//	resource.k8s.io/v1beta2                          all types
//	resource.k8s.io/v1alpha3                         DeviceTaintRules
//	storagemigration.k8s.io/v1beta1                  StorageVersionMigrations
//
// A key for another version of kube-apiserver v1.37 is an error, and so is an unknown group or
// version. api/all, api/beta and api/alpha leave out what cannot be enabled. If the option is given
// several times, the keys of all count.
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

// builtinTypes returns the table of the built-in types.
func (o *options) builtinTypes() (*resource.Table, error) {
	switch {
	case len(o.runtimeConfig) > 0:
		table, err := builtin.WithRuntimeConfig(o.validation, o.runtimeConfig)
		if err != nil {
			return nil, fmt.Errorf("fakeapi: runtime config: %w", err)
		}
		return table, nil
	case !o.validation:
		return builtin.TableWithoutValidation(), nil
	}
	return builtin.Table(), nil
}
