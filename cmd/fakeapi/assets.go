package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// The names under which the program is another one. They are those of the files in
// KUBEBUILDER_ASSETS.
const (
	apiServerName = "kube-apiserver"
	etcdName      = "etcd"
	kubectlName   = "kubectl"
)

const assetsArguments = "[DIRECTORY] [-p FORMAT]"

// programName returns the name under which the program was started.
func programName(arg string) string {
	return strings.TrimSuffix(filepath.Base(arg), ".exe")
}

// envtestAssets makes a folder for KUBEBUILDER_ASSETS and prints it.
func envtestAssets(ctx context.Context, c *call) error {
	format := "env"
	words, err := c.parseWords(func(flags *flag.FlagSet) {
		flags.Func("p", "print the folder as `FORMAT`: env, the default, is the shell command export KUBEBUILDER_ASSETS=..., path is the path, without the end of the line", func(text string) error {
			if !slices.Contains([]string{"env", "path"}, text) {
				return errors.New("it is neither env nor path")
			}
			format = text
			return nil
		})
	})
	if err == nil && len(words) > 1 {
		err = c.usageError(fmt.Errorf("unexpected argument %q", words[1]))
	}
	if err != nil {
		return err
	}
	if !assetsSupported {
		return errors.New("the processes of a control plane do not run on this system; use fakeapi serve")
	}
	executable, err := currentExecutable()
	if err != nil {
		return err
	}
	folder, err := assetsFolder(executable, words)
	if err != nil {
		return err
	}
	if err := makeAssets(folder, executable); err != nil {
		return err
	}
	if format == "path" { // as setup-envtest, for $(...)
		_, err = io.WriteString(c.stdout, folder)
	} else {
		_, err = fmt.Fprintf(c.stdout, "export KUBEBUILDER_ASSETS='%s'\n", strings.ReplaceAll(folder, "'", `'"'"'`))
	}
	return err
}

// executable is the file of this program.
type executable struct {
	path string
	// isTemporary reports whether the file is one of go run, which is removed.
	isTemporary bool
}

func currentExecutable() (executable, error) {
	path, err := os.Executable()
	if err != nil {
		return executable{}, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return executable{}, err
	}
	elements := strings.Split(filepath.ToSlash(path), "/")
	return executable{path, slices.ContainsFunc(elements, func(e string) bool { return strings.HasPrefix(e, "go-build") })}, nil
}

// assetsFolder returns the folder in words, or one in the cache directory of the user: one for each
// path of an executable, to which its links point, or for each content of a temporary executable.
func assetsFolder(e executable, words []string) (string, error) {
	if len(words) > 0 {
		return filepath.Abs(words[0])
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the assets: %w; name one", err)
	}
	hash := sha256.New()
	if e.isTemporary {
		file, err := os.Open(e.path)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }()
		if _, err := io.Copy(hash, file); err != nil {
			return "", err
		}
	} else {
		_, _ = io.WriteString(hash, e.path)
	}
	return filepath.Join(cache, "fakeapi", "envtest-assets", fmt.Sprintf("%x", hash.Sum(nil)[:8])), nil
}

// makeAssets makes a folder with this program under the names of the assets. It replaces files that
// are this program, of any version, and no others. It may run several times at once.
func makeAssets(folder string, e executable) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	names := []string{etcdName, kubectlName, apiServerName}
	for _, name := range names {
		if err := checkReplaceable(filepath.Join(folder, name), e); err != nil {
			return err
		}
	}
	first := filepath.Join(folder, names[0])
	if e.isTemporary {
		if err := copyFile(e.path, first); err != nil {
			return err
		}
		names, e = names[1:], executable{path: first}
	}
	for _, name := range names {
		if err := link(e.path, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// checkReplaceable returns an error if a file exists that makeAssets must not replace.
func checkReplaceable(path string, e executable) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if target, err := os.Readlink(path); err == nil {
		_, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) && filepath.Base(target) == filepath.Base(e.path) {
			return nil // a link to this program at a place where it was before
		}
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s exists and is not a file of fakeapi; choose another folder", path)
	}
	if isFakeapi(path) {
		return nil
	}
	return fmt.Errorf("%s exists and is not a file of fakeapi; choose another folder", path)
}

// isFakeapi reports whether a file is an executable of this program, of any version.
func isFakeapi(path string) bool {
	own, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	info, err := buildinfo.ReadFile(path)
	return err == nil && info.Path == own.Path
}

// link makes path a link to target, or a copy of it where links are not possible. The change is
// atomic.
func link(target, path string) error {
	if current, err := os.Readlink(path); err == nil && current == target {
		return nil
	}
	err := replace(path, func(temporary string) error {
		if os.Symlink(target, temporary) == nil {
			return nil
		}
		return os.Link(target, temporary)
	})
	if err != nil {
		return copyFile(target, path)
	}
	return nil
}

// copyFile makes path a copy of an executable. The change is atomic.
func copyFile(from, path string) error {
	return replace(path, func(temporary string) (err error) {
		source, err := os.Open(from)
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }()
		file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		_, err = io.Copy(file, source)
		return err
	})
}

// replace replaces the file path with one that create creates at a temporary path.
func replace(path string, create func(temporary string) error) error {
	folder, err := os.MkdirTemp(filepath.Dir(path), ".fakeapi-")
	if err != nil {
		return err
	}
	temporary := filepath.Join(folder, filepath.Base(path))
	err = create(temporary)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	return errors.Join(err, os.RemoveAll(folder))
}
