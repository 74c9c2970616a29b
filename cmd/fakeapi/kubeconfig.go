package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	fakeapi "example.com/fakeapi/fake"
)

// kubeconfigFile is the file of the kubeconfig.
type kubeconfigFile struct {
	path string
	dir  string // the temporary directory of the file; "" if the user named the file
}

// newKubeconfigFile returns the file at path, or in a new temporary directory if path is empty. It
// writes nothing.
func newKubeconfigFile(path string) (*kubeconfigFile, error) {
	if path != "" {
		return &kubeconfigFile{path: path}, nil
	}
	dir, err := os.MkdirTemp("", "fakeapi-")
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return &kubeconfigFile{path: filepath.Join(dir, "kubeconfig"), dir: dir}, nil
}

func (f *kubeconfigFile) temporary() bool { return f.dir != "" }

// close removes the temporary directory.
func (f *kubeconfigFile) close() error {
	if !f.temporary() {
		return nil
	}
	return os.RemoveAll(f.dir)
}

// write writes the file atomically, so that a process that waits for it never reads half of it.
// Only its owner may read it. Links are followed.
func (f *kubeconfigFile) write(content []byte) error {
	if err := f.mayReplace(content); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", f.path, err)
	}
	path, err := followLinks(f.path)
	if err == nil {
		err = replaceFile(path, 0o600, func(w *os.File) error {
			_, err := w.Write(content)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", f.path, unwrapPathError(err))
	}
	return nil
}

// writeCredentials writes the file of --ca-file and then the kubeconfig, for which a script may
// wait.
func (f *serverFlags) writeCredentials(s *fakeapi.Server) (*kubeconfigFile, error) {
	content, err := s.Kubeconfig()
	if err != nil {
		return nil, err
	}
	if f.caFile != "" {
		path, err := followLinks(f.caFile)
		if err == nil {
			err = replaceFile(path, 0o644, func(w *os.File) error {
				_, err := w.Write(s.CACertificate())
				return err
			})
		}
		if err != nil {
			return nil, fmt.Errorf("--ca-file %s: %w", f.caFile, unwrapPathError(err))
		}
	}
	file, err := newKubeconfigFile(f.kubeconfig)
	if err != nil {
		return nil, err
	}
	if err := file.write(content); err != nil {
		return nil, errors.Join(err, file.close())
	}
	return file, nil
}

// serverConfigName is the name of the cluster, the user and the context in the kubeconfig of a
// server.
const serverConfigName = "fakeapi"

// removeOldKubeconfig removes the kubeconfig of an earlier server, so that a script that waits for
// the file does not read it. An empty file stays. Any other file is an error.
func removeOldKubeconfig(path string) error {
	template := clientcmdapi.NewConfig()
	template.Clusters[serverConfigName] = clientcmdapi.NewCluster()
	template.AuthInfos[serverConfigName] = clientcmdapi.NewAuthInfo()
	template.Contexts[serverConfigName] = clientcmdapi.NewContext()
	content, err := clientcmd.Write(*template)
	if err != nil {
		return err
	}
	if err := (&kubeconfigFile{path: path}).mayReplace(content); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil // if it cannot be written, writing it returns the error
	}
	if path, err = followLinks(path); err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, unwrapPathError(err))
	}
	return nil
}

// mayReplace returns an error if the file has clusters, users or contexts that content lacks, as
// ~/.kube/config usually has.
func (f *kubeconfigFile) mayReplace(content []byte) error {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unwrapPathError(err)
	case !info.Mode().IsRegular():
		return errors.New("it exists and is not a regular file")
	}
	old, err := os.ReadFile(f.path)
	if err != nil {
		return unwrapPathError(err)
	}
	if !containsConfig(content, old) {
		return errors.New("it exists and was not written by fakeapi; name another file")
	}
	return nil
}

// containsConfig reports whether content has all clusters, users and contexts of an old kubeconfig,
// or the old one is empty.
func containsConfig(content, old []byte) bool {
	if len(bytes.TrimSpace(old)) == 0 {
		return true
	}
	is, err := clientcmd.Load(content)
	if err != nil {
		return false
	}
	was, err := clientcmd.Load(old)
	// Any JSON object can be loaded as a kubeconfig.
	if err != nil || len(was.Clusters) == 0 {
		return false
	}
	return isSubset(was.Clusters, is.Clusters) && isSubset(was.AuthInfos, is.AuthInfos) && isSubset(was.Contexts, is.Contexts)
}

// isSubset reports whether all keys of a are in b.
func isSubset[V any](a, b map[string]V) bool {
	for key := range a {
		if _, ok := b[key]; !ok {
			return false
		}
	}
	return true
}

// unwrapPathError removes the operation and the path from an error of package os, because messages
// have the path that the user named.
func unwrapPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
