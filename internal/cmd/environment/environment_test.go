package environment

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// variables returns a function such as os.Getenv.
func variables(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// serverOf returns a server with the options of an environment.
func serverOf(t *testing.T, e Environment) *fakeapi.Server {
	t.Helper()
	s, err := fakeapi.New(e.Options()...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func get(t *testing.T, url string) int {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

// Without variables a server is as without an environment, and nothing is written.
func TestNoVariables(t *testing.T) {
	e, err := Read(variables(map[string]string{"FAKEAPI_FAULTS": ""}))
	require.NoError(t, err)
	require.Empty(t, e.Options())
	s := serverOf(t, e)
	require.NoError(t, e.Announce(s))
	require.NoError(t, e.Finish(s))
}

// Rules apply to a server, and the seed decides about its random values.
func TestFaultsAndSeed(t *testing.T) {
	uid := func(seed string) string {
		e, err := Read(variables(map[string]string{
			"FAKEAPI_FAULTS": "a: when verb(list) do status(429); b: when verb(delete) do status(500)", "FAKEAPI_SEED": seed, "FAKEAPI_WATCH_CACHE_DELAY": "1s",
		}))
		require.NoError(t, err)
		require.Equal(t, time.Second, e.WatchCacheDelay)
		s := serverOf(t, e)
		require.Equal(t, http.StatusTooManyRequests, get(t, s.URL()+"/api/v1/pods"))
		require.Len(t, s.Faults().Rules(), 2)
		dump, err := s.Dump()
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(dump), "uid: ")
		uid, _, _ := strings.Cut(after, "\n")
		return uid
	}
	require.Equal(t, uid("7"), uid("7"))
	require.NotEqual(t, uid("7"), uid("8"))
}

// An invalid value is an error that names the variable.
func TestInvalidVariables(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules"), []byte("# one\nwhen x do hang\n"), 0o600))
	for _, test := range []struct{ name, value, want string }{
		{"FAKEAPI_FAULTS", "when always do hang; when vreb(list) do hang", "FAKEAPI_FAULTS: fault rule, line 1, column 27: unknown predicate \"vreb\""},
		{"FAKEAPI_FAULTS", "rules", "FAKEAPI_FAULTS: rules: fault rule, line 2, column 6: unknown predicate \"x\""},
		{"FAKEAPI_FAULTS", "missing", "FAKEAPI_FAULTS: missing: it is no fault rule, and as a file: no such file or directory"},
		{"FAKEAPI_SEED", "-1", `FAKEAPI_SEED: "-1" is not a number from 0 to 18446744073709551615`},
		{"FAKEAPI_WATCH_CACHE_DELAY", "300", "FAKEAPI_WATCH_CACHE_DELAY: time: missing unit in duration"},
		{"FAKEAPI_WATCH_CACHE_DELAY", "-1s", `FAKEAPI_WATCH_CACHE_DELAY: "-1s" is negative`},
	} {
		_, err := ReadIn(dir, variables(map[string]string{test.name: test.value}))
		require.ErrorContains(t, err, test.want)
	}
}

// Servers with the same variables write files of their own. A relative path starts at the directory
// of the process.
func TestFinish(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		e, err := ReadIn(dir, variables(map[string]string{"FAKEAPI_ARTIFACTS": "pages/of it", "FAKEAPI_ACCESS_REPORT": "access.json"}))
		require.NoError(t, err)
		s := serverOf(t, e)
		require.Equal(t, http.StatusOK, get(t, s.URL()+"/api/v1/pods"))
		require.NoError(t, s.Close())
		require.NoError(t, e.Finish(s))
		require.NoError(t, e.Finish(s))
	}
	pages, err := filepath.Glob(filepath.Join(dir, "pages/of it/*.html"))
	require.NoError(t, err)
	require.Len(t, pages, 4)
	for _, page := range pages {
		require.Regexp(t, `^[\w.-]+-\d+_\d{8}-\d{6}_\d+(-2)?\.html$`, filepath.Base(page))
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Contains(t, string(content), "/api/v1/pods")
	}
	for _, name := range []string{"access.json", "access-2.json", "access-3.json", "access-4.json"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Contains(t, string(content), `"resource": "pods"`)
	}
}

// What cannot be written is an error that names the variable.
func TestFinishErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	e, err := ReadIn(dir, variables(map[string]string{"FAKEAPI_ARTIFACTS": "file/pages", "FAKEAPI_ACCESS_REPORT": "file/report", "FAKEAPI_CONTROL": "missing/urls"}))
	require.NoError(t, err)
	s := serverOf(t, e)
	err = e.Finish(s)
	require.ErrorContains(t, err, "FAKEAPI_ARTIFACTS "+file+"/pages: not a directory")
	require.ErrorContains(t, err, "FAKEAPI_ACCESS_REPORT "+file+"/report: not a directory")
	require.EqualError(t, e.Announce(s), "FAKEAPI_CONTROL "+dir+"/missing/urls: no such file or directory")
}

// With a path, each server appends the URL of its control API, which is not at the address of the
// server, and needs no credentials. With an address, it is there.
func TestControl(t *testing.T) {
	dir := t.TempDir()
	var want string
	for range 2 {
		e, err := ReadIn(dir, variables(map[string]string{"FAKEAPI_CONTROL": "urls"}))
		require.NoError(t, err)
		s := serverOf(t, e)
		require.NoError(t, e.Announce(s))
		want += s.ControlURL() + "\n"
		require.Equal(t, http.StatusOK, get(t, s.ControlURL()+"/faults"))
		require.Equal(t, http.StatusNotFound, get(t, s.URL()+"/fakeapi/v1/faults"))
	}
	content, err := os.ReadFile(filepath.Join(dir, "urls"))
	require.NoError(t, err)
	require.Equal(t, want, string(content))

	e, err := ReadIn(dir, variables(map[string]string{"FAKEAPI_CONTROL": "localhost:0"}))
	require.NoError(t, err)
	s := serverOf(t, e)
	require.NoError(t, e.Announce(s))
	require.Equal(t, http.StatusOK, get(t, s.ControlURL()+"/faults"))
	require.NoFileExists(t, filepath.Join(dir, "localhost:0"))
}

// A URL is that of another server.
func TestControlOfAnotherServer(t *testing.T) {
	e, err := ReadIn(t.TempDir(), variables(map[string]string{"FAKEAPI_CONTROL": "http://127.0.0.1:1/fakeapi/v1"}))
	require.NoError(t, err)
	require.Empty(t, e.Options())
	require.NoError(t, e.Announce(serverOf(t, e)))
}
