package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// root is the top of the tree, seen from here.
const root = "../../.."

// source is one Go file of the tree, nested modules included.
type source struct {
	path   string // relative to the root, with slashes
	test   bool
	lines  int
	syntax *ast.File
}

func (s source) dir() string { return path.Dir(s.path) }

// tree is everything that the rules look at. It is read once.
type tree struct {
	files   *token.FileSet
	sources []source
	texts   map[string][]byte // every file that is text, by path
}

var readTree = sync.OnceValues(func() (*tree, error) {
	all := &tree{files: token.NewFileSet(), texts: map[string][]byte{}}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == ".git" || entry.Name() == "artifacts" {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || entry.Name() == ".git" { // a file in a worktree
			return nil
		}
		return all.add(name)
	})
	return all, err
})

func (all *tree) add(name string) error {
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	relative = filepath.ToSlash(relative)
	content, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since it was listed
		return nil
	case err != nil:
		return err
	case bytes.IndexByte(content[:min(len(content), 1024)], 0) >= 0: // a binary
		return nil
	}
	all.texts[relative] = content
	if path.Ext(name) != ".go" {
		return nil
	}
	one, err := parse(all.files, relative, content)
	all.sources = append(all.sources, one)
	return err
}

// parse makes a source of a file's content.
func parse(files *token.FileSet, name string, content []byte) (source, error) {
	syntax, err := parser.ParseFile(files, name, content, parser.ParseComments|parser.SkipObjectResolution)
	return source{
		path:   name,
		test:   strings.HasSuffix(name, "_test.go"),
		lines:  bytes.Count(content, []byte("\n")),
		syntax: syntax,
	}, err
}

// theTree gives the tree to a test.
func theTree(t *testing.T) *tree {
	t.Helper()
	all, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string // the file with its types
	Standard   bool
	GoFiles    []string
	Imports    []string // of the files that are no tests
	Deps       []string // the same, and what those import in turn
	Module     *struct {
		Path string
		Main bool
	}
}

// ours reports whether the package belongs to the root module.
func (p listed) ours() bool { return p.Module != nil && p.Module.Main }

// listPackages asks go list for the packages of the root module and all that
// they need, by import path. Packages that do not compile are listed too: saying
// so is the compiler's part.
var listPackages = sync.OnceValues(func() (map[string]listed, error) {
	command := exec.Command("go", "list", "-e", "-deps", "-export", "-json=ImportPath,Dir,Export,Standard,GoFiles,Imports,Deps,Module", "./...")
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages[p.ImportPath] = p
	}
})

func thePackages(t *testing.T) map[string]listed {
	t.Helper()
	packages, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// report fails the test with a line for each complaint.
func report(t *testing.T, complaints []string) {
	t.Helper()
	for _, c := range complaints {
		t.Error(c)
	}
}

// module is the import path of the root module.
const module = "example.com/fakeapi"

// below reports whether an import path is base or something in it.
func below(importPath, base string) bool {
	return importPath == base || strings.HasPrefix(importPath, base+"/")
}
