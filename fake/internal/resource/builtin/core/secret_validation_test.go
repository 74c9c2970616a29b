package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// parseSecret returns a Secret with stringData in data.
func parseSecret(t *testing.T, text string) *corev1.Secret {
	t.Helper()
	secret := validatetest.Parse[corev1.Secret](t, text)
	setSecretDefaults(secret)
	canonicalizeSecret(secret)
	return secret
}

func TestValidateSecret(t *testing.T) {
	for text, want := range map[string][]string{
		`{stringData: {a: ''}}`:                               nil,
		`{type: example.com/what ever}`:                       nil,
		`{stringData: {a/b: x}}`:                              {`data[a/b]: Invalid value: "a/b": ` + dataKeyMessage},
		`{type: kubernetes.io/service-account-token}`:         {"metadata.annotations[kubernetes.io/service-account.name]: Required value"},
		`{type: kubernetes.io/dockercfg}`:                     {"data[.dockercfg]: Required value"},
		`{type: kubernetes.io/dockerconfigjson}`:              {"data[.dockerconfigjson]: Required value"},
		`{type: kubernetes.io/basic-auth}`:                    {"data[username]: Required value", "data[password]: Required value"},
		`{type: kubernetes.io/ssh-auth}`:                      {"data[ssh-privatekey]: Required value"},
		`{type: kubernetes.io/tls}`:                           {"data[tls.crt]: Required value", "data[tls.key]: Required value"},
		`{type: kubernetes.io/tls, stringData: {tls.key: x}}`: {"data[tls.crt]: Required value"},
		`{type: kubernetes.io/dockercfg, stringData: {.dockercfg: '[]'}}`: {
			`data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}`},
		`{type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: ''}}`: {
			`data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input`},

		`{type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: '{}'}}`:                                   nil,
		`{type: kubernetes.io/service-account-token, metadata: {annotations: {kubernetes.io/service-account.name: bot}}}`: nil,
		`{type: kubernetes.io/basic-auth, stringData: {password: ''}}`:                                                    nil,
		`{type: kubernetes.io/ssh-auth, stringData: {ssh-privatekey: x}}`:                                                 nil,
		`{type: kubernetes.io/tls, stringData: {tls.crt: '', tls.key: ''}}`:                                               nil,
	} {
		t.Run(text, func(t *testing.T) { validatetest.RequireErrors(t, validateSecret(parseSecret(t, text)), want...) })
	}
	large := &corev1.Secret{Data: map[string][]byte{"k": []byte(strings.Repeat("x", corev1.MaxSecretSize))}}
	validatetest.RequireErrors(t, validateSecret(large))
	large.Data["l"] = []byte("x")
	validatetest.RequireErrors(t, validateSecret(large), "data: Too long: may not be more than 1048576 bytes")
}

func TestValidateSecretUpdate(t *testing.T) {
	const immutable = `{immutable: true, stringData: {a: x}}`
	for _, test := range []struct {
		old, text string
		want      []string
	}{
		{immutable, immutable, nil},
		{`{stringData: {a: x}}`, immutable, nil},
		{immutable, `{immutable: true, data: {a: eA==}}`, nil},
		{immutable, `{immutable: true, data: {a: AA==}, stringData: {a: x}}`, nil},
		{`{immutable: true}`, `{immutable: true, stringData: {}}`, nil},
		{`{immutable: true}`, `{immutable: true, data: {}}`, []string{"data: Forbidden: field is immutable when `immutable` is set"}},
		{`{type: a}`, `{type: b}`, []string{`type: Invalid value: "b": field is immutable`}},
		{immutable, `{stringData: {a: z}}`, []string{
			"immutable: Forbidden: field is immutable when `immutable` is set",
			"data: Forbidden: field is immutable when `immutable` is set"}},
	} {
		validatetest.RequireErrors(t, validateSecretUpdate(parseSecret(t, test.text), parseSecret(t, test.old)), test.want...)
	}
}

func TestSecretWarnings(t *testing.T) {
	require.Empty(t, secretWarnings(parseSecret(t, `{stringData: {tls.crt: x, tls.key: x}}`)))
	require.Equal(t, []string{"tls: failed to find any PEM data in certificate input"},
		secretWarnings(parseSecret(t, `{type: kubernetes.io/tls, stringData: {tls.crt: x, tls.key: x}}`)))
}

func TestServiceAccountWarnings(t *testing.T) {
	marked := validatetest.Parse[corev1.ServiceAccount](t, `metadata: {annotations: {kubernetes.io/enforce-mountable-secrets: 'true'}}`)
	want := []string{"metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
	require.Equal(t, want, serviceAccountWarnings(marked))
	require.Equal(t, want, serviceAccountWarningsOnUpdate(marked, &corev1.ServiceAccount{}))
	require.Empty(t, serviceAccountWarningsOnUpdate(marked, marked))
	require.Empty(t, serviceAccountWarnings(&corev1.ServiceAccount{}))
}
