package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateSecurityContext(t *testing.T) {
	const at = "spec.containers[0].securityContext"
	const unset = `,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,` +
		`"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}`
	const privileged = `: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true` + unset
	const twice = `: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN","CAP_SYS_ADMIN"],"Drop":null},"Privileged":null` + unset
	requireErrors(t, `spec: {containers: [{name: a, image: i, securityContext: {%s}}]}`, []validationCase{
		{`runAsUser: 2147483647, runAsGroup: 0, procMount: Default, privileged: true, allowPrivilegeEscalation: true, capabilities: {add: [CAP_SYS_ADMIN, any]}`, nil},
		{`runAsUser: -1, runAsGroup: 2147483648, procMount: Half`, []string{
			at + ".runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
			at + ".runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
			at + `.procMount: Unsupported value: "Half": supported values: "Default", "Unmasked"`,
		}},
		{`procMount: Unmasked`, []string{at + ".procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`"}},
		{`privileged: true, allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN]}`, []string{
			at + privileged + ": cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
			at + privileged + ": cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
		}},
		{`allowPrivilegeEscalation: false, capabilities: {add: [SYS_ADMIN]}`, nil},
		{`allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN, CAP_SYS_ADMIN]}`, []string{
			at + twice + ": cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
			at + twice + ": cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
		}},
		{`seccompProfile: {}, appArmorProfile: {}`, []string{
			at + ".seccompProfile.type: Required value: type is required when seccompProfile is set",
			at + ".appArmorProfile.type: Required value: type is required when appArmorProfile is set",
		}},
		{`seccompProfile: {type: Local, localhostProfile: a}, appArmorProfile: {type: Local, localhostProfile: a}`, []string{
			at + `.seccompProfile.type: Unsupported value: "Local": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
			at + `.seccompProfile.localhostProfile: Invalid value: {"Type":"Local","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost`,
			at + `.appArmorProfile.type: Unsupported value: "Local": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
		}},
		{`seccompProfile: {type: Localhost}, appArmorProfile: {type: Localhost}`, []string{
			at + ".seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
			at + ".appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost",
		}},
		{`seccompProfile: {type: Localhost, localhostProfile: /a/..}, appArmorProfile: {type: Localhost, localhostProfile: " "}`, []string{
			at + `.seccompProfile.localhostProfile: Invalid value: "/a/..": must be a relative path`,
			at + `.seccompProfile.localhostProfile: Invalid value: "/a/..": must not contain '..'`,
			at + `.appArmorProfile.localhostProfile: Invalid value: " ": must not be padded with whitespace`,
		}},
		{`appArmorProfile: {type: Localhost, localhostProfile: ""}`, []string{
			at + ".appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost",
		}},
		{`appArmorProfile: {type: Unconfined, localhostProfile: a}`, []string{
			at + `.appArmorProfile.localhostProfile: Invalid value: "a": can only be set when AppArmor type is Localhost`,
		}},
		{`appArmorProfile: {type: Localhost, localhostProfile: ` + strings.Repeat("a", 4096) + `}`, []string{
			at + ".appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes",
		}},
		{`seccompProfile: {type: Localhost, localhostProfile: a/b}, appArmorProfile: {type: Localhost, localhostProfile: ` + strings.Repeat("a", 4095) + `}`, nil},
	})
	old := validatetest.Parse[corev1.SecurityContext](t, `{privileged: true, allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN]}}`)
	require.Equal(t, []string{
		"<nil>" + privileged + ": cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
	}, validatetest.Texts(validatePrivilegeEscalation(old, PodValidationOptions{containerOptions: containerOptions{anySysAdmin: true}}, nil)))
	requireErrors(t, `spec: {hostUsers: false, containers: [{name: a, image: i, securityContext: {%s}}]}`, []validationCase{{`procMount: Unmasked`, nil}})
}

func TestValidateWindowsOptions(t *testing.T) {
	const at = "spec.containers[0].securityContext.windowsOptions"
	user := func(name string, problems ...string) validationCase {
		c := validationCase{part: "runAsUserName: '" + name + "'"}
		for _, problem := range problems {
			c.want = append(c.want, at+`.runAsUserName: Invalid value: "`+strings.ReplaceAll(name, `\`, `\\`)+`": runAsUserName`+problem)
		}
		return c
	}
	requireErrors(t, `spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {%s}}}]}`, []validationCase{
		{`gmsaCredentialSpecName: a.b, gmsaCredentialSpec: x, hostProcess: true`, nil},
		{`gmsaCredentialSpecName: A, gmsaCredentialSpec: ""`, []string{
			at + `.gmsaCredentialSpecName: Invalid value: "A": ` + validatetest.BadSubdomain,
			at + `.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string`,
		}},
		{`gmsaCredentialSpec: ` + strings.Repeat("a", 64*1024), nil},
		{`gmsaCredentialSpec: ` + strings.Repeat("a", 64*1024+1), []string{
			at + `.gmsaCredentialSpec: Invalid value: "` + strings.Repeat("a", 64*1024+1) + `": gmsaCredentialSpec size must be under 64 KiB`,
		}},
		user("" + strings.Repeat("a", 104)),
		user(`net bios\ContainerAdministrator`),
		user(`EXAMPLE.a-very-long-name\user`),
		user("", " cannot be an empty string"),
		user(`a\b\c`, " cannot contain more than one backslash"),
		user(`\a`, "'s Domain doesn't match the NetBios nor the DNS format"),
		user(`.a\a`, "'s Domain doesn't match the NetBios nor the DNS format"),
		user(`a\`, "'s User cannot be empty"),
		user(strings.Repeat("a", 105), "'s User length must not be longer than 104 characters"),
		user(strings.Repeat("a.", 128)+`\a`, "'s Domain length must be under 256 characters", "'s Domain doesn't match the NetBios nor the DNS format"),
		user(". .", "'s User cannot contain only periods or spaces"),
		user("a@b", `'s User cannot contain the following characters: "/\:;|=,+*?<>@[]`),
		{`runAsUserName: "a\x85b"`, nil}, // no character of ASCII
		{`runAsUserName: "a\tb"`, []string{at + `.runAsUserName: Invalid value: "a\tb": runAsUserName cannot contain control characters`}},
	})
}
