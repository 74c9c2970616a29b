package access

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// configRBAC returns the manifests of a project in the layout of kubebuilder.
func configRBAC(t *testing.T) fs.FS {
	t.Helper()
	return os.DirFS("testdata/config/rbac")
}

// with returns the files of a file system, some of which are replaced or added. An empty text
// removes the file.
func with(t *testing.T, base fs.FS, texts map[string]string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	if base != nil {
		require.NoError(t, fs.WalkDir(base, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := fs.ReadFile(base, name)
			files[name] = &fstest.MapFile{Data: data}
			return err
		}))
	}
	for name, text := range texts {
		files[name] = &fstest.MapFile{Data: []byte(text)}
		if text == "" {
			delete(files, name)
		}
	}
	return files
}

// file returns the manifests of one file.
func file(text string) fs.FS { return fstest.MapFS{"rbac.yaml": {Data: []byte(text)}} }

// read reads manifests.
func read(t *testing.T, fsys fs.FS) *Manifests {
	t.Helper()
	m, err := ReadManifests(fsys)
	require.NoError(t, err)
	return m
}

// check compares a report with manifests.
func check(t *testing.T, r Report, fsys fs.FS, opts CheckOptions) *Result {
	t.Helper()
	result, err := Check(r, read(t, fsys), opts)
	require.NoError(t, err)
	return result
}

// operator returns what the manager of the layout of kubebuilder does, and other accesses of it.
func operator(more ...Access) Report {
	const agent = "manager/v0.0.0 (linux/amd64) kubernetes/$Format"
	accesses := []Access{
		{Verb: "get", Path: "/apis"},
		{Verb: "list", APIGroup: "example.com", Resource: "widgets", Names: []string{""}},
		{Verb: "watch", APIGroup: "example.com", Resource: "widgets", Names: []string{""}},
		{Verb: "update", APIGroup: "example.com", Resource: "widgets", Namespace: "a", Names: []string{"w"}},
		{Verb: "update", APIGroup: "example.com", Resource: "widgets", Subresource: "finalizers", Namespace: "a", Names: []string{"w"}},
		{Verb: "patch", APIGroup: "example.com", Resource: "widgets", Subresource: "status", Namespace: "a", Names: []string{"w"}},
		{Verb: "create", APIGroup: "apps", Resource: "deployments", Namespace: "a", Names: []string{""}},
		{Verb: "get", APIGroup: "coordination.k8s.io", Resource: "leases", Namespace: "system", Names: []string{"id"}},
		{Verb: "create", APIGroup: "coordination.k8s.io", Resource: "leases", Namespace: "system", Names: []string{""}},
		{Verb: "update", APIGroup: "coordination.k8s.io", Resource: "leases", Namespace: "system", Names: []string{"id"}},
		{Verb: "create", APIGroup: "authorization.k8s.io", Resource: "selfsubjectaccessreviews", Names: []string{""}},
		{Verb: "patch", Resource: "events", Namespace: "system", Names: []string{"e"}},
	}
	accesses = append(accesses, more...)
	for i := range accesses {
		a := &accesses[i]
		a.User, a.Groups, a.UserAgent = "system:admin", []string{"system:masters"}, agent
		a.First, a.Allowed = uint64(i+1), 1
	}
	return Report{Accesses: accesses}
}

// readText returns the text of a file.
func readText(fsys fs.FS, name string) (string, error) {
	data, err := fs.ReadFile(fsys, name)
	return string(data), err
}
