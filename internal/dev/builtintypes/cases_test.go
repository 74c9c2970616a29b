package builtintypes

import (
	"embed"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// testdata has the cases. They are embedded, since go test reuses results in another checkout only
// if the tests open no files.
//
//go:embed testdata
var testdata embed.FS

// casesIn returns the cases of a directory of testdata.
func casesIn(t *testing.T, dir string) []testCase {
	files, err := fs.Sub(testdata, "testdata/"+dir)
	require.NoError(t, err)
	cases, err := loadCases(files)
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	return cases
}

// A case that expects nothing would always pass.
func TestCasesAreComplete(t *testing.T) {
	for _, dir := range []string{"stored", "validation"} {
		names := map[string]bool{}
		for _, c := range casesIn(t, dir) {
			require.False(t, names[c.Name], "two cases with the name %q", c.Name)
			names[c.Name] = true
			require.NotEmpty(t, c.Name)
			require.NotEmpty(t, c.Source, c.Name)
			require.NotEmpty(t, c.Create, c.Name)
			require.True(t, c.Stored != nil || c.Absent != nil || c.Code != 0 || len(c.Steps) > 0, c.Name)
			require.True(t, !c.Exact || c.Stored["spec"] != nil, c.Name)
		}
	}
}

// A misspelled field would make a case weaker than it looks.
func TestLoadCasesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"- name: a\n  stord: {}": `f.yaml: json: unknown field "stord"`,
		"- name: a\n  name: b":   `f.yaml: yaml: unmarshal errors:` + "\n" + `  line 2: key "name" already set in map`,
	} {
		_, err := loadCases(fstest.MapFS{"f.yaml": &fstest.MapFile{Data: []byte(text)}})
		require.EqualError(t, err, want)
	}
}
