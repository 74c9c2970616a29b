package core

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateLifecycleAndProbes validates the hooks and the probes of a container that runs as long as
// its pod.
func validateLifecycleAndProbes(spec *corev1.PodSpec, c *corev1.Container, p *validate.Path) (errs field.ErrorList) {
	if c.Lifecycle != nil {
		errs = validateLifecycle(c.Lifecycle, spec, p.Child("lifecycle"))
	}
	if c.LivenessProbe != nil {
		errs = append(errs, validateProbe(c.LivenessProbe, p.Child("livenessProbe"))...)
		errs = append(errs, validateOneSuccess(c.LivenessProbe, p.Child("livenessProbe"))...)
	}
	if c.ReadinessProbe != nil {
		errs = append(errs, validateProbe(c.ReadinessProbe, p.Child("readinessProbe"))...)
		if seconds := c.ReadinessProbe.TerminationGracePeriodSeconds; seconds != nil {
			errs = append(errs, p.Child("readinessProbe").Child("terminationGracePeriodSeconds").Invalid(*seconds, "must not be set for readinessProbes"))
		}
	}
	if c.StartupProbe != nil {
		errs = append(errs, validateProbe(c.StartupProbe, p.Child("startupProbe"))...)
		errs = append(errs, validateOneSuccess(c.StartupProbe, p.Child("startupProbe"))...)
	}
	return errs
}

// validateNoLifecycleAndProbes validates that a container that runs before the others has no hooks
// and no probes.
func validateNoLifecycleAndProbes(c *corev1.Container, p *validate.Path) (errs field.ErrorList) {
	const message = "may not be set for init containers without restartPolicy=Always"
	if c.Lifecycle != nil {
		errs = append(errs, p.Child("lifecycle").Forbidden(message))
	}
	if c.LivenessProbe != nil {
		errs = append(errs, p.Child("livenessProbe").Forbidden(message))
	}
	if c.ReadinessProbe != nil {
		errs = append(errs, p.Child("readinessProbe").Forbidden(message))
	}
	if c.StartupProbe != nil {
		errs = append(errs, p.Child("startupProbe").Forbidden(message))
	}
	return errs
}

func validateProbe(probe *corev1.Probe, p *validate.Path) field.ErrorList {
	h := handler{probe.Exec, probe.HTTPGet, probe.TCPSocket, probe.GRPC, nil}
	errs := validateHandler(h, nil, p)
	errs = append(errs, validate.NonNegative(int64(probe.InitialDelaySeconds), p.Child("initialDelaySeconds"))...)
	errs = append(errs, validate.NonNegative(int64(probe.TimeoutSeconds), p.Child("timeoutSeconds"))...)
	errs = append(errs, validate.NonNegative(int64(probe.PeriodSeconds), p.Child("periodSeconds"))...)
	errs = append(errs, validate.NonNegative(int64(probe.SuccessThreshold), p.Child("successThreshold"))...)
	errs = append(errs, validate.NonNegative(int64(probe.FailureThreshold), p.Child("failureThreshold"))...)
	if seconds := probe.TerminationGracePeriodSeconds; seconds != nil && *seconds <= 0 {
		errs = append(errs, p.Child("terminationGracePeriodSeconds").Invalid(*seconds, "must be greater than 0"))
	}
	return errs
}

// validateOneSuccess validates that a probe succeeds the first time.
func validateOneSuccess(probe *corev1.Probe, p *validate.Path) field.ErrorList {
	if probe.SuccessThreshold == 1 {
		return nil
	}
	return field.ErrorList{p.Child("successThreshold").Invalid(probe.SuccessThreshold, "must be 1")}
}

func validateLifecycle(lifecycle *corev1.Lifecycle, spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if h := lifecycle.PostStart; h != nil {
		hook := handler{h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep}
		errs = validateHandler(hook, spec.TerminationGracePeriodSeconds, p.Child("postStart"))
	}
	if h := lifecycle.PreStop; h != nil {
		hook := handler{h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep}
		errs = append(errs, validateHandler(hook, spec.TerminationGracePeriodSeconds, p.Child("preStop"))...)
	}
	if lifecycle.StopSignal != nil {
		errs = append(errs, validateStopSignal(*lifecycle.StopSignal, spec.OS, p.Child("stopSignal"))...)
	}
	return errs
}

