package core

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateEvent(t *testing.T) {
	const isNew = `eventTime: '2031-04-05T06:07:08.000009Z', reportingComponent: example.com/c, reportingInstance: i, action: a, reason: r`
	const mismatch = "does not match event.namespace"
	long := strings.Repeat("x", 129)
	for text, want := range map[string][]string{
		`{metadata: {namespace: a}, involvedObject: {namespace: a}}`: nil,
		`{metadata: {namespace: default}}`:                           nil,
		`{metadata: {namespace: a}}`:                                 {`involvedObject.namespace: Invalid value: "": ` + mismatch},
		`{metadata: {namespace: a}, involvedObject: {namespace: b}}`: {`involvedObject.namespace: Invalid value: "b": ` + mismatch},

		`{metadata: {namespace: a}, involvedObject: {namespace: b}, ` + isNew + `}`: nil,
		`{metadata: {namespace: kube-system}, ` + isNew + `}`:                       nil,
		`{metadata: {namespace: a}, ` + isNew + `}`:                                 {`involvedObject.namespace: Invalid value: "": ` + mismatch},
		`{metadata: {namespace: default}, eventTime: '2031-04-05T06:07:08.000009Z'}`: {
			`reportingController: Required value`,
			`reportingController: Invalid value: "": name part must be non-empty`,
			`reportingController: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric ` +
				`character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			`reportingInstance: Required value`,
			`action: Required value`,
			`reason: Required value`},
		`{metadata: {namespace: default}, eventTime: '2031-04-05T06:07:08.000009Z', reportingComponent: c, reportingInstance: ` + long + `, action: ` + long +
			`, reason: ` + long + `, message: ` + strings.Repeat("x", 1025) + `}`: {
			`reportingInstance: Invalid value: "": can have at most 128 characters`,
			`action: Invalid value: "": can have at most 128 characters`,
			`reason: Invalid value: "": can have at most 128 characters`,
			`message: Invalid value: "": can have at most 1024 characters`},
	} {
		t.Run(text, func(t *testing.T) {
			validatetest.RequireErrors(t, ValidateEvent(validatetest.Parse[corev1.Event](t, text), "reportingController"), want...)
		})
	}
}

// The metadata is validated only if the event is valid.
func TestValidateNewEvent(t *testing.T) {
	metadata := field.ErrorList{field.Required(field.NewPath("metadata", "name"), "")}
	valid := validatetest.Parse[corev1.Event](t, `metadata: {namespace: default}`)
	require.Equal(t, metadata, validateNewEvent(context.Background(), valid, metadata))
	require.NotEqual(t, metadata, validateNewEvent(context.Background(), validatetest.Parse[corev1.Event](t, `metadata: {namespace: a}`), metadata))

	// Errors name the field as the core group does.
	invalid := validatetest.Parse[corev1.Event](t, `{metadata: {namespace: default}, eventTime: '2031-04-05T06:07:08.000009Z', reportingComponent: a b}`)
	for _, errs := range []field.ErrorList{validateNewEvent(context.Background(), invalid, nil), validateEventUpdate(invalid, invalid)} {
		require.Equal(t, "reportingComponent", errs[0].Field)
	}
}
