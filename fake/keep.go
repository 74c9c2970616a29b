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

// artifactsFolder is the environment variable that names a folder for pages.
const artifactsFolder = "FAKEAPI_ARTIFACTS"

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
	folder, name := os.Getenv(artifactsFolder), fileName(test)
	if kept, ok := t.(interface{ ArtifactDir() string }); ok && artifactsKept() {
		folder, name = kept.ArtifactDir(), "timeline"
	}
	switch {
	case len(s.doors()) == 0:
		return "there is no timeline, WithoutTimeline"
	case folder == "":
		return "for the timeline as a page: go test -artifacts, or " + artifactsFolder + "=FOLDER"
	}
	var lines []string
	for _, door := range s.doors() {
		path, err := door.writePage(folder, name, test)
		if err != nil {
			return fmt.Sprintf("the timeline could not be written: %v", err)
		}
		lines = append(lines, fmt.Sprintf("the timeline of %s as a page: %s", door.URL(), path))
	}
	return strings.Join(lines, "\n")
}

// artifactsKept reports whether go test -artifacts is on: without it an ArtifactDir is
// removed when its test ends.
func artifactsKept() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// fileName makes the name of a test one that every file system takes.
func fileName(test string) string {
	safe := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.=", r) {
			return r
		}
		return '_'
	}, test)
	return safe[:min(len(safe), 150)]
}

// writePage writes the page into a folder, under the first name that is free, and
// gives its path.
func (s *Server) writePage(folder, name, title string) (path string, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	f, err := newFile(folder, name)
	if err != nil {
		return "", err
	}
	err = errors.Join(s.Timeline().WriteHTML(f, title+", "+s.URL()), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// newFile makes NAME.html, or NAME-2.html and so on if that is there.
func newFile(folder, name string) (*os.File, error) {
	path := filepath.Join(folder, name+".html")
	for n := 2; ; n++ {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		path = filepath.Join(folder, fmt.Sprintf("%s-%d.html", name, n))
	}
}
