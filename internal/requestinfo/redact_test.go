package requestinfo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/requestinfo"
)

func TestRedactURI(t *testing.T) {
	for uri, want := range map[string]string{
		"":                                   "",
		"/api?limit=1":                       "/api?limit=1",
		"/api?access_token":                  "/api?access_token",
		"/api?access_token=a":                "/api?access_token=REDACTED",
		"/api?a=b&access%5ftoken=a=b&c=d":    "/api?a=b&access%5ftoken=REDACTED&c=d",
		"/api?%zz=1&access_token=a":          "/api?%zz=1&access_token=REDACTED",
		"/access_token?name=access_token":    "/access_token?name=access_token",
		"http://h/api?access_token=a&b=%40":  "http://h/api?access_token=REDACTED&b=%40",
		"http://ann:pass@h/?access_token=a":  "http://ann:xxxxx@h/?access_token=REDACTED",
		"http://h/?url=http://ann:pass@h":    "http://h/?url=http://ann:pass@h",
		"/?access_token=a%26b&access_token=": "/?access_token=REDACTED&access_token=",
	} {
		require.Equal(t, want, requestinfo.RedactURI(uri), uri)
	}
}