// handler is what a probe or a hook does: one of these.
type handler struct {
	exec      *corev1.ExecAction
	httpGet   *corev1.HTTPGetAction
	tcpSocket *corev1.TCPSocketAction
	grpc      *corev1.GRPCAction
	sleep     *corev1.SleepAction
}

// validateHandler validates that a probe or a hook does one thing, and what it does. gracePeriod is
// that of the pod.
func validateHandler(h handler, gracePeriod *int64, p *validate.Path) field.ErrorList {
	one := oneOf{message: "may not specify more than 1 handler type"}
	if h.exec != nil && one.isFirst(p.Child("exec")) && len(h.exec.Command) == 0 {
		one.add(field.ErrorList{p.Child("exec").Child("command").Required("")})
	}
	if h.httpGet != nil && one.isFirst(p.Child("httpGet")) {
		one.add(validateHTTPGetAction(h.httpGet, p.Child("httpGet")))
	}
	if h.tcpSocket != nil && one.isFirst(p.Child("tcpSocket")) {
		one.add(validatePortNumberOrName(h.tcpSocket.Port, p.Child("tcpSocket").Child("port")))
	}
	if h.grpc != nil && one.isFirst(p.Child("grpc")) {
		one.add(validate.PortNumber(h.grpc.Port, p.Child("grpc").Child("port")))
	}
	if h.sleep != nil && one.isFirst(p.Child("sleep")) {
		one.add(validateSleepAction(h.sleep, gracePeriod, p.Child("sleep")))
	}
	if one.n == 0 {
		one.add(field.ErrorList{p.Required("must specify a handler type")})
	}
	return one.errs
}

func validateHTTPGetAction(get *corev1.HTTPGetAction, p *validate.Path) field.ErrorList {
	errs := requireValue(get.Path, p.Child("path"))
	errs = append(errs, validatePortNumberOrName(get.Port, p.Child("port"))...)
	if get.Scheme != corev1.URISchemeHTTP && get.Scheme != corev1.URISchemeHTTPS {
		errs = append(errs, validate.NotSupported(p.Child("scheme"), get.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS))
	}
	for i := range get.HTTPHeaders {
		name := get.HTTPHeaders[i].Name
		errs = append(errs, validate.Messages(name, validation.IsHTTPHeaderName(name), p.Child("httpHeaders"))...)
	}
	return errs
}

// validatePortNumberOrName validates a port of a container.
func validatePortNumberOrName(port intstr.IntOrString, p *validate.Path) field.ErrorList {
	switch port.Type {
	case intstr.Int:
		return validate.PortNumber(port.IntVal, p)
	case intstr.String:
		return validate.Messages(port.StrVal, validation.IsValidPortName(port.StrVal), p)
	}
	return field.ErrorList{field.InternalError(p.Field(), fmt.Errorf("unknown type: %v", port.Type))}
}

// validateSleepAction validates that a hook does not sleep longer than the grace period, which is
// nil if it is missing.
func validateSleepAction(sleep *corev1.SleepAction, gracePeriod *int64, p *validate.Path) field.ErrorList {
	if gracePeriod == nil || 0 <= sleep.Seconds && sleep.Seconds <= *gracePeriod {
		return nil
	}
	return field.ErrorList{p.Invalid(sleep.Seconds,
		fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *gracePeriod))}
}

// validateStopSignal validates the signal that stops a container. Operating systems have their own.
func validateStopSignal(signal corev1.Signal, os *corev1.PodOS, p *validate.Path) field.ErrorList {
	if os == nil {
		return field.ErrorList{p.Forbidden("may not be set for containers with empty `spec.os.name`")}
	}
	var signals []corev1.Signal
	switch os.Name {
	case corev1.Windows:
		signals = []corev1.Signal{corev1.SIGKILL, corev1.SIGTERM}
	case corev1.Linux:
		signals = linuxSignals()
	}
	if len(signals) == 0 || slices.Contains(signals, signal) {
		return nil
	}
	return field.ErrorList{validate.NotSupported(p, signal, signals...)}
}

