package validate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSignerName(t *testing.T) {
	label := strings.Repeat("a", 63)
	domain := strings.Join([]string{label, label, label, label[:61]}, ".")
	path := strings.Repeat("b", 253) + "." + label
	for name, want := range map[string][]string{
		"example.com/s":                          nil,
		"kubernetes.io/kube.a-b.c":               nil,
		domain + "/" + path:                      nil,
		"example.com":                            {"must be a fully qualified domain and path of the form 'example.com/signer-name'"},
		"example.com/a/b":                        {"must be a fully qualified domain and path of the form 'example.com/signer-name'"},
		"example/s":                              {"should be a domain with at least two segments separated by dots"},
		"a.b/" + strings.Repeat("a.", 300) + "a": {"may not be more than 571 bytes"},
		domain + "x/s":                           {"may not be more than 253 bytes"},
		"A.b/s":                                  {`validating label "A": a lowercase RFC 1123 label must consist of`},
		"a.b/":                                   {`validating label "": a lowercase RFC 1123 subdomain must consist of`},
	} {
		errs := SignerName(name, nil)
		require.Len(t, errs, len(want), name)
		for i, err := range errs {
			require.Contains(t, err.Error(), want[i], name)
		}
	}
}
