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

// artifactsEnv is the environment variable with the folder for HTML pages.
const artifactsEnv = "FAKEAPI_ARTIFACTS"

// SaveTimeline writes the Timeline of the server and those of its replicas as HTML pages. It
// returns a text with a line for each path. The folder is the ArtifactDir of the test with go test
// -artifacts, or else that of the environment variable FAKEAPI_ARTIFACTS, with the name of the test
// as file name; a relative folder starts at the folder of the tested package. Without a folder the
// text explains how to set one. Existing files are not overwritten: the name gets a number.
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
		return "there is no timeline because of WithoutTimeline"
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

// artifactsEnabled reports whether go test -artifacts is set. Without it an ArtifactDir is removed
// when the test ends.
func artifactsEnabled() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// safeFileName returns the name of a test in characters that all file systems accept.
func safeFileName(test string) string {
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.=", r) {
			return r
		}
		return '_'
	}, test)
	return name[:min(len(name), 150)]
}

// writeTimelinePage writes the page into a folder and returns its path.
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

// createPageFile creates NAME.html, or NAME-2.html and so on if it exists.
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
