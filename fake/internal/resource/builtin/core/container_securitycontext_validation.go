package core

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateSecurityContext validates the security context of a container, which may be nil.
// hostUsers is set if the pod has no user namespace of its own.
func validateSecurityContext(sc *corev1.SecurityContext, hostUsers bool, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if sc == nil {
		return nil
	}
	if sc.RunAsUser != nil {
		errs = append(errs, validate.Messages(*sc.RunAsUser, validation.IsValidUserID(*sc.RunAsUser), p.Child("runAsUser"))...)
	}
	if sc.RunAsGroup != nil {
		errs = append(errs, validate.Messages(*sc.RunAsGroup, validation.IsValidGroupID(*sc.RunAsGroup), p.Child("runAsGroup"))...)
	}
	if sc.ProcMount != nil {
		errs = append(errs, validateProcMount(*sc.ProcMount, hostUsers, p.Child("procMount"))...)
	}
	errs = append(errs, validateSeccompProfile(sc.SeccompProfile, p.Child("seccompProfile"))...)
	errs = append(errs, validatePrivilegeEscalation(sc, opts, p)...)
	errs = append(errs, validateWindowsOptions(sc.WindowsOptions, p.Child("windowsOptions"))...)
	return append(errs, validateAppArmorProfile(sc.AppArmorProfile, p.Child("appArmorProfile"))...)
}

func validateProcMount(mount corev1.ProcMountType, hostUsers bool, p *validate.Path) field.ErrorList {
	switch {
	case mount != corev1.DefaultProcMount && mount != corev1.UnmaskedProcMount:
		return field.ErrorList{validate.NotSupported(p, mount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)}
	case hostUsers && mount == corev1.UnmaskedProcMount:
		return field.ErrorList{p.Invalid(mount, "`hostUsers` must be false to use `Unmasked`")}
	}
	return nil
}

// maxReportedPrivileges is how often a privilege is reported that is added many times. The errors
// have the whole security context. A server reports all.
const maxReportedPrivileges = 16

// capSysAdmin is the capability that a container that cannot gain privileges cannot add. A server
// does not know it by the name SYS_ADMIN.
const capSysAdmin corev1.Capability = "CAP_SYS_ADMIN"

// canEscalate reports whether a container can gain privileges.
func canEscalate(sc *corev1.SecurityContext) bool {
	return sc.AllowPrivilegeEscalation == nil || *sc.AllowPrivilegeEscalation
}

