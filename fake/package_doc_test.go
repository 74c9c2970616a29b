package fakeapi_test

import (
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// The package documentation lists every option.
func TestDocListsEveryOption(t *testing.T) {
	_, tasks, _ := strings.Cut(readFile(t, "doc.go"), "// # Options by task\n")
	tasks, _, _ = strings.Cut(tasks, "// # ")
	sources, err := fs.Glob(files, "*.go")
	require.NoError(t, err)
	found := 0
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		for _, option := range regexp.MustCompile(`(?m)^func ([A-Z]\w+)\(.*\) Option \{`).FindAllStringSubmatch(readFile(t, source), -1) {
			found++
			require.Regexp(t, `\b`+option[1]+`\b`, tasks)
		}
	}
	require.Greater(t, found, 25)
}

// curlLine matches a request to the control API in the package documentation: method, path and
// body.
var curlLine = regexp.MustCompile(`(?m)^//\tcurl (?:-X ([A-Z]+))? *"?\$A(/[^\s"]*)?"?(?: --data-binary (?:'([^']*)'|(\S+)))?`)

// The curl commands of the package documentation succeed, in their order.
func TestDocumentedControlRequests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI(), fakeapi.WithTokens(fakeapi.Token{Value: "first", User: "ann"}), fakeapi.WithClientCA())
	lines := curlLine.FindAllStringSubmatch(readFile(t, "doc.go"), -1)
	require.Greater(t, len(lines), 15)
	require.Equal(t, len(lines), strings.Count(readFile(t, "doc.go"), "//\tcurl "))
	for _, line := range lines {
		method, path, body := line[1], line[2], line[3]+line[4]
		if method == "" {
			method = http.MethodGet
		}
		path = strings.ReplaceAll(path, "wait=10s", "wait=10ms")
		request, err := http.NewRequestWithContext(t.Context(), method, srv.URL()+"/fakeapi/v1"+path, strings.NewReader(body))
		require.NoError(t, err)
		response, err := srv.Client().Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Less(t, response.StatusCode, 300, "%s: %s", line[0], text)
	}
	err := srv.ExpireToken("s3cret")
	require.NoError(t, err, "the documented token was added")
}
