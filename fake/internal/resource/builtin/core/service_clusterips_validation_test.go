package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateServiceClusterIPs(t *testing.T) {
	for spec, want := range map[string]string{
		`{type: ExternalName, clusterIP: nope}`:                                     "",
		`{clusterIP: None, clusterIPs: [None], ipFamilies: [IPv6]}`:                 "",
		`{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, 'fd00::1']}`:                  "",
		`{clusterIPs: [10.0.0.1]}`:                                                  "spec.clusterIPs: Invalid value: [\"10.0.0.1\"]: must be empty when `clusterIP` is not specified",
		`{clusterIP: 10.0.0.1}`:                                                     `spec.clusterIPs: Required value`,
		`{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.2]}`:                             "spec.clusterIPs: Invalid value: [\"10.0.0.2\"]: first value must match `clusterIP`",
		`{clusterIP: None, clusterIPs: [None, 10.0.0.1]}`:                           `spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: 'None' must be the first and only value`,
		`{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, 10.0.0.2]}`:                   `spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family`,
		`{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, 'fd00::1', 'fd00::2']}`:       `spec.clusterIPs: Invalid value: ["10.0.0.1","fd00::1","fd00::2"]: may only hold up to 2 values`,
		`{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, None]}`:                       `spec.clusterIPs[1]: Invalid value: "None": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
		`{clusterIP: 010.0.0.1, clusterIPs: [010.0.0.1]}`:                           `spec.clusterIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s`,
		`{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ipFamilies: [IPv6]}`:         "spec.clusterIPs[0]: Invalid value: \"10.0.0.1\": expected an IPv6 value as indicated by `ipFamilies[0]`",
		`{clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilies: [IPv4, IPv6]}`: "spec.clusterIPs[0]: Invalid value: \"fd00::1\": expected an IPv4 value as indicated by `ipFamilies[0]`",
		`{ipFamilies: [IPv4, IPv4]}`:                                                `spec.ipFamilies[1]: Duplicate value: "IPv4"`,
		`{ipFamilies: [IPv5]}`:                                                      `spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"`,
		`{ipFamilyPolicy: Any}`:                                                     `spec.ipFamilyPolicy: Unsupported value: "Any": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"`,
	} {
		errs := ValidateServiceClusterIPs(validatetest.Parse[corev1.ServiceSpec](t, spec), nil)
		if want == "" {
			require.Empty(t, errs, spec)
			continue
		}
		require.EqualError(t, errs.ToAggregate(), want, spec)
	}
	old := []string{"010.0.0.1"}
	require.Empty(t, ValidateServiceClusterIPs(&corev1.ServiceSpec{ClusterIP: old[0], ClusterIPs: old}, old), "an old form is kept")
}

func TestValidateClusterIPsUpdate(t *testing.T) {
	const one, two = `clusterIPs: [10.0.0.1], ipFamilies: [IPv4]`, `clusterIPs: [10.0.0.1, 'fd00::1'], ipFamilies: [IPv4, IPv6]`
	for _, test := range []struct {
		old, spec string
		want      []string
	}{
		{one, one, nil},
		{one, two, nil},
		{two, two, nil},
		{two, one + `, ipFamilyPolicy: SingleStack`, nil},
		{one, `type: ExternalName`, nil},
		{`type: ExternalName`, two, nil},
		{`clusterIPs: [None], ipFamilies: [IPv4]`, `clusterIPs: [None], ipFamilies: [IPv6, IPv4]`, nil},
		{one, `clusterIPs: [None], ipFamilies: [IPv6]`, []string{`spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`}},
		{`clusterIPs: [None]`, one, []string{`spec.clusterIPs[0]: Invalid value: ["10.0.0.1"]: may not change once set`}},
		{two, `clusterIPs: [10.0.0.1, 'fd00::2'], ipFamilies: [IPv6, IPv4]`, []string{
			`spec.clusterIPs[1]: Invalid value: ["10.0.0.1","fd00::2"]: may not change once set`,
			`spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set`,
			`spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set`}},
		{two, `clusterIPs: ['fd00::1'], ipFamilies: [IPv6]`, []string{
			`spec.clusterIPs[0]: Invalid value: ["fd00::1"]: may not change once set`,
			`spec.ipFamilyPolicy: Invalid value: null: must be set to 'SingleStack' when releasing the secondary clusterIP`,
			`spec.ipFamilies[0]: Invalid value: ["fd00::1"]: may not change once set`,
			`spec.ipFamilyPolicy: Invalid value: null: must be set to 'SingleStack' when releasing the secondary ipFamily`}},
		{one, `{}`, []string{
			`spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset`,
			`spec.ipFamilies[0]: Invalid value: null: primary ipFamily can not be unset`}},
		{one, `clusterIPs: ['fd00::1', 10.0.0.1], ipFamilies: [IPv6, IPv4]`, []string{
			`spec.clusterIPs[0]: Invalid value: ["fd00::1","10.0.0.1"]: may not change once set`,
			`spec.ipFamilies[0]: Invalid value: ["fd00::1","10.0.0.1"]: may not change once set`}},
	} {
		spec, old := validatetest.Parse[corev1.ServiceSpec](t, braced(test.spec)), validatetest.Parse[corev1.ServiceSpec](t, braced(test.old))
		var root *validate.Path
		errs := validateClusterIPsUpdate(spec, old, root.Child("spec"))
		validatetest.RequireErrors(t, append(errs, validateIPFamiliesUpdate(spec, old, root.Child("spec"))...), test.want...)
	}
}
