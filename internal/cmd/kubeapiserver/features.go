package kubeapiserver

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"

	fakeapi "example.com/fakeapi/fake"
)

// featureFlags are those that enable and disable features and APIs.
type featureFlags struct {
	gate featuregate.MutableVersionedFeatureGate
	// registry has the gate and the version of kube-apiserver. It defines, parses and checks
	// --feature-gates, --emulated-version and --min-compatibility-version.
	registry compatibility.ComponentGlobalsRegistry
	defined  *pflag.FlagSet
	// byDefault has the states of the supported features without flags.
	byDefault map[featuregate.Feature]bool

	runtimeConfig cliflag.ConfigurationMap

	emulationForwardCompatible, runtimeConfigForwardCompatible bool
}

// binaryVersion is the version of releaseVersion, and versionFloor is the oldest one that can be
// emulated.
const (
	binaryVersion = "1.37"
	versionFloor  = "1.34"
)

// The features of flags about the log.
const (
	loggingAlphaOptions featuregate.Feature = "LoggingAlphaOptions"
	loggingBetaOptions  featuregate.Feature = "LoggingBetaOptions"
)

// newFeatureFlags returns the flags with all feature gates of kube-apiserver.
func newFeatureFlags() (f featureFlags, err error) {
	f.gate = featuregate.NewVersionedFeatureGate(utilversion.MustParse(binaryVersion))
	// The import of package features registers its gates there.
	gates := utilfeature.DefaultMutableFeatureGate.GetAllVersioned()
	maps.DeleteFunc(gates, func(feature featuregate.Feature, _ featuregate.VersionedSpecs) bool { return isSpecialGate(feature) })
	for _, name := range kubernetesFeatures() {
		gates[featuregate.Feature(name)] = featuregate.VersionedSpecs{{Version: utilversion.MustParse("1.0"), PreRelease: featuregate.Alpha}}
	}
	for value, names := range lockedFeatures() {
		for _, name := range names {
			gates[featuregate.Feature(name)] = featuregate.VersionedSpecs{
				{Version: utilversion.MustParse("1.0"), PreRelease: featuregate.Alpha},
				{Version: utilversion.MustParse("1.37"), Default: value, LockToDefault: true, PreRelease: featuregate.GA},
			}
		}
	}
	gates[loggingBetaOptions] = featuregate.VersionedSpecs{{Version: utilversion.MustParse("1.24"), Default: true, PreRelease: featuregate.Beta}}
	if err := f.gate.AddVersioned(gates); err != nil {
		return f, err
	}
	f.registry = compatibility.NewComponentGlobalsRegistry()
	version := compatibility.NewEffectiveVersionFromString(binaryVersion, versionFloor, versionFloor)
	if err := f.registry.Register(compatibility.DefaultKubeComponent, version, f.gate); err != nil {
		return f, err
	}
	f.byDefault = map[featuregate.Feature]bool{}
	for feature := range supportedFeatures() {
		f.byDefault[feature] = f.gate.Enabled(feature)
	}
	f.defined = pflag.NewFlagSet("", pflag.ContinueOnError)
	f.registry.AddFlags(f.defined)
	f.runtimeConfig = cliflag.ConfigurationMap{}
	return f, nil
}

// isSpecialGate reports whether a gate stands for several ones.
func isSpecialGate(feature featuregate.Feature) bool {
	return feature == "AllAlpha" || feature == "AllBeta"
}

// definition returns that of one of the flags of the registry.
func (f *featureFlags) definition() definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flag := f.defined.Lookup(name)
		flag.Usage = description
		flags.AddFlag(flag)
	}
}

// supportedFeatures returns the features that have an effect here.
func supportedFeatures() map[featuregate.Feature]fakeapi.Feature {
	return map[featuregate.Feature]fakeapi.Feature{
		features.WatchList:             fakeapi.WatchList,
		features.CBORServingAndStorage: fakeapi.CBOR,
	}
}

// options returns the options for the features that have an effect and are not as by default, and
// the names of the others that flags set.
func (f *featureFlags) options() (opts []fakeapi.Option, withoutEffect []string) {
	supported := supportedFeatures()
	for _, feature := range slices.Sorted(maps.Keys(supported)) {
		if enabled := f.gate.Enabled(feature); enabled != f.byDefault[feature] {
			opts = append(opts, fakeapi.WithFeature(supported[feature], enabled))
		}
	}
	for setting := range strings.SplitSeq(f.defined.Lookup("feature-gates").Value.String(), ",") {
		name, _, found := strings.Cut(setting[strings.Index(setting, ":")+1:], "=") // COMPONENT:NAME=BOOL
		if _, isSupported := supported[featuregate.Feature(name)]; found && !isSupported && !isSpecialGate(featuregate.Feature(name)) {
			withoutEffect = append(withoutEffect, name)
		}
	}
	return opts, withoutEffect
}
