// Package flags compares the flags of package kubeapiserver with those that the libraries of
// kube-apiserver define.
package flags

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // defines the flags of the format JSON
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/version/verflag"

	"example.com/fakeapi/internal/cmd/kubeapiserver"
)

// libraryFlags returns the flags of the libraries, with the defaults of kube-apiserver where it
// changes those of a library.
func libraryFlags() cliflag.NamedFlagSets {
	sections := cliflag.NamedFlagSets{NormalizeNameFunc: cliflag.WordSepNormalizeFunc}
	options.NewServerRunOptions().AddUniversalFlags(sections.FlagSet("generic"))
	etcd := options.NewEtcdOptions(storagebackend.NewDefaultConfig("/registry", nil))
	etcd.DefaultStorageMediaType = "application/vnd.kubernetes.protobuf"
	etcd.AddFlags(sections.FlagSet("etcd"))
	serving := options.NewSecureServingOptions()
	serving.BindPort, serving.Required, serving.ServerCert.CertDirectory = 6443, true, "/var/run/kubernetes"
	serving.AddFlags(sections.FlagSet("secure serving"))
	options.NewAuditOptions().AddFlags(sections.FlagSet("auditing"))
	options.NewFeatureOptions().AddFlags(sections.FlagSet("features"))
	(&options.ClientCertAuthenticationOptions{}).AddFlags(sections.FlagSet("authentication"))
	(&options.RequestHeaderAuthenticationOptions{}).AddFlags(sections.FlagSet("authentication"))
	options.NewAPIEnablementOptions().AddFlags(sections.FlagSet("API enablement"))
	options.NewEgressSelectorOptions().AddFlags(sections.FlagSet("egress selector"))
	options.NewAdmissionOptions().AddFlags(sections.FlagSet("admission"))
	metrics.NewOptions().AddFlags(sections.FlagSet("metrics"))
	logsapi.AddFlags(logs.NewOptions(), sections.FlagSet("logs"))
	options.NewTracingOptions().AddFlags(sections.FlagSet("traces"))
	verflag.AddFlags(sections.FlagSet("global"))
	globalflag.AddGlobalFlags(sections.FlagSet("global"), "kube-apiserver", logs.SkipLoggingConfigurationFlags())
	return sections
}

// property is what is compared of a flag.
type property struct {
	Name, Shorthand, Type, Default, WithoutValue, Deprecated string
	Hidden                                                   bool
}

func propertyOf(f *pflag.Flag) property {
	return property{f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.NoOptDefVal, f.Deprecated, f.Hidden}
}

// ownFlags are those of k8s.io/kubernetes, in sections that the libraries define completely
// otherwise.
var ownFlags = map[string][]string{
	"generic":   {"default-not-ready-toleration-seconds", "default-unreachable-toleration-seconds"},
	"admission": {"admission-control"},
}

// mixedSection is the one to which k8s.io/kubernetes adds many flags.
const mixedSection = "authentication"

func TestFlagsAreThoseOfTheLibraries(t *testing.T) {
	got, err := kubeapiserver.FlagSets()
	require.NoError(t, err)
	libraries := libraryFlags()
	require.Subset(t, got.Order, libraries.Order)
	for name, want := range libraries.FlagSets {
		count := 0
		want.VisitAll(func(f *pflag.Flag) {
			count++
			own := got.FlagSets[name].Lookup(f.Name)
			require.NotNil(t, own, "%s: --%s is missing", name, f.Name)
			require.Equal(t, propertyOf(f), propertyOf(own))
		})
		require.NotZero(t, count)
		got.FlagSets[name].VisitAll(func(f *pflag.Flag) {
			if want.Lookup(f.Name) == nil && name != mixedSection {
				require.Contains(t, ownFlags[name], f.Name, "%s: the libraries do not define it", name)
			}
		})
	}
}
