package fakeapi

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// artifactsEnv is the environment variable that names a folder for pages.
const artifactsEnv = "FAKEAPI_ARTIFACTS"

// SaveTimeline writes the Timeline as an HTML page, and those of the server's replicas, and
// says where they are, in a line for each: in the test's ArtifactDir with go test
// -artifacts, else in the folder that the environment variable FAKEAPI_ARTIFACTS names,
// under the name of the test; a relative one begins at the folder of the package that is
// tested. With neither it says how to get them. Nothing is overwritten: a number is put
// behind a name that is taken.
func (s *Server) SaveTimeline(t TB) string {
	t.Helper()
	test := "fakeapi"
	if named, ok := t.(interface{ Name() string }); ok && named.Name() != "" {
		test = named.Name()
	}
	folder, name := os.Getenv(artifactsEnv), safeFileName(test)
	if kept, ok := t.(interface{ ArtifactDir() string }); ok && artifactsEnabled() {
		folder, name = kept.ArtifactDir(), "timeline"
	}
	switch {
	case len(s.serversWithTimeline()) == 0:
		return "there is no timeline, WithoutTimeline"
	case folder == "":
		return "for the timeline as a page: go test -artifacts, or " + artifactsEnv + "=FOLDER"
	}
	var lines []string
	for _, server := range s.serversWithTimeline() {
		path, err := server.writeTimelinePage(folder, name, test)
		if err != nil {
			return fmt.Sprintf("the timeline could not be written: %v", err)
		}
		lines = append(lines, fmt.Sprintf("the timeline of %s as a page: %s", server.URL(), path))
	}
	return strings.Join(lines, "\n")
}

// artifactsEnabled reports whether go test -artifacts is on: without it an ArtifactDir is
// removed when its test ends.
func artifactsEnabled() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// safeFileName makes the name of a test one that every file system takes.
func safeFileName(test string) string {
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.=", r) {
			return r
		}
		return '_'
	}, test)
	return name[:min(len(name), 150)]
}

// writeTimelinePage writes the page into a folder, under the first name that is free, and
// gives its path.
func (s *Server) writeTimelinePage(folder, name, title string) (path string, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	f, err := createPageFile(folder, name)
	if err != nil {
		return "", err
	}
	err = errors.Join(s.Timeline().WriteHTML(f, title+", "+s.URL()), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// createPageFile makes NAME.html, or NAME-2.html and so on if that is there.
func createPageFile(folder, name string) (*os.File, error) {
	path := filepath.Join(folder, name+".html")
	for n := 2; ; n++ {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		path = filepath.Join(folder, fmt.Sprintf("%s-%d.html", name, n))
	}
}
