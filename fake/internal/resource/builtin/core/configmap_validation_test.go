package core

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

const dataKeyMessage = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' " +
	"(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

func TestValidateConfigMap(t *testing.T) {
	text := func(length int) map[string]string { return map[string]string{"k": strings.Repeat("x", length)} }
	validatetest.RequireErrors(t, validateConfigMap(&corev1.ConfigMap{Data: text(corev1.MaxSecretSize)}))
	validatetest.RequireErrors(t, validateConfigMap(&corev1.ConfigMap{Data: text(corev1.MaxSecretSize), BinaryData: map[string][]byte{"b": {1}}}),
		"[]: Too long: may not be more than 1048576 bytes")
	validatetest.RequireErrors(t, validateConfigMap(validatetest.Parse[corev1.ConfigMap](t, `{data: {a b: x, .: x, k: x}, binaryData: {a/b: AA==, k: AA==}}`)),
		`data[.]: Invalid value: ".": must not be '.'`,
		`data[a b]: Invalid value: "a b": `+dataKeyMessage,
		`data[k]: Invalid value: "k": duplicate of key present in binaryData`,
		`binaryData[a/b]: Invalid value: "a/b": `+dataKeyMessage)
}

func TestValidateConfigMapUpdate(t *testing.T) {
	const immutable = `{immutable: true, data: {a: x}, binaryData: {b: AA==}}`
	for _, test := range []struct {
		old, text string
		want      []string
	}{
		{immutable, immutable, nil},
		{`{immutable: false, data: {a: x}}`, `{data: {a: z}}`, nil},
		{`{data: {a: x}}`, immutable, nil},
		{immutable, `{immutable: false, data: {a: x}, binaryData: {b: AA==}}`, []string{"immutable: Forbidden: field is immutable when `immutable` is set"}},
		{`{immutable: true}`, `{immutable: true, data: {}, binaryData: {}}`, []string{
			"data: Forbidden: field is immutable when `immutable` is set",
			"binaryData: Forbidden: field is immutable when `immutable` is set"}},
		{immutable, `{data: {a b: x}}`, []string{
			"immutable: Forbidden: field is immutable when `immutable` is set",
			"data: Forbidden: field is immutable when `immutable` is set",
			"binaryData: Forbidden: field is immutable when `immutable` is set",
			`data[a b]: Invalid value: "a b": ` + dataKeyMessage}},
	} {
		validatetest.RequireErrors(t, validateConfigMapUpdate(validatetest.Parse[corev1.ConfigMap](t, test.text), validatetest.Parse[corev1.ConfigMap](t, test.old)), test.want...)
	}
}
