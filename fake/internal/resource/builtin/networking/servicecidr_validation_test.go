package networking

import (
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateServiceCIDR(t *testing.T) {
	const families = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
	for text, want := range map[string][]string{
		`spec: {cidrs: [10.0.0.0/8]}`:              nil,
		`spec: {cidrs: ["fd00::/64", 10.0.0.0/8]}`: nil,
		`spec: {}`:                 {"spec.cidrs: Required value: at least one CIDR required"},
		`spec: {cidrs: [a, b, c]}`: {`spec.cidrs: Invalid value: {"CIDRs":["a","b","c"]}: may only hold up to 2 values`},
		`spec: {cidrs: [10.0.0.0/8, 11.0.0.0/8]}`:  {`spec.cidrs: Invalid value: ["10.0.0.0/8","11.0.0.0/8"]: ` + families},
		`spec: {cidrs: [10.0.0.1/8, "FD00::/64"]}`: {`spec.cidrs[0]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`, `spec.cidrs[1]: Invalid value: "FD00::/64": must be in canonical form ("fd00::/64")`},
	} {
		require.Equal(t, want, validatetest.Texts(validateServiceCIDR(validatetest.Parse[networkingv1.ServiceCIDR](t, text))), text)
	}
}

func TestValidateServiceCIDRUpdate(t *testing.T) {
	for name, c := range map[string]struct {
		old, cidrs string
		want       []string
	}{
		"nothing":                {`10.0.0.0/8`, `10.0.0.0/8`, nil},
		"another CIDR":           {`10.0.0.0/8`, `11.0.0.0/8`, []string{`spec.cidrs[0]: Invalid value: "11.0.0.0/8": field is immutable`}},
		"a second one":           {`10.0.0.0/8`, `10.0.0.0/8, "fd00::/64"`, nil},
		"a second one before":    {`10.0.0.0/8`, `"fd00::/64", 10.0.0.0/8`, []string{`spec.cidrs[0]: Invalid value: "fd00::/64": field is immutable`}},
		"a malformed second one": {`10.0.0.0/8`, `10.0.0.0/8, a`, []string{`spec.cidrs[1]: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`}},
		"a malformed one":        {`10.0.0.0/8`, `a`, []string{`spec.cidrs[0]: Invalid value: "a": field is immutable`}},
		"malformed as before":    {`10.0.0.1/8`, `10.0.0.1/8`, nil},
		"without the second one": {`10.0.0.0/8, "fd00::/64"`, `10.0.0.0/8`, []string{`spec.cidrs: Invalid value: ["10.0.0.0/8"]: field is immutable`}},
		"none":                   {`10.0.0.0/8`, ``, []string{"spec.cidrs: Invalid value: []: field is immutable"}},
	} {
		t.Run(name, func(t *testing.T) {
			cidr := validatetest.Parse[networkingv1.ServiceCIDR](t, "spec: {cidrs: ["+c.cidrs+"]}")
			require.Equal(t, c.want, validatetest.Texts(validateServiceCIDRUpdate(cidr, validatetest.Parse[networkingv1.ServiceCIDR](t, "spec: {cidrs: ["+c.old+"]}"))))
		})
	}
}
