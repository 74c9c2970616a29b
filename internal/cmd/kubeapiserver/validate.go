package kubeapiserver

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// validate returns all errors in the values of flags, in the order of kube-apiserver, or the first
// one of those that end it before: in feature gates, in the log and in the ranges of Services.
func (f *Flags) validate() error {
	for _, check := range []func() error{f.features.registry.Set, f.validateLog, f.completeServices} {
		if err := check(); err != nil {
			return controlplane.Failure(err)
		}
	}
	f.completeServiceAccounts()
	var errs []error
	for _, check := range []func() []error{
		f.validateGeneric, f.features.registry.Validate, f.validateEmulation, f.validateEtcd, f.validatePriorityAndFairness, f.validateServing,
		f.validateAuthentication, f.validateAuthorization, f.validateAudit, f.validateAdmission, f.validateRuntimeConfig,
		f.validateServiceAccountKeys, f.validateMetrics, f.validateLeadership, f.validateServices,
	} {
		errs = append(errs, check()...)
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		return controlplane.Failure(err)
	}
	return nil
}

// notNegative returns an error if a value is negative.
func notNegative[T int | time.Duration](value T, message string) []error {
	if value < 0 {
		return []error{errors.New(message)}
	}
	return nil
}

func (f *Flags) validateGeneric() []error {
	l := &f.limits
	errs := slices.Concat(
		notNegative(l.livezGracePeriod, "--livez-grace-period can not be a negative value"),
		notNegative(l.maxRequestsInFlight, "--max-requests-inflight can not be negative value"),
		notNegative(l.maxMutatingRequestsInFlight, "--max-mutating-requests-inflight can not be negative value"),
		notNegative(l.requestTimeout, "--request-timeout can not be negative value"),
	)
	if l.goawayChance < 0 || l.goawayChance > 0.02 {
		errs = append(errs, errors.New("--goaway-chance can not be less than 0 or greater than 0.02"))
	}
	errs = append(errs, slices.Concat(
		notNegative(l.minRequestTimeout, "--min-request-timeout can not be negative value"),
		notNegative(l.storageInitializationTimeout, "--storage-initialization-timeout can not be negative value"),
		notNegative(f.ShutdownDelay, "--shutdown-delay-duration can not be negative value"),
		notNegative(l.watchTerminationGracePeriod, "shutdown-watch-termination-grace-period, if provided, can not be a negative value"),
	)...)
	return append(errs, validateStrictTransportSecurity(l.strictTransportSecurity)...)
}

func validateStrictTransportSecurity(directives []string) (errs []error) {
	for _, directive := range directives {
		name, _, hasValue := strings.Cut(directive, "=")
		switch {
		case strings.TrimSpace(directive) == "":
			errs = append(errs, errors.New("empty value in strict-transport-security-directives"))
		case directive == "includeSubDomains", directive == "preload", name == "max-age" && hasValue && strings.Count(directive, "=") == 1:
		default:
			errs = append(errs, errors.New("--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information"))
		}
	}
	if len(errs) > 0 {
		return []error{utilerrors.NewAggregate(errs)}
	}
	return nil
}

// validateEmulation checks the flags that need an older --emulated-version.
func (f *Flags) validateEmulation() (errs []error) {
	version := f.features.registry.EffectiveVersionFor("kube")
	if !version.BinaryVersion().WithPatch(0).EqualTo(version.EmulationVersion()) {
		return nil
	}
	const message = "ServerRunOptions.%s cannot be set to true if the emulation version is the same as the binary version"
	if f.features.emulationForwardCompatible {
		errs = append(errs, fmt.Errorf(message, "EmulationForwardCompatible"))
	}
	if f.features.runtimeConfigForwardCompatible {
		errs = append(errs, fmt.Errorf(message, "RuntimeConfigEmulationForwardCompatible"))
	}
	return errs
}

func (f *Flags) validateEtcd() (errs []error) {
	s := &f.storage
	if len(f.EtcdServers) == 0 {
		errs = append(errs, errors.New("--etcd-servers must be specified"))
	}
	if s.backend != "" && s.backend != "etcd3" {
		errs = append(errs, errors.New("--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'"))
	}
	if s.encryptionConfig == "" && s.encryptionReload {
		errs = append(errs, errors.New("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"))
	}
	mediaTypes := []string{"application/json", "application/vnd.kubernetes.protobuf", "application/yaml"}
	if s.mediaType != "" && !slices.Contains(mediaTypes, s.mediaType) {
		errs = append(errs, fmt.Errorf("--storage-media-type %q invalid, allowed values: %s", s.mediaType, strings.Join(mediaTypes, ", ")))
	}
	return errs
}

