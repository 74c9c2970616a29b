package validate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUserAnnotations(t *testing.T) {
	require.Empty(t, UserAnnotations(map[string]string{"example.com/A": "any text"}, nil))
	errs := UserAnnotations(map[string]string{"A": strings.Repeat("a", 256*1024), "b/C d": ""}, nil)
	require.Len(t, errs, 3)
	require.Equal(t, `Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`, errs[0].ErrorBody())
	require.Equal(t, `Too long: may not be more than 262144 bytes`, errs[2].ErrorBody())
}
