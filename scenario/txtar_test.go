package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArchive(t *testing.T) {
	for text, want := range map[string]archive{
		"":                                       {},
		"a":                                      {comment: "a\n"},
		"a\n\n":                                  {comment: "a\n\n"},
		"-- x --":                                {files: []file{{"x", "", 1}}},
		"-- x --\r\nd\r":                         {files: []file{{"x", "d\r\n", 1}}},
		"a\n--  x y  --\nd\n-- z --\n-- x --\ne": {"a\n", []file{{"x y", "d\n", 2}, {"z", "", 4}, {"x", "e\n", 5}}},
		"--x--\n-- --\n--   --\n-- x--\n -- x --\n": {comment: "--x--\n-- --\n--   --\n-- x--\n -- x --\n"},
	} {
		got := parseArchive(text)
		require.Equal(t, want, got, "%q", text)
		again := parseArchive(got.String())
		require.Equal(t, got.comment, again.comment)
		require.Len(t, again.files, len(got.files))
		for i, f := range again.files {
			require.Equal(t, got.files[i].name, f.name)
			require.Equal(t, got.files[i].data, f.data)
		}
	}
}
