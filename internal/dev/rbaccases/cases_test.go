package rbaccases

import (
	"embed"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// testdata has the cases. They are embedded, since go test reuses results in another checkout only
// if the tests open no files.
//
//go:embed testdata
var testdata embed.FS

func allCases(t *testing.T) []testCase {
	files, err := fs.Sub(testdata, "testdata")
	require.NoError(t, err)
	cases, err := loadCases(files)
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	return cases
}

// TestCases plays each case with a new server on virtual time.
func TestCases(t *testing.T) {
	paths := collections(t)
	for _, c := range allCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := player{startServer(t), paths}
				p.play(t, &c)
			})
		})
	}
}

// A case that expects nothing would always pass.
func TestCasesAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, c := range allCases(t) {
		require.False(t, names[c.Name], "two cases with the name %q", c.Name)
		names[c.Name] = true
		require.NotEmpty(t, c.Name)
		require.NotEmpty(t, c.Source, c.Name)
		require.NotEmpty(t, c.Requests, c.Name)
		for _, r := range c.Requests {
			require.Len(t, strings.Fields(r.Do), 2, c.Name)
			require.NotZero(t, r.Code, c.Name)
			require.Contains(t, contentTypes(), r.Type, c.Name)
		}
	}
}

// A misspelled field would make a case weaker than it looks.
func TestLoadCasesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"- name: a\n  sources: b": `f.yaml: json: unknown field "sources"`,
		"- name: a\n  name: b":    `f.yaml: yaml: unmarshal errors:` + "\n" + `  line 2: key "name" already set in map`,
	} {
		_, err := loadCases(fstest.MapFS{"f.yaml": &fstest.MapFile{Data: []byte(text)}})
		require.EqualError(t, err, want)
	}
}