// validatePrivilegeEscalation validates that a container that cannot gain privileges has none.
func validatePrivilegeEscalation(sc *corev1.SecurityContext, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if canEscalate(sc) {
		return nil
	}
	if sc.Privileged != nil && *sc.Privileged {
		errs = append(errs, p.Invalid(sc, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	}
	if sc.Capabilities == nil || opts.anySysAdmin {
		return errs
	}
	for _, added := range sc.Capabilities.Add {
		if added == capSysAdmin && len(errs) < maxReportedPrivileges {
			errs = append(errs, p.Invalid(sc, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
		}
	}
	return errs
}

// validateSeccompProfile validates the seccomp profile of a pod or of a container, which may be
// nil.
func validateSeccompProfile(profile *corev1.SeccompProfile, p *validate.Path) (errs field.ErrorList) {
	if profile == nil {
		return nil
	}
	switch profile.Type {
	case corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined:
	case "":
		errs = append(errs, p.Child("type").Required("type is required when seccompProfile is set"))
	default:
		errs = append(errs, validate.NotSupported(p.Child("type"), profile.Type,
			corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined))
	}
	file := p.Child("localhostProfile")
	switch isLocal := profile.Type == corev1.SeccompProfileTypeLocalhost; {
	case isLocal && profile.LocalhostProfile == nil:
		errs = append(errs, file.Required("must be set when seccomp type is Localhost"))
	case isLocal:
		errs = append(errs, validateLocalDescendingPath(*profile.LocalhostProfile, file)...)
	case profile.LocalhostProfile != nil:
		errs = append(errs, file.Invalid(profile, "can only be set when seccomp type is Localhost"))
	}
	return errs
}

// validateAppArmorProfile validates the AppArmor profile of a pod or of a container, which may be
// nil.
func validateAppArmorProfile(profile *corev1.AppArmorProfile, p *validate.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	switch profile.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		return validateLocalAppArmorProfile(profile.LocalhostProfile, p.Child("localhostProfile"))
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if profile.LocalhostProfile != nil {
			return field.ErrorList{p.Child("localhostProfile").Invalid(*profile.LocalhostProfile, "can only be set when AppArmor type is Localhost")}
		}
		return nil
	case "":
		return field.ErrorList{p.Child("type").Required("type is required when appArmorProfile is set")}
	}
	return field.ErrorList{validate.NotSupported(p.Child("type"), profile.Type,
		corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)}
}

func validateLocalAppArmorProfile(name *string, p *validate.Path) (errs field.ErrorList) {
	switch {
	case name == nil || *name == "":
		return field.ErrorList{p.Required("must be set when AppArmor type is Localhost")}
	case strings.TrimSpace(*name) != *name:
		errs = append(errs, p.Invalid(*name, "must not be padded with whitespace"))
	}
	const maxLength = 4095 // that of a path
	if len(*name) > maxLength {
		errs = append(errs, p.TooLong(maxLength))
	}
	return errs
}

// validateWindowsOptions validates the options of a pod or of a container for Windows, which may be
// nil.
func validateWindowsOptions(options *corev1.WindowsSecurityContextOptions, p *validate.Path) (errs field.ErrorList) {
	if options == nil {
		return nil
	}
	if name := options.GMSACredentialSpecName; name != nil {
		errs = append(errs, validate.DNSSubdomain(*name, p.Child("gmsaCredentialSpecName"))...)
	}
	if spec := options.GMSACredentialSpec; spec != nil {
		const maxKiB = 64
		switch {
		case *spec == "":
			errs = append(errs, p.Child("gmsaCredentialSpec").Invalid(*spec, "gmsaCredentialSpec cannot be an empty string"))
		case len(*spec) > maxKiB*1024:
			errs = append(errs, p.Child("gmsaCredentialSpec").Invalid(*spec, fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB", maxKiB)))
		}
	}
	if options.RunAsUserName != nil {
		errs = append(errs, validate.Messages(*options.RunAsUserName, isWindowsUserName(*options.RunAsUserName), p.Child("runAsUserName"))...)
	}
	return errs
}

// The forms of the domain of a user of Windows.
var (
	netBIOSName    = regexp.MustCompile(`^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$`)
	windowsDNSName = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
)

// isWindowsUserName returns what is wrong with the name of a user of Windows: USER or DOMAIN\USER.
func isWindowsUserName(name string) (problems []string) {
	domain, user, hasDomain := strings.Cut(name, `\`)
	switch {
	case name == "":
		return []string{"runAsUserName cannot be an empty string"}
	case strings.IndexFunc(name, isASCIIControl) >= 0:
		return []string{"runAsUserName cannot contain control characters"}
	case strings.Contains(user, `\`):
		return []string{"runAsUserName cannot contain more than one backslash"}
	case !hasDomain:
		domain, user = "", name
	}
	const maxDomain, maxUser = 256, 104
	if len(domain) >= maxDomain {
		problems = append(problems, fmt.Sprintf("runAsUserName's Domain length must be under %d characters", maxDomain))
	}
	if hasDomain && !netBIOSName.MatchString(domain) && !windowsDNSName.MatchString(domain) {
		problems = append(problems, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	switch {
	case user == "":
		problems = append(problems, "runAsUserName's User cannot be empty")
	case len(user) > maxUser:
		problems = append(problems, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", maxUser))
	}
	if user != "" && strings.Trim(user, ". ") == "" {
		problems = append(problems, "runAsUserName's User cannot contain only periods or spaces")
	}
	const forbidden = `"/\:;|=,+*?<>@[]`
	if strings.ContainsAny(user, forbidden) {
		problems = append(problems, "runAsUserName's User cannot contain the following characters: "+forbidden)
	}
	return problems
}

// isASCIIControl reports whether a character is a control character of ASCII.
func isASCIIControl(r rune) bool { return r <= unicode.MaxASCII && unicode.IsControl(r) }
