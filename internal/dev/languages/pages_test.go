package languages

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "copy the files into the pages")

const docs = "../../../docs"

// folders are the folders of the files of each page.
var folders = map[string][]string{
	"README.md":     nil,
	"helm.md":       {"helm"},
	"java.md":       {"java"},
	"javascript.md": {"javascript", "typescript"},
	"python.md":     {"python"},
	"ruby.md":       {"ruby"},
	"rust.md":       nil,
	"shell.md":      {"shell"},
}

// block matches a fenced block and the line before it: the name of a file, or text.
var block = regexp.MustCompile("(?ms)^(\\S[^\n]*)\n\n```(\\w+)\n(.*?)^```$")

// fileName matches the line before a block that is a file.
var fileName = regexp.MustCompile("^`([\\w./-]+)`:$")

// untested ends the line before a block that is only an outline.
const untested = "(not tested):"

// readFile returns a file of one of the folders of a page.
func readFile(page, name string) (string, error) {
	err := os.ErrNotExist
	for _, folder := range folders[page] {
		var text []byte
		if text, err = os.ReadFile(filepath.Join(folder, name)); err == nil {
			return string(text), nil
		}
	}
	return "", err
}

func TestPagesShowTheTestedFiles(t *testing.T) {
	entries, err := os.ReadDir(docs)
	require.NoError(t, err)
	var pages []string
	for _, entry := range entries {
		pages = append(pages, entry.Name())
	}
	require.Equal(t, slices.Sorted(maps.Keys(folders)), pages, "the pages of docs")
	for _, page := range pages {
		path := filepath.Join(docs, page)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		content, shown := string(text), 0
		require.Equal(t, strings.Count(content, "\n```")/2, len(block.FindAllString(content, -1)), "%s: each block follows a line of text", page)
		filled := block.ReplaceAllStringFunc(content, func(found string) string {
			match := block.FindStringSubmatch(found)
			if strings.HasSuffix(match[1], untested) {
				return found
			}
			name := fileName.FindStringSubmatch(match[1])
			require.NotNil(t, name, "%s: the line before a block names no file: %s", page, match[1])
			file, err := readFile(page, name[1])
			require.NoError(t, err, page)
			shown++
			return match[1] + "\n\n```" + match[2] + "\n" + file + "```"
		})
		if *update && filled != content {
			require.NoError(t, os.WriteFile(path, []byte(filled), 0o600))
			continue
		}
		require.Equal(t, filled, content, "%s differs from the tested files; go test -update copies them", page)
		require.Equal(t, len(folders[page]) > 0, shown > 0, "%s shows files", page)
	}
}