func (f *Flags) validatePriorityAndFairness() []error {
	if !f.priorityAndFairness {
		return nil
	}
	for _, key := range []string{"flowcontrol.apiserver.k8s.io/v1", "api/ga", "api/all"} {
		switch f.features.runtimeConfig[key] {
		case "false":
			return []error{fmt.Errorf("--runtime-config=%s=false conflicts with --enable-priority-and-fairness=true", key)}
		case "true":
			return nil
		}
	}
	return nil
}

func (f *Flags) validateServing() []error {
	if f.SecurePort < 1 || f.SecurePort > 65535 {
		return []error{fmt.Errorf("--secure-port %v must be between 1 and 65535, inclusive. It cannot be turned off with 0", f.SecurePort)}
	}
	return nil
}

func (f *Flags) validateAdmission() (errs []error) {
	known := admissionPlugins()
	check := func(flag string, names []string) {
		for _, name := range names {
			if !slices.Contains(known, name) {
				errs = append(errs, fmt.Errorf("%s plugin %q is unknown", flag, name))
			}
		}
	}
	check("enable-admission-plugins", f.admission.enabled)
	check("disable-admission-plugins", f.admission.disabled)
	both := map[string]bool{}
	for _, name := range f.admission.enabled {
		if slices.Contains(f.admission.disabled, name) {
			both[name] = true
		}
	}
	if len(both) > 0 {
		errs = append(errs, fmt.Errorf("%v in enable-admission-plugins and disable-admission-plugins overlapped", slices.Sorted(maps.Keys(both))))
	}
	if len(f.admission.ordered) > 0 && len(f.admission.enabled)+len(f.admission.disabled) > 0 {
		errs = append(errs, errors.New("admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"))
	}
	return errs
}

func (f *Flags) validateRuntimeConfig() (errs []error) {
	config := f.features.runtimeConfig
	if len(config) == 1 && config["api/all"] == "false" {
		return []error{errors.New("invalid runtime-config with only api/all=false")}
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if value := config[key]; value != "true" && value != "false" && value != "" {
			errs = append(errs, fmt.Errorf("runtime-config invalid value %s=%s", key, value))
		}
	}
	return errs
}

func (f *Flags) validateMetrics() []error {
	v := f.misc.hiddenMetricsVersion
	if v == "" {
		return nil
	}
	if previous := "1.36"; v != previous {
		return []error{fmt.Errorf("--show-hidden-metrics-for-version must be omitted or have the value '%v'. Only the previous minor version is allowed", previous)}
	}
	return nil
}

func (f *Flags) validateLeadership() (errs []error) {
	lease, renew, retry := f.misc.leaseDuration, f.misc.renewDeadline, f.misc.retryPeriod
	if lease <= renew {
		errs = append(errs, fmt.Errorf("--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline"))
	}
	if renew <= retry {
		errs = append(errs, fmt.Errorf("--coordinated-leadership-renew-deadline must be greater than --coordinated-leadership-retry-period"))
	}
	return errs
}

// Values of --logging-format.
const (
	logFormatText = "text"
	logFormatJSON = "json"
)

func (f *Flags) validateLog() error {
	l := &f.log
	var errs []error
	if l.flushFrequency <= 0 {
		errs = append(errs, fmt.Errorf("flushFrequency: Invalid value: %q: Must be greater than zero", l.flushFrequency))
	}
	if l.format != logFormatText && l.format != logFormatJSON {
		errs = append(errs, fmt.Errorf("format: Invalid value: %q: Unsupported log format", l.format))
	}
	if l.format == logFormatJSON && !f.features.gate.Enabled(loggingBetaOptions) {
		errs = append(errs, errors.New("format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature"))
	}
	if len(l.modules.items) > 0 && l.format != logFormatText {
		errs = append(errs, errors.New("vmodule: Forbidden: Only supported for text log format"))
	}
	if !f.features.gate.Enabled(loggingAlphaOptions) {
		for _, option := range []struct {
			path string
			set  bool
		}{
			{"text.splitStream", l.textSplit}, {"text.infoBufferSize", l.textBuffer.String() != "0"},
			{"json.splitStream", l.jsonSplit}, {"json.infoBufferSize", l.jsonBuffer.String() != "0"},
		} {
			if option.set {
				errs = append(errs, fmt.Errorf("options.%s: Forbidden: Feature %s is disabled", option.path, loggingAlphaOptions))
			}
		}
	}
	return utilerrors.NewAggregate(errs)
}
