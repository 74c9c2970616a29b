package golden

import (
	"encoding/json"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/cmd/golden/recordings"
	"example.com/fakeapi/internal/cmd/httpdiff"
)

func TestLoadRecordings(t *testing.T) {
	dir, err := recordings.Open("v1.37")
	require.NoError(t, err)
	cases, err := Load(dir)
	require.NoError(t, err)
	require.Len(t, cases, 101)
	for i, c := range cases {
		require.NotEmpty(t, c.Steps, c.Name)
		require.NotEmpty(t, c.Desc, c.Name)
		if i > 0 {
			require.Less(t, cases[i-1].Name, c.Name)
		}
		for _, file := range c.CRDs {
			_, err := fs.Stat(dir, file)
			require.NoError(t, err, c.Name)
		}
	}
}

func TestLoadKeepsAllFields(t *testing.T) {
	cases, err := Load(fstest.MapFS{
		"b.json": {Data: []byte(`{"name": "b", "steps": [{"compact": true}]}`)},
		"a.json": {Data: []byte(`{"name": "a", "steps": [{
			"request": {"method": "POST", "path": "/x", "body": {"z": 1, "a": 1.0, "z": 2}},
			"response": {"code": 201, "body": {"n": 1.0}}}]}`)},
		"README.md": {Data: []byte("no case")},
	})
	require.NoError(t, err)
	require.Equal(t, "a", cases[0].Name)
	require.Equal(t, "b", cases[1].Name)
	step := cases[0].Steps[0]
	body, err := (&replay{placeholders: httpdiff.NewPlaceholders("n", false)}).body(step.Request)
	require.NoError(t, err)
	require.Equal(t, `{"z":1,"a":1.0,"z":2}`, body)
	require.Equal(t, map[string]any{"n": json.Number("1.0")}, step.Response.Body)
}

func TestLoadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "c", "steps": []`:     "unexpected EOF",
		`{"name": "c", "steps": []} {}`: "after the JSON value",
		`{"name": "d", "steps": []}`:    `the name of the case is "d", not "c"`,
		`{"name": "c", "stps": []}`:     `unknown field "stps"`,
		`{"name": "c", "steps": [{"request": {"method": "GET", "path": "x"}}]}`:  `"GET" "x" is not a request`,
		`{"name": "c", "steps": [{"request": {"path": "/x"}}]}`:                  "is not a request",
		`{"name": "c", "steps": [{"request": {"method": "GET", "path": "/x"}}]}`: "the response has no code",
		step(`"response": {"code": 200, "bodyAs": "pdf"}`):                       `unknown form "pdf"`,
		step(`"watch": {}, "response": {"code": 200, "end": "sudden"}`):          `unknown end "sudden"`,
		step(`"response": {"code": 200, "end": "server closed"}`):                "require a watch",
		step(`"response": {"code": 200}, "during": [{"compact": true}]`):         "require a watch",
		step(`"response": {"code": 200}, "watch": {}, "during": [{}]`):           "step 1, during: step 1",
	} {
		_, err := Load(fstest.MapFS{"c.json": {Data: []byte(text)}})
		require.ErrorContains(t, err, "golden: c.json: ", text)
		require.ErrorContains(t, err, want, text)
	}
	_, err := Load(fstest.MapFS{})
	require.ErrorContains(t, err, "no *.json file")
}

// step returns a case with one step, a GET with the fields in rest.
func step(rest string) string {
	return `{"name": "c", "steps": [{"request": {"method": "GET", "path": "/x"}, ` + rest + `}]}`
}
