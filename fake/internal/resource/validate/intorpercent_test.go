package validate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestIntOrPercent(t *testing.T) {
	const percent = `a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`
	for _, test := range []struct {
		value intstr.IntOrString
		want  string // the error
		n     int
	}{
		{intstr.FromInt32(0), "", 0},
		{intstr.FromInt32(101), "", 101},
		{intstr.FromInt32(-1), "n: Invalid value: -1: must be greater than or equal to 0", -1},
		{intstr.FromString("0%"), "", 0},
		{intstr.FromString("100%"), "", 100},
		{intstr.FromString("101%"), `n: Invalid value: "101%": must not be greater than 100%`, 101},
		{intstr.FromString(strings.Repeat("9", 30) + "%"), `n: Invalid value: "` + strings.Repeat("9", 30) + `%": must not be greater than 100%`, int(^uint(0) >> 1)},
		{intstr.FromString("5"), `n: Invalid value: "5": ` + percent, 5},
		{intstr.FromString("-5%"), `n: Invalid value: "-5%": ` + percent, 0},
	} {
		var root *Path
		p := root.Child("n")
		errs := append(IntOrPercent(&test.value, p), AtMost100Percent(&test.value, p)...)
		require.Equal(t, test.want, text(errs))
		require.Equal(t, test.n, IntOrPercentValue(&test.value), test.value.String())
	}
	require.Empty(t, IntOrPercent(nil, nil))
	require.Empty(t, AtMost100Percent(nil, nil))
	require.Zero(t, IntOrPercentValue(nil))
}

// text returns the text of errs, "" if there is none.
func text(errs field.ErrorList) string {
	if len(errs) == 0 {
		return ""
	}
	return errs.ToAggregate().Error()
}

func TestPodNamePrefixWarnings(t *testing.T) {
	require.Empty(t, PodNamePrefixWarnings("web-1"))
	require.Equal(t, []string{"metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; " +
		"a DNS label is recommended: [must not contain dots]"}, PodNamePrefixWarnings("web.1"))
	require.Zero(t, validatetest.AllocsPerRun(100, func() { PodNamePrefixWarnings("web-1") }))
}