// linuxSignals returns the signals of Linux in alphabetical order.
func linuxSignals() []corev1.Signal {
	signals := []corev1.Signal{
		corev1.SIGABRT, corev1.SIGALRM, corev1.SIGBUS, corev1.SIGCHLD, corev1.SIGCLD, corev1.SIGCONT, corev1.SIGFPE,
		corev1.SIGHUP, corev1.SIGILL, corev1.SIGINT, corev1.SIGIO, corev1.SIGIOT, corev1.SIGKILL, corev1.SIGPIPE,
		corev1.SIGPOLL, corev1.SIGPROF, corev1.SIGPWR, corev1.SIGQUIT, corev1.SIGRTMAX, corev1.SIGRTMIN,
		corev1.SIGSEGV, corev1.SIGSTKFLT, corev1.SIGSTOP, corev1.SIGSYS, corev1.SIGTERM, corev1.SIGTRAP,
		corev1.SIGTSTP, corev1.SIGTTIN, corev1.SIGTTOU, corev1.SIGURG, corev1.SIGUSR1, corev1.SIGUSR2,
		corev1.SIGVTALRM, corev1.SIGWINCH, corev1.SIGXCPU, corev1.SIGXFSZ,
	}
	for i := 1; i <= 15; i++ {
		signals = append(signals, corev1.Signal(fmt.Sprintf("%s+%d", corev1.SIGRTMIN, i)))
	}
	for i := 1; i <= 14; i++ {
		signals = append(signals, corev1.Signal(fmt.Sprintf("%s-%d", corev1.SIGRTMAX, i)))
	}
	slices.Sort(signals)
	return signals
}

// validateRestartRules validates when a container restarts. p is the path of the container.
func validateRestartRules(c *corev1.Container, p *validate.Path) field.ErrorList {
	errs := validateContainerRestartPolicy(c, p)
	const maxRules = 20
	rules := p.Child("restartPolicyRules")
	if n := len(c.RestartPolicyRules); n > maxRules {
		errs = append(errs, rules.TooMany(n, maxRules))
	}
	for i := range c.RestartPolicyRules {
		errs = append(errs, validateRestartRule(&c.RestartPolicyRules[i], rules.Index(i))...)
	}
	return errs
}

// validateInitRestartRules validates when an init container restarts.
func validateInitRestartRules(c *corev1.Container, p *validate.Path) field.ErrorList {
	if c.RestartPolicy == nil {
		return validateContainerRestartPolicy(c, p)
	}
	return validateRestartRules(c, p)
}

// validateContainerRestartPolicy validates the restart policy of a container. Those with rules have
// one.
func validateContainerRestartPolicy(c *corev1.Container, p *validate.Path) field.ErrorList {
	if c.RestartPolicy == nil {
		if len(c.RestartPolicyRules) == 0 {
			return nil
		}
		return field.ErrorList{p.Child("restartPolicy").Required("must specify restartPolicy when restart rules are used")}
	}
	switch *c.RestartPolicy {
	case corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure:
		return nil
	}
	return field.ErrorList{validate.NotSupported(p.Child("restartPolicy"), *c.RestartPolicy,
		corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)}
}

func validateRestartRule(rule *corev1.ContainerRestartRule, p *validate.Path) (errs field.ErrorList) {
	if rule.Action != corev1.ContainerRestartRuleActionRestart && rule.Action != corev1.ContainerRestartRuleActionRestartAllContainers {
		errs = append(errs, validate.NotSupported(p.Child("action"), rule.Action,
			corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers))
	}
	codes := p.Child("exitCodes")
	if rule.ExitCodes == nil {
		return append(errs, codes.Required("must be specified"))
	}
	if op := rule.ExitCodes.Operator; op != corev1.ContainerRestartRuleOnExitCodesOpIn && op != corev1.ContainerRestartRuleOnExitCodesOpNotIn {
		errs = append(errs, validate.NotSupported(codes.Child("operator"), op,
			corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn))
	}
	const maxValues = 255
	if n := len(rule.ExitCodes.Values); n > maxValues {
		errs = append(errs, codes.Child("values").TooMany(n, maxValues))
	}
	return errs
}
